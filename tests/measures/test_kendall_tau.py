"""Pairs in the right order, against scipy and against counting."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats

import rankforce as rf
from rankforce.kernels.ranking.swaps import swap_changes
from rankforce.measures.concordance import MOST_GRADES, ordered_pairs


def test_tau_b_with_ties_is_scipys():
    rng = np.random.default_rng(0)
    measure = rf.KendallTau(variant="b")
    kernel = measure.kernel_tuple()
    for _ in range(20):
        labels = rng.integers(0, 4, 12).astype(float)
        scores = -np.sort(-rng.integers(0, 6, 12).astype(float))
        worth = measure.worth(labels)
        normaliser = kernel.normaliser(np.sort(worth)[::-1].copy())
        tie_ends = np.searchsorted(-scores, -scores, side="right")
        wanted = scipy.stats.kendalltau(scores, labels).statistic
        assert kernel.expected_value(worth, tie_ends, normaliser) == pytest.approx(wanted, abs=1e-14)


def test_tau_b_of_a_ranking_is_scipys():
    labels = np.array([2.0, 0.0, 3.0, 2.0, 1.0])
    measure = rf.KendallTau(variant="b")
    worth = measure.worth(labels)
    normaliser = measure.kernel_tuple().normaliser(np.sort(worth)[::-1].copy())
    wanted = scipy.stats.kendalltau(-np.arange(5), labels).statistic
    assert measure.kernel_tuple().value(worth, normaliser) == pytest.approx(wanted)


def test_tau_b_of_equal_scores_is_zero():
    kernel = rf.KendallTau(variant="b").kernel_tuple()
    assert kernel.expected_value(np.array([1.0, 0.0]), np.array([2, 2]), 1.0) == 0.0


@pytest.mark.parametrize("size", [0, 1, 2, 7, 33, 64])
def test_pairs_are_counted_by_merging(size):
    ranked = np.random.default_rng(size).integers(0, 6, size).astype(float)
    pairs = list(itertools.combinations(ranked, 2))
    assert ordered_pairs(ranked) == (sum(a > b for a, b in pairs), sum(a < b for a, b in pairs))


@pytest.mark.parametrize("written", ["PairwiseAccuracy", "KendallTau", "KendallTau(variant=b)"])
def test_swaps_with_more_grades_than_the_table_holds(written):
    measure = rf.measure(written)
    labels = np.random.default_rng(1).random(MOST_GRADES + 16)
    labels[10:20] = labels[30:40]
    few, many = measure.worth(labels[:20]), measure.worth(labels)
    assert measure.column_count(few) == 1 + 20
    assert measure.column_count(many) == 2
    kernel = measure.kernel_tuple()
    for ranked in (few, many):
        normaliser = kernel.normaliser(np.sort(ranked)[::-1].copy())
        changes = np.empty((len(ranked), len(ranked)))
        swap_changes(kernel, ranked, normaliser, np.empty((measure.column_count(ranked), len(ranked))), changes)
        before = kernel.value(ranked, normaliser)
        for a, b in [(0, 1), (3, 17), (19, 0), (len(ranked) - 1, 5), (12, 11), (2, 18)]:
            swapped = ranked.copy()
            swapped[[a, b]] = swapped[[b, a]]
            assert changes[a, b] == pytest.approx(kernel.value(swapped, normaliser) - before, abs=1e-14)


def test_pairwise_accuracy_is_the_area_under_the_roc_curve():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 40).astype(float)
    scores = -np.sort(-rng.integers(0, 9, 40).astype(float))
    kernel = rf.PairwiseAccuracy().kernel_tuple()
    normaliser = labels.sum() * (1 - labels).sum()
    tie_ends = np.searchsorted(-scores, -scores, side="right")
    statistic = scipy.stats.mannwhitneyu(scores[labels == 1], scores[labels == 0]).statistic
    assert kernel.expected_value(labels, tie_ends, normaliser) == pytest.approx(statistic / normaliser)
