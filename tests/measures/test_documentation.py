"""The examples of the documentation run, and do what the text says."""

from __future__ import annotations

import itertools
import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

import rankforce as rf
from rankforce.kernels.ranking.swaps import swap_changes

ROOT = Path(__file__).parents[2]


def examples(name):
    """The Python examples of a page, without their indentation."""
    blocks = re.findall(r"^( *)```python\n(.*?)^\1```", (ROOT / name).read_text(), flags=re.DOTALL | re.MULTILINE)
    return [textwrap.dedent(code) for _, code in blocks]


def test_examples_of_the_measures_page():
    written_form, own_measure = examples("docs/measures.md")
    exec(written_form, {})
    names = {"__name__": "__main__"}
    exec(own_measure, names)
    slow, fast = names["Hits"](3), names["FastHits"](3)
    ranked = np.random.default_rng(0).random(7)
    changes = {}
    for measure in (slow, fast):
        changes[measure] = np.empty((7, 7))
        swap_changes(measure.kernel_tuple(), ranked, 1.0, np.empty((2, 7)), changes[measure])
    assert (slow.swap_kind, fast.swap_kind) == ("brute", "columns")
    np.testing.assert_allclose(changes[slow], changes[fast], atol=1e-15)
    assert rf.measure("FastHits@3") == fast


def test_example_of_the_contributing_page():
    names = {"__name__": "__main__"}
    exec(examples("CONTRIBUTING.md")[0], names)
    kernel = names["HalfWay"]().kernel_tuple()
    assert kernel.value(np.array([0.0, 1.0, 0.0, 1.0, 1.0]), 3.0) == pytest.approx(1 / 4)
    orders = set(itertools.permutations([1.0, 1.0, 0.0, 0.0]))
    assert max(kernel.value(np.array(order), 2.0) for order in orders) == 1.0
