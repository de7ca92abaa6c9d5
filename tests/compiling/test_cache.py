"""What is compiled and what is cached, for whom, and that nobody else notices.

The cache is tested in processes of their own, on a copy of the package with its own cache.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rankforce as rf
from rankforce.compiling import cache as kernel_cache
from rankforce.compiling.jit import KERNELS
from rankforce.kernels.ranking.values import query_values

pytestmark = pytest.mark.xdist_group("cache")  # the copy and its cache are made once

PACKAGE = Path(rf.__file__).parent

VALUE = """
import json, sys
import numpy as np
import rankforce as rf
from rankforce.kernels.ranking.values import query_values

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
    (made.package / "__pycache__").write_text("")  # a file where the directory would have to be
    nowhere = str(tmp_path / "no-directory" / "cache")
    code = (
        f"import tempfile; tempfile.tempdir = {nowhere!r}\n"
        + VALUE
        + """
value(rf.MRR(), [3, 0])
print(json.dumps([value(rf.WTA(), [3, 0]), query_values.own.stats.cache_path]))
"""
    )
    found, said = made.run(code, NUMBA_CACHE_DIR=nowhere, XDG_CACHE_HOME=nowhere, HOME=nowhere)
    assert found == [1.0, None]
    assert said.count("compiling kernels, in memory: none of the folders for them can be written") == 1
    assert nowhere in said
    assert len(said.splitlines()) == 1


@pytest.mark.compiled_only
def test_a_disk_that_is_full_is_no_error(tmp_path):
    made = Installation(tmp_path)
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        + VALUE
        + """
value(rf.MRR(), [3, 0])
report(value=value(rf.WTA(), [3, 0]))
"""
    )
    found, said = made.run(code)
    assert found == {"value": 1.0, "misses": 2, "hits": 0}
    assert said.count("compiled kernels cannot be kept in") == 1
    assert "File too large; the next process compiles again" in said
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


class Planted:
    """What runs as soon as it is unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


@pytest.mark.compiled_only
@pytest.mark.parametrize("mode", [0o700, 0o777])
def test_what_another_user_planted_is_not_run(tmp_path, mode):
    """In a shared folder for caches: in a subfolder that belongs to another user, or that is open to all."""
    made = Installation(tmp_path)
    found, _ = made.run(BUILT_IN)
    (file,) = (tmp_path / "cache").rglob("values.query_values-*.nbc")
    content = pickle.dumps(Planted(tmp_path / "trace"))
    file.write_bytes(kernel_cache._digest(file.name, content) + content)
    folder = tmp_path / "cache" / f"rankforce-{os.geteuid()}"
    folder.chmod(mode)
    if mode == 0o700:
        if os.geteuid() != 0:
            pytest.skip("only root gives files away")
        os.chown(folder, 12345, 12345)
    again, said = made.run(BUILT_IN)
    assert again == found
    assert not (tmp_path / "trace").exists()
    assert said.count(str(folder)) >= 1
    assert "compiled kernels are not kept there" in said


@pytest.mark.compiled_only
def test_numba_is_loaded_with_the_first_kernel_and_not_before(installation):
    code = """
import json, sys
import rankforce as rf
rf.NDCG(10); rf.measure("ERR@10(max_grade=5)"); rf.measure("NDCG@10:clicks").kernel_tuple()
import rankforce.kernels.ranking.values, rankforce.measures.judged, rankforce.threads
print(json.dumps([name for name in ("numba", "llvmlite", "sklearn", "scipy", "pandas") if name in sys.modules]))
"""
    assert installation.run(code)[0] == []


def test_without_the_compiler_kernels_are_plain_python(installation):
    code = VALUE + "print(json.dumps([value(rf.WTA(), [3, 0]), 'numba' in sys.modules]))"
    assert installation.run(code, NUMBA_DISABLE_JIT="1")[0] == [1.0, False]


@pytest.mark.compiled_only
def test_two_signatures_never_share_a_file():
    """Whatever the order in which processes write: the name of a file follows from the signature alone."""
    cache, codegen = query_values.own._cache, query_values.own.targetctx.codegen()
    names = {cache._name(("signature", number), codegen) for number in range(100)}
    assert len(names) == 100
    assert cache._name(("signature", 1), codegen) in names
    assert all(name.endswith(".nbc") and kernel_cache.package_fingerprint()[:12] in name for name in names)


def test_compiled_code_stands_where_the_fingerprint_sees_it():
    for one in KERNELS:
        place = one.py_func.__module__.removeprefix("rankforce.").partition(".")[0]
        assert place in kernel_cache.COMPILED_SOURCES or one.py_func.__module__.startswith("test")
