"""The interval that a combination reports: against exact fractions, at and between all crossings."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from tests.sweeping.fraction_sweep import crossings

import rankforce as rf
from rankforce.combining.target import MeanMeasure
from rankforce.kernels.ranking.sweep import sweep_queries

NEAR = 1e-12


def values_at(x, s, t, target):
    """The values of all queries where documents stand at (1 − x)·s + x·t, x a fraction; equal heights in row order."""
    known, found = target.known, []
    for q, share in enumerate(target.shares):
        documents = range(known.starts[q], known.starts[q + 1])
        ranked = sorted(documents, key=lambda d: (-((1 - x) * Fraction(s[d]) + x * Fraction(t[d])), d))
        value = known.kernel_tuple.value(known.worth[ranked].copy(), known.normalisers[q]) if share else 0.0
        found.append(value)
    return np.array(found)


def best_interval(s, t, target, *, at_ties=True):
    """(low, high, mean): the widest, else lowest, of the best open intervals in which no value of a query changes.

    ``at_ties``: not at the crossings within them either.
    """
    edges = [Fraction(0), *crossings(s, t, target.known.starts), Fraction(1)]
    merged = []
    for low, high in itertools.pairwise(edges):
        values = values_at((low + high) / 2, s, t, target)
        if merged:
            start, _, before = merged[-1]
            others = (values, values_at(low, s, t, target)) if at_ties else (values,)
            if all(np.abs(before - other).max() < NEAR for other in others):
                merged[-1] = (start, high, before)
                continue
        merged.append((low, high, values))
    means = [float(values @ target.shares) for *_, values in merged]
    best = [place for place, mean in enumerate(means) if mean > max(means) - NEAR]
    chosen = max(best, key=lambda place: (merged[place][1] - merged[place][0], -place))
    return float(merged[chosen][0]), float(merged[chosen][1]), means[chosen]


def test_a_tie_of_another_value_is_no_part_of_the_interval():
    labels = np.tile([1.0, 0.0, 0.0], 2)
    s, t = np.tile([1.0, 2.0, 0.0], 2), np.tile([1.0, 0.0, 2.0], 2)
    data = rf.Dataset(np.zeros((6, 1)), labels, qid=np.repeat([0, 1], 3))
    found = rf.combine([s, t], data, "MRR")
    assert rf.evaluate(0.5 * s + 0.5 * t, data, "MRR").mean["MRR"] == 1.0
    assert found.interval == (0.0, 0.5)
    assert found.weights.tolist() == [0.75, 0.25]
    assert found.value == 0.5
    assert len(found.curve) == 2


def test_a_tie_of_the_same_value_is():
    """The first row of those that meet is not relevant: the tie has the relevant document second, as both sides do."""
    s, t = np.array([2.0, 1.0, 0.0]), np.array([0.0, 1.0, 2.0])
    found = rf.combine([s, t], rf.Dataset(np.zeros((3, 1)), [0.0, 1.0, 0.0], group=[3]), "MRR")
    assert found.interval == (0.0, 1.0)
    assert found.weights.tolist() == [0.5, 0.5]


def test_two_pairs_in_one_point_are_tied_together():
    """Neither swap changes anything, one after the other; but one of them is in row order before, and one after."""

    class SameHalves(rf.Measure):
        """1 unless the first document is worth less than the second, and the third more than the fourth."""

        def normaliser(self, ideal):
            return 1.0

        def value(self, ranked, normaliser):
            if ranked.shape[0] == 4 and ranked[0] < ranked[1] and ranked[2] > ranked[3]:
                return 0.5
            return 1.0

    labels = [0.0, 1.0, 2.0, 0.0]  # rows 0, 1 and rows 2, 3 cross at ½
    s, t = np.array([10.0, 8.0, 0.0, 2.0]), np.array([8.0, 10.0, 2.0, 0.0])
    data = rf.Dataset(np.zeros((4, 1)), labels, group=[4])
    found = rf.combine([s, t], data, SameHalves())
    assert rf.evaluate(0.5 * s + 0.5 * t, data, SameHalves()).mean[str(SameHalves())] == 0.5
    assert found.interval == (0.0, 0.5)


@pytest.mark.parametrize("measure", ["MRR", "NDCG@3", "MAP", "ERR(max_grade=2)"])
def test_the_interval_is_the_widest_of_exact_fractions(measure, monkeypatch):
    """Scores of few values: many lines coincide, and many meet in one point. In plain Python: no compiling."""
    monkeypatch.setattr("rankforce.sweeping.sweep.sweep_queries", sweep_queries.py_func)
    told_apart = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(3, 7, rng.integers(1, 3))
        n = int(sizes.sum())
        s, t = rng.integers(0, 4, (2, n)).astype(float)
        t = np.where(rng.random(n) < 0.7, 3.0 - s, t)  # most lines meet at ½
        s[1], t[1], s[2], t[2] = 3.0, 0.0, 0.0, 3.0  # scores of like size: the sweep's widths are those of α
        labels = np.where(rng.random(n) < 0.5, rng.integers(0, 3, n), 0).astype(float)
        labels[0] = 2.0
        data = rf.Dataset(np.zeros((n, 1)), labels, group=sizes)
        target = MeanMeasure(data, rf.measure(measure), "skip")
        low, high, mean = best_interval(s, t, target)
        found = rf.combine([s, t], data, measure)
        assert found.interval == pytest.approx((low, high), abs=1e-12)
        assert found.value == pytest.approx(mean, abs=1e-12)
        assert found.place == pytest.approx((low + high) / 2, abs=1e-12)
        inside = [x for x in crossings(s, t, target.known.starts) if low + 1e-9 < x < high - 1e-9]
        middle = values_at(Fraction(low + high) / 2, s, t, target)
        assert all(np.abs(values_at(x, s, t, target) - middle).max() < NEAR for x in inside)
        told_apart += best_interval(s, t, target, at_ties=False)[:2] != (low, high)
    assert told_apart > 0  # else the test shows nothing
