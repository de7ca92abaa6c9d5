"""ERR: grades out of range, and swaps next to a document that stops almost every reader."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rankforce as rf
from rankforce.kernels.ranking.swaps import swap_changes


def exact_value(stopping, cutoff):
    total, reached = Fraction(0), Fraction(1)
    for rank, probability in enumerate(stopping[:cutoff], start=1):
        total += reached * probability / rank
        reached *= 1 - probability
    return total


@pytest.mark.parametrize("cutoff", [None, 2, 5])
@pytest.mark.parametrize("max_grade", [4, 20, 50, 60, 1000, 2000])
def test_swaps_are_right_to_the_last_digits_whatever_the_top_grade(max_grade, cutoff):
    measure = rf.ERR(cutoff, max_grade=max_grade)
    grades = max_grade - np.array([30, 0, 2, 1, 0, 1, 0, 3, 0.5])
    worth = measure.worth(np.maximum(grades, 0.0))
    assert (worth < 1.0).all()
    assert worth.max() > 0.9
    changes = np.empty((len(worth), len(worth)))
    swap_changes(measure.kernel_tuple(), worth, 1.0, np.empty((measure.COLUMNS, len(worth))), changes)
    exact = [Fraction(float(one)) for one in worth]
    before = exact_value(exact, cutoff)
    for a in range(len(worth)):
        for b in range(a):
            swapped = exact.copy()
            swapped[a], swapped[b] = swapped[b], swapped[a]
            assert changes[a, b] == pytest.approx(float(exact_value(swapped, cutoff) - before), rel=1e-9, abs=1e-16)


def test_the_drop_has_the_sign_of_the_grades():
    rng = np.random.default_rng(0)
    measure = rf.ERR(4)
    for _ in range(50):
        worth = measure.worth(rng.integers(0, 5, 9).astype(float))
        changes = np.empty((9, 9))
        swap_changes(measure.kernel_tuple(), worth, 1.0, np.empty((measure.COLUMNS, 9)), changes)
        for a in range(9):
            for b in range(a + 1, 9):
                assert changes[a, b] * np.sign(worth[a] - worth[b]) <= 1e-16


def test_a_grade_above_the_scale_is_named():
    with pytest.raises(rf.MeasureError, match=r"label 7 is above max_grade=4; write ERR\(max_grade=7\)"):
        rf.ERR(10).worth(np.array([1.0, 7.0]))


@pytest.mark.parametrize("bad", [0, -1, np.inf, np.nan, "4", None, True])
def test_impossible_max_grade(bad):
    with pytest.raises(rf.MeasureError, match="max_grade"):
        rf.ERR(max_grade=bad)
