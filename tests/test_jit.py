"""The kernel seam: what is compiled, what is cached and for whom, and that nobody else notices.

The cache is tested in processes of their own, on a copy of the package with its own cache.
"""

from __future__ import annotations

import collections
import gc
import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankforce as rf
from rankforce import jit
from rankforce.kernels.values import query_values

pytestmark = pytest.mark.xdist_group("jit")  # the copy and its cache are made once

PACKAGE = Path(rf.__file__).parent

VALUE = """
import json, sys
import numpy as np
import rankforce as rf
from rankforce.kernels.values import query_values

def value(measure, labels):
    worth = measure.worth(np.array(labels, dtype=float))
    out = np.empty(1)
    order = np.arange(len(worth), dtype=np.int32)
    query_values(measure.kernel_tuple(), worth, order, np.ones(1), np.array([0, len(worth)]), 0, 1, out)
    return out[0]

def report(**found):
    stats = query_values.own.stats
    found |= {"misses": sum(stats.cache_misses.values()), "hits": sum(stats.cache_hits.values())}
    print(json.dumps(found))
"""

BUILT_IN = VALUE + "report(value=value(rf.WTA(), [3, 0]))"
USERS = VALUE + "import mine; report(value=value(mine.Mine(), [3, 0]))"

USERS_FILE = """
import rankforce as rf

class Mine(rf.Measure):
    def normaliser(self, ideal):
        return 1.0

    def value(self, ranked, normaliser):
        return FACTOR * ranked[0]
"""


class Installation:
    """A copy of the package, its cache, and processes that use both."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.package = home / "site" / "rankforce"
        shutil.copytree(PACKAGE, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "RANKFORCE_"))
        }
        self.environment |= {"NUMBA_CACHE_DIR": str(home / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, code, *further_paths, **environment):
        """(the object that the code printed as JSON, what it wrote to standard error)."""
        path = os.pathsep.join(map(str, [self.home / "site", *further_paths]))
        finished = subprocess.run(
            [sys.executable, "-c", code],
            env=self.environment | {"PYTHONPATH": path} | environment,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=self.home,
        )
        assert finished.returncode == 0, finished.stderr
        return json.loads(finished.stdout.splitlines()[-1]), finished.stderr


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    """A copy in which one process has already computed WTA."""
    made = Installation(tmp_path_factory.mktemp("installation"))
    made.first = made.run(BUILT_IN)
    return made


@pytest.mark.compiled_only
def test_the_first_process_compiles_and_says_so(installation):
    found, said = installation.first
    assert found == {"value": 1.0, "misses": 1, "hits": 0}
    assert said.count("compiling kernels") == 1


@pytest.mark.compiled_only
def test_a_second_process_compiles_nothing(installation):
    assert installation.run(BUILT_IN) == ({"value": 1.0, "misses": 0, "hits": 1}, "")


@pytest.mark.compiled_only
def test_users_measures_stay_out_of_the_cache_and_their_edits_are_seen(installation, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(USERS_FILE.replace("FACTOR", "1.0"))
    assert installation.run(USERS, tmp_path)[0] == {"value": 3.0, "misses": 0, "hits": 0}
    file.write_text(USERS_FILE.replace("FACTOR", "2.0"))
    assert installation.run(USERS, tmp_path)[0] == {"value": 6.0, "misses": 0, "hits": 0}
    # a process that cannot import the user's class finds the cache as it was
    assert installation.run(BUILT_IN)[0] == {"value": 1.0, "misses": 0, "hits": 1}


@pytest.mark.compiled_only
def test_an_edited_measure_of_ours_is_compiled_again(installation):
    source = installation.package / "measures" / "winner_takes_all.py"
    text = source.read_text()
    assert "return 1.0 if r == 0 else 0.0" in text
    source.write_text(text.replace("return 1.0 if r == 0 else 0.0", "return 7.0 if r == 0 else 0.0"))
    try:
        assert installation.run(BUILT_IN)[0] == {"value": 7.0, "misses": 1, "hits": 0}
        assert installation.run(BUILT_IN)[0] == {"value": 7.0, "misses": 0, "hits": 1}
    finally:
        source.write_text(text)


@pytest.mark.compiled_only
def test_a_measure_of_ours_that_is_gone_leaves_no_trace(installation):
    """As after an upgrade that renames a file: what was cached for it must not disturb the other measures."""
    source = installation.package / "measures" / "gone.py"
    source.write_text(USERS_FILE.replace("FACTOR", "5.0").replace("Mine", "Gone"))
    code = VALUE + "report(value=value(rf.Gone(), [3, 0]))"
    assert installation.run(code)[0] == {"value": 15.0, "misses": 1, "hits": 0}
    source.unlink()
    assert installation.run(BUILT_IN)[0] == {"value": 1.0, "misses": 1, "hits": 0}
    # ... and files of other versions of the sources are cleared away
    files = list((installation.home / "cache").rglob("values.query_values-*.nbc"))
    assert len(files) == 1


@pytest.mark.compiled_only
def test_works_where_nothing_can_be_written(tmp_path):
    made = Installation(tmp_path)
    (tmp_path / "no-directory").write_text("")
    (made.package / "kernels" / "__pycache__").write_text("")  # a file where the directory would have to be
    nowhere = str(tmp_path / "no-directory" / "cache")
    code = VALUE + "print(json.dumps([value(rf.WTA(), [3, 0]), query_values.own.stats.cache_path]))"
    found, _ = made.run(code, NUMBA_CACHE_DIR=nowhere, XDG_CACHE_HOME=nowhere, HOME=nowhere)
    assert found == [1.0, None]


@pytest.mark.compiled_only
def test_numba_is_loaded_with_the_first_kernel_and_not_before(installation):
    code = """
import json, sys
import rankforce as rf
rf.NDCG(10); rf.measure("ERR@10(max_grade=5)"); rf.measure("NDCG@10:clicks").kernel_tuple()
import rankforce.kernels.values, rankforce.measures.judged, rankforce.threads
print(json.dumps([name for name in ("numba", "llvmlite", "sklearn", "scipy", "pandas") if name in sys.modules]))
"""
    assert installation.run(code)[0] == []


def test_without_the_compiler_kernels_are_plain_python(installation):
    code = VALUE + "print(json.dumps([value(rf.WTA(), [3, 0]), 'numba' in sys.modules]))"
    assert installation.run(code, NUMBA_DISABLE_JIT="1")[0] == [1.0, False]


class Pair(collections.namedtuple("Pair", ["cutoff", "divisor"])):
    """Somebody else's named tuple, with the fields of one of ours."""

    __slots__ = ()

    def value(self):
        return 0


@pytest.mark.compiled_only
def test_other_peoples_named_tuples_are_untouched():
    numba = jit.compiler()
    query_values(
        rf.MAP().kernel_tuple(), np.ones(1), np.zeros(1, np.int32), np.ones(1), np.array([0, 1]), 0, 1, np.ones(1)
    )
    theirs, ours = Pair(3, 4), rf.MAP(3, divisor="cutoff").kernel_tuple()
    assert isinstance(numba.typeof(ours), jit.KernelType)
    assert type(numba.typeof(theirs)) is numba.types.NamedUniTuple
    assert numba.typeof(theirs) != numba.typeof(ours)

    @numba.njit
    def add(pair):
        return pair.cutoff + pair[1]

    assert add(theirs) == 7
    assert add.py_func(theirs) == 7

    @numba.njit
    def call(pair):
        return pair.value()

    with pytest.raises(numba.TypingError):
        call(theirs)


@pytest.mark.compiled_only
def test_classes_with_equal_fields_do_not_share_compiled_code():
    """Numba's dispatcher tells named tuples apart by name and fields alone."""
    assert rf.ERR.Kernel._fields == rf.Judged.Kernel._fields == rf.Recall.Kernel._fields
    worth = np.array([0.0, 1.0, 1.0, 0.0])
    found = []
    for measure in (rf.Recall(2), rf.Success(2), rf.Judged(2), rf.Recall(3)):
        out = np.empty(1)
        order = np.arange(4, dtype=np.int32)
        query_values(measure.kernel_tuple(), worth, order, np.full(1, 4.0), np.array([0, 4]), 0, 1, out)
        found.append(out[0])
    assert found == [1 / 4, 1.0, 1 / 2, 2 / 4]


def test_a_subclass_that_changes_nothing_for_kernels_shares_them():
    class OtherWorth(rf.NDCG):
        scale: float = 2.0

        def worth(self, labels):
            return super().worth(labels) * 2

    class OtherValue(rf.NDCG):
        def value(self, ranked, normaliser):
            return 0.0

    class MoreChoice(rf.NDCG):
        mode: str = jit.choice("a", "b")

    class PythonField(rf.NDCG):
        note: str = jit.python_only("")

    assert rf.CNDCG.Kernel is rf.DCG.Kernel is rf.NDCG.Kernel
    assert PythonField.Kernel is rf.NDCG.Kernel
    assert not rf.NDCG.Kernel.FOREIGN
    for changed in (OtherWorth, OtherValue, MoreChoice):  # a number more, a method, a choice more
        assert changed.Kernel is not rf.NDCG.Kernel
        assert changed.Kernel.FOREIGN


def test_kernels_see_numbers():
    assert rf.NDCG().kernel_tuple() == (jit.NO_CUTOFF, 0, 1)
    assert rf.NDCG(10, discount="reciprocal").kernel_tuple() == (10, 2, 1)
    assert rf.DCG(10, gain="linear").kernel_tuple() == (10, 0, 0)
    assert rf.RBP(persistence=0.5).kernel_tuple() == (jit.NO_CUTOFF, 0.5)


def test_a_class_without_numeric_fields_still_makes_a_tuple():
    assert rf.PairwiseAccuracy().kernel_tuple() == (0,)
    assert rf.WTA(relevant=3).kernel_tuple() == (0,)


def test_one_number_has_one_type_however_it_was_written():
    types = {tuple(map(type, rf.NDCG(cutoff).kernel_tuple())) for cutoff in (10, 10.0, np.int32(10), True, None)}
    assert types == {(int, int, int)}
    assert type(rf.RBP(persistence=np.float32(0.5)).kernel_tuple().persistence) is float


def test_kernel_values_print_their_fields():
    class Plain(jit.KernelValue):
        sigma: float = 1.0
        name: str = "x"

    assert repr(Plain(2)) == "Plain(sigma=2.0, name='x')"
    assert Plain(1) == Plain(1.0) != Plain(2)


@pytest.mark.parametrize("bad", ["1", None, 1.5, [1]])
def test_fields_must_be_what_they_are_declared_to_be(bad):
    class Whole(jit.KernelValue):
        size: int = 1

    with pytest.raises(rf.SettingsError, match="size must be a whole number, not"):
        Whole(bad)


@pytest.mark.compiled_only
def test_two_signatures_never_share_a_file():
    """Whatever the order in which processes write: the name of a file follows from the signature alone."""
    files = query_values.own._cache._cache_file
    names = {files._name(("signature", number)) for number in range(100)}
    assert len(names) == 100
    assert files._name(("signature", 1)) in names
    assert all(name.endswith(".nbc") and jit.package_fingerprint()[:12] in name for name in names)


def test_compiled_code_stands_where_the_fingerprint_sees_it():
    for one in jit.KERNELS:
        place = one.py_func.__module__.removeprefix("rankforce.").partition(".")[0]
        assert place in jit.COMPILED_SOURCES or one.py_func.__module__.startswith("test")


def test_methods_of_one_name_take_equally_many_arguments():
    """Numba knows one list of parameters per name for all classes of ours."""
    seen: dict[str, int] = {}
    classes = [jit.KernelTuple]
    for cls in classes:
        classes += cls.__subclasses__()
        if cls is jit.KernelTuple or cls.FOREIGN:
            continue
        for name, method in vars(cls).items():
            if inspect.isfunction(method):
                count = len(inspect.signature(method).parameters)
                assert seen.setdefault(name, count) == count, (cls, name)
    assert seen["swap_delta"] == 3


@pytest.mark.compiled_only
def test_methods_of_one_name_in_users_classes_may_differ():
    values = []
    for takes_two in (False, True):

        class Own(rf.Measure):
            if takes_two:

                def share(self, worth, size):
                    return worth / size

                def value(self, ranked, normaliser):
                    return self.share(ranked[0], len(ranked))

            else:

                def share(self, worth):
                    return worth

                def value(self, ranked, normaliser):
                    return self.share(ranked[0])

            def normaliser(self, ideal):
                return 1.0

        out = np.empty(1)
        order = np.arange(2, dtype=np.int32)
        query_values(Own().kernel_tuple(), np.array([3.0, 0.0]), order, np.ones(1), np.array([0, 2]), 0, 1, out)
        values.append(out[0])
    assert values == [3.0, 1.5]


@pytest.mark.compiled_only
def test_garbage_is_collected_before_and_after_compiling_but_not_meanwhile():
    numba = jit.compiler()
    from numba.core import event

    collecting = []

    class Note(event.Listener):
        def on_start(self, started):
            collecting.append(gc.isenabled())

        def on_end(self, ended):
            collecting.append(gc.isenabled())

    @jit.kernel
    def one(x):
        return max(x, 1)

    @jit.kernel
    def broken(x):
        return x.nothing_of_the_kind

    note = Note()
    event.register("numba:run_pass", note)
    try:
        assert one.foreign(2) == 2
        assert gc.isenabled()
        with pytest.raises(numba.TypingError):
            broken.foreign(1)
        assert gc.isenabled()
        gc.disable()
        one.foreign(1.5)
        assert not gc.isenabled()  # as whoever turned it off wants it
    finally:
        gc.enable()
        event.unregister("numba:run_pass", note)
    assert collecting
    assert not any(collecting)
