"""What is the same code and what is not."""

from __future__ import annotations

import functools
import importlib
import math
import pickle
import sys
import textwrap
import threading

import numpy as np
import pytest
from tests.user_code.code_pairs import check_pairs

import rankforce as rf
from rankforce.compiling import jit
from rankforce.user_code.code_identity import CodeIdentity, NoIdentityError, differing


def identity(value):
    return CodeIdentity.of(value, "target")


def of_source(source, name="target"):
    """The identity of what a module of this source calls ``target``."""
    module = sys.modules["user"] = type(sys)("user")
    try:
        exec(compile(textwrap.dedent(source), "<user>", "exec"), module.__dict__)
        return identity(getattr(module, name))
    finally:
        del sys.modules["user"]


ORIGINAL = """
import abc, dataclasses, enum, functools, math
import numpy as np

BASE = 2.0
OTHER = 1
TABLE = np.array([1.0, 2.0])
NAMES = {"one": [1, 2], "two": {3, 4}}

def helper(x):
    return x * 3

class Colour(enum.Enum):
    RED = 1

@dataclasses.dataclass
class Options:
    power: float = 2.0
    hidden: int = dataclasses.field(default=1, metadata={"meant": "x"})

class Parent(abc.ABC):
    def rate(self):
        return 0.5
    @abc.abstractmethod
    def pull(self): ...

class Own(Parent):
    weight = 7
    def __init__(self):
        self.state = [1]
    def pull(self):
        return super().rate()
    @property
    def size(self):
        return 11
    @staticmethod
    def still():
        return 13
    @classmethod
    def known(cls):
        return 17
    @functools.cached_property
    def kept(self):
        return 19

class Slotted:
    __slots__ = ("state",)
    def __init__(self):
        self.state = 37

SLOTTED = Slotted()

def made(scale):
    '''What it does.'''
    def target(x, power=2, *, factor=(1, 2)):
        def nested(y):
            return y - 23
        try:
            first = helper(x)
            second = BASE ** power
        except ValueError:
            return Colour.RED
        rows = [TABLE[i] for i in range(2)]
        objects = Own(), Options(), SLOTTED
        return first, second, rows, nested, NAMES, scale, factor, objects, math.log1p(x), sorted({29, 31})
    return target

target = made(5)
"""

MATTERING = {
    "a constant": ("y - 23", "y - 24"),
    "the type of a constant": ("y - 23", "y - 23.0"),
    "an operator": ("BASE ** power", "BASE * power"),
    "a global": ("BASE = 2.0", "BASE = 2.5"),
    "a global array": ("[1.0, 2.0])", "[1.0, 2.5])"),
    "the dtype of an array": ("[1.0, 2.0])", "[1.0, 2.0], dtype=np.float32)"),
    "a container": ('"one": [1, 2]', '"one": [1, 3]'),
    "a set": ("{3, 4}", "{3, 5}"),
    "a constant set": ("{29, 31}", "{29, 37}"),
    "a closure": ("made(5)", "made(6)"),
    "a default": ("power=2,", "power=3,"),
    "a keyword default": ("factor=(1, 2)", "factor=(1, 3)"),
    "a parameter's name": ("def target(x, power=2, *", "def target(z, power=2, *"),
    "a helper": ("return x * 3", "return x * 4"),
    "a method": ("return super().rate()", "return super().rate() + 1"),
    "a method of a base": ("return 0.5", "return 0.25"),
    "a member": ("weight = 7", "weight = 8"),
    "a property": ("return 11", "return 12"),
    "a static method": ("return 13", "return 14"),
    "a class method": ("return 17", "return 18"),
    "a cached property": ("return 19", "return 20"),
    "the state of an object": ("self.state = [1]", "self.state = [2]"),
    "a slot of an object": ("self.state = 37", "self.state = 38"),
    "a member of an enumeration": ("RED = 1", "RED = 2"),
    "a field's default": ("power: float = 2.0", "power: float = 2.5"),
    "a field's metadata": ('"meant": "x"', '"meant": "y"'),
    "a base": ("class Own(Parent)", "class Own(Parent, dict)"),
    "a library's function": ("math.log1p(x)", "math.log2(x)"),
    "what is caught": ("ValueError", "TypeError"),
    "how much is tried": (
        "            second = BASE ** power\n        except ValueError:\n            return Colour.RED",
        "        except ValueError:\n            return Colour.RED\n        else:\n            second = BASE ** power",
    ),
    "a comprehension": ("range(2)", "range(1, 2)"),
}

IDLE = {
    "a comment": ("first = helper(x)", "first = helper(x)  # the first"),
    "a docstring": ("'''What it does.'''", "'''What it really does.'''"),
    "a new docstring": ("def helper(x):\n", "def helper(x):\n    '''Thrice.'''\n"),
    "a docstring of a class": ("    weight = 7", "    '''Mine.'''\n    weight = 7"),
    "empty lines": ("        rows =", "\n\n\n        rows ="),
    "moved lines": ("BASE = 2.0", "\n" * 300 + "BASE = 2.0"),
    "a comment that moves lines": ("rows = [TABLE", "# rows\n        # of them\n        rows = [TABLE"),
    "spaces": ("BASE ** power", "BASE    **   (power)"),
    "another global": ("OTHER = 1", "OTHER = 2"),
    "a new global": ("OTHER = 1", "OTHER = 1\nANOTHER = 3"),
    "a local variable": ("[TABLE[i] for i in range(2)]", "[TABLE[k] for k in range(2)]"),
    "an annotation": ("def helper(x):", "def helper(x: float) -> float:"),
    "members in another order": (
        "    weight = 7\n    def __init__(self):\n        self.state = [1]\n",
        "    def __init__(self):\n        self.state = [1]\n    weight = 7\n",
    ),
    "an unused function": ("def helper(x):", "def unused(x):\n    return x\n\ndef helper(x):"),
    "how a number is written": ("BASE = 2.0", "BASE = 2e0"),
}


@pytest.mark.parametrize("edit", MATTERING)
def test_edits_that_matter_are_noticed(edit):
    old, new = MATTERING[edit]
    assert ORIGINAL.count(old) == 1
    assert of_source(ORIGINAL) != of_source(ORIGINAL.replace(old, new))


@pytest.mark.parametrize("edit", IDLE)
def test_edits_that_do_not_matter_are_not(edit):
    old, new = IDLE[edit]
    assert ORIGINAL.count(old) == 1
    assert of_source(ORIGINAL) == of_source(ORIGINAL.replace(old, new))


def test_what_changed_is_named():
    then = of_source(ORIGINAL).parts
    assert differing(then, of_source(ORIGINAL.replace("BASE = 2.0", "BASE = 3.0")).parts) == ["BASE of target"]
    assert differing(then, of_source(ORIGINAL.replace("x * 3", "x * 4")).parts) == ["helper of target"]
    assert differing(then, of_source(ORIGINAL.replace("return 0.5", "return 0.4")).parts) == ["rate of Parent"]
    assert differing(then, of_source(ORIGINAL.replace("power=2,", "power=3,")).parts) == ["the default power of target"]
    assert differing({"a": "1"}, {"b": "1"}) == ["a", "b"]


def test_random_edits():
    assert check_pairs(12, seed=100) == 12


def test_the_file_and_its_compiled_form_do_not_matter(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    found = []
    for folder, name in (("a", "own_one"), ("b/c", "own_two")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"{name}.py").write_text(ORIGINAL)
        monkeypatch.syspath_prepend(tmp_path / folder)
        for _ in range(2):  # from the source, and from what Python has kept of it
            found.append(identity(importlib.import_module(name).target))
            sys.modules.pop(name)
    assert list(tmp_path.rglob("*.pyc"))
    assert found[1:] == found[:-1] == [of_source(ORIGINAL)] * 3


def test_of_a_module_of_the_user_only_what_is_used(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    sources = {
        "chain": "import helping\ndef target(x): return helping.used(x) + helping.SCALE",
        "name": "from helping import used, SCALE\ndef target(x): return used(x) + SCALE",
        "inside": "def target(x):\n    from helping import used, SCALE\n    return used(x) + SCALE",
        "closure": "def made():\n import helping\n return lambda x: helping.used(x) + helping.SCALE\ntarget = made()",
        "whole": "import helping\ndef target(x): return getattr(helping, x)",
        "whole inside": "def target(x):\n    import helping\n    return helping.used(x)",
    }

    def found(text):
        sys.modules.pop("helping", None)
        module = type(sys)("helping")
        exec(text, module.__dict__)
        monkeypatch.setitem(sys.modules, "helping", module)
        return {name: of_source(source) for name, source in sources.items()}

    text = "import math\nSCALE = 1\nUNUSED = 2\ndef used(x): return math.exp(x)\n"
    then = found(text)
    assert found(text) == then
    for edited, noticed in (("SCALE = 3", set(sources)), ("UNUSED = 3", {"whole", "whole inside"})):
        now = found(text.replace(edited[:-1] + text[text.index(edited[:-1]) + len(edited) - 1], edited))
        assert {name for name in sources if now[name] != then[name]} == noticed


def test_cycles_end():
    endless = []
    endless.append(endless)
    source = """
    def even(n): return n == 0 or odd(n - 1)
    def odd(n): return n != 0 and even(n - {step})
    class Node:
        def __init__(self): self.me = self
        def other(self): return Node
    ring = [1]
    ring.append({{"ring": ring}})
    def target(n): return even(n), Node, NODE, ring, target
    NODE = Node()
    """
    assert of_source(source.format(step=1)) == of_source(source.format(step=1))
    assert of_source(source.format(step=1)) != of_source(source.format(step=2))
    assert identity(endless) != identity([])


def doubled(x):
    return 2 * x


def test_functions_in_other_forms():
    plain = identity(doubled)
    assert identity(functools.partial(doubled)) != plain
    assert identity(functools.partial(doubled, 1)) == identity(functools.partial(doubled, 1))
    assert identity(functools.partial(doubled, 1)) != identity(functools.partial(doubled, 2))
    assert identity(functools.lru_cache(doubled)).parts["doubled of target"] == plain.parts["target"]
    assert identity(np.vectorize(doubled)) != identity(np.vectorize(lambda x: 3 * x))
    assert identity(np.log) == identity(np.log) != identity(np.log2)
    assert identity(np.add.reduce) != identity(np.add.accumulate)
    assert identity(np.where) != identity(np.linalg.norm)
    assert identity(math.log) != identity(math.exp)
    assert identity(len) != identity(sum)
    assert identity([1, 2].index) != identity([1, 3].index)
    assert identity(str.upper) != identity(str.lower)


def test_values():
    different = [
        None, True, 1, 1.0, 1j, "1", b"1", (1,), [1], {1}, frozenset({1}), {1: 1}, range(1), slice(1), ..., 0.0, -0.0,
        float("nan"), np.float32(1), np.float64(1), np.int64(1), np.array(1), np.array([1]), np.array([[1]]),
        np.array([1], dtype=np.int8), np.array([1], dtype=object), np.dtype("f4"), np.dtype("f8"),
        np.datetime64("2020"),
    ]  # fmt: skip
    found = [identity(value) for value in different]
    assert len({one.content for one in found}) == len(found)
    assert found == [identity(pickle.loads(pickle.dumps(value))) for value in different]
    assert identity(np.arange(6).reshape(2, 3)[:, ::2]) == identity(np.array([[0, 2], [3, 5]]))
    words = [str(n) for n in range(50)]
    backwards = words[::-1]
    assert identity(set(words)) == identity(set(backwards))


def test_objects_count_by_their_content():
    class Own:
        def __init__(self, **attributes):
            self.__dict__.update(attributes)

    assert identity(Own(a=1, b=2)) == identity(Own(b=2, a=1)) != identity(Own(a=1, b=3))
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    assert identity(first) == identity(second)
    second.random()
    assert identity(first) != identity(second)
    data = rf.make_artificial(queries=3, documents=4, features=2, seed=1)
    other = rf.make_artificial(queries=3, documents=4, features=2, seed=2)
    assert identity(data) == identity(pickle.loads(pickle.dumps(data))) != identity(other)


def test_what_other_libraries_make():
    special = pytest.importorskip("scipy.special")
    assert identity(special.expit) == identity(special.expit) != identity(special.ndtr)
    frames = pytest.importorskip("pandas")
    assert identity(frames.Series([1, 2])) == identity(frames.Series([1, 2])) != identity(frames.Series([1, 3]))
    torch = pytest.importorskip("torch")
    assert identity(torch.arange(3)) == identity(torch.arange(3)) != identity(torch.arange(3.0))


def test_measures_of_the_package_hold_nothing_of_the_user():
    assert identity(rf.NDCG(10)).parts == {}
    assert identity(rf.NDCG(10)) != identity(rf.NDCG(5))
    assert identity(rf.Graded(["NDCG", "MAP"])).parts == {}
    assert identity(rf.LambdaMART).parts == {}


def test_copying_a_class_leaves_no_trace():
    class Own:
        pass

    before = identity(Own)
    pickle.loads(pickle.dumps(Own.__name__))
    Own().__reduce_ex__(4)
    assert identity(Own) == before


@pytest.mark.skipif(jit.PLAIN, reason="Numba is off")
def test_compiled_functions_count_by_what_was_compiled():
    numba = jit.compiler()
    source = """
    import numba
    @numba.njit
    def helper(x): return x + {number}
    @numba.njit(fastmath={fast})
    def target(x): return helper(x) * 2
    def called(x): return target(x)
    @numba.vectorize
    def many(x): return x * {number}
    """
    assert numba is sys.modules["numba"]
    for name in ("target", "called", "many"):
        then = of_source(source.format(number=1, fast=False), name)
        assert then == of_source(source.format(number=1, fast=False), name)
        assert then != of_source(source.format(number=2, fast=False), name)
    assert of_source(source.format(number=1, fast=False)) != of_source(source.format(number=1, fast=True))
    compiled = {}
    exec(textwrap.dedent(source.format(number=1, fast=False)), compiled)
    before = identity(compiled["target"])
    compiled["target"](3.0)
    assert identity(compiled["target"]) == before


LOCK = threading.Lock()


def locked(x):
    with LOCK:
        return x


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (locked, "LOCK of target"),
        (np.frompyfunc(doubled, 1, 1), "target"),
        ((n for n in range(3)), "target"),
        (functools.partial(doubled, LOCK), "target"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_remedy(value, named):
    with pytest.raises(NoIdentityError, match=f"^{named} .*code_version = 1") as raised:
        identity(value)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_nesting_without_end_is_refused():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(NoIdentityError, match="nested too deeply"):
        identity(nested)


def test_a_version_of_the_users_stands_for_all():
    def versioned(x):
        return locked(x)

    versioned.code_version = "1"
    then = identity(versioned)
    versioned.code_version = "2"
    assert identity(versioned) != then

    class Own:
        code_version = 1

        def pull(self):
            return locked(0)

    class Heir(Own):
        def pull(self):
            return 1

    class Other(Own):
        def pull(self):
            return 2

    holding = Own()
    then = identity(holding)
    holding.lock = 3
    assert identity(holding) != then
    assert identity(Heir) != identity(Other)  # the version is of the class that has it
    holding.lock = LOCK
    with pytest.raises(NoIdentityError):
        identity(holding)
    holding.code_version = 1
    identity(holding)
