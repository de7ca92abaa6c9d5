"""Rows depend on the code of the package that work uses, wherever it stands, and on nothing else."""

from __future__ import annotations

import pytest

from rankforce.reproducing import used_code as used
from rankforce.reproducing.catalogue import all_experiments

HELPERS = """
from somewhere import deepest

RATE, UNUSED = 0.1, 1

def helper(x: int) -> int:
    "Helps."
    return deepest(x) * RATE

def other():
    return UNUSED

class Shared:
    def run(self, part, seed, size):
        return self.data_of(seed)
"""
MODULE = """
from reproducing_helpers import Shared, helper, other

SIZE, COLOUR = 3, "red"

class One(Shared):
    found = "Words."
    rates = (1, 2)

    def data_of(self, seed):
        "Says what it does."
        return helper(SIZE) + self.more(self.rates)

    def more(self, rates):
        return 1

    def claims(self):
        return judged(other())

def judged(x):
    return COLOUR
"""


@pytest.fixture
def code(monkeypatch):
    """The used code of ``One``, with replacements in either file."""
    monkeypatch.setattr(used, "_is_ours", lambda module: module.startswith("reproducing_"))

    def found(old="", new=""):
        monkeypatch.setattr(used, "_text_of", lambda name: texts[name])
        texts = {"reproducing_helpers": HELPERS.replace(old, new), "reproducing_one": MODULE.replace(old, new)}
        used.definitions_of.cache_clear()
        shared = type("Shared", (), {"__module__": "reproducing_helpers"})
        return used.used_code(type("One", (shared,), {"__module__": "reproducing_one"}))

    yield found
    used.definitions_of.cache_clear()


@pytest.mark.parametrize(
    ("old", "new"),
    [("Words.", "Other words."), ("Says what", "Tells what"), ("return COLOUR", "return 0"), ("x: int", "x: float"),
     ("return UNUSED", "return 0"), ("Helps.", "Does not.")],
)  # fmt: skip
def test_rules_words_and_what_is_not_used_may_change(code, old, new):
    now = code()
    assert code(old, new) == now


@pytest.mark.parametrize(
    ("old", "new"),
    [("SIZE, COLOUR = 3", "SIZE, COLOUR = 4"), ("return 1", "return 2"), ("(1, 2)", "(1, 3)"),
     ("RATE, UNUSED = 0.1", "RATE, UNUSED = 0.2"), ("deepest(x) *", "deepest(x) +"),
     ("from somewhere", "from elsewhere"), ("self.data_of(seed)", "self.data_of(seed + 1)")],
)  # fmt: skip
def test_what_work_uses_in_any_module_or_base_class_counts(code, old, new):
    now = code()
    assert code(old, new) != now


def test_the_helpers_of_experiments_are_seen():
    code = used.used_code(type(all_experiments()["lambdarank-web"]))
    assert {
        "rankforce.reproducing.net_comparison.NetComparison.run",
        "rankforce.reproducing.net_comparison.fitted_nets",
        "rankforce.reproducing.measuring.differences_of",
    } <= set(code)
    assert not any(".rules." in name or ".drawing." in name for name in code)
