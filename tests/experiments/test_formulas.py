"""Formulas that claims of the papers rest on, written again from the papers and compared with what experiments run."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.diagnostics.optimality import directions_needed
from rankforce.forces.trained_forces import ASSUMED
from rankforce.reproducing.experiments.effective_pairs import ahead_at_equal_pairs
from rankforce.reproducing.experiments.err_consistency import drop_by_products, err
from rankforce.reproducing.experiments.label_noise import CONFUSION
from rankforce.reproducing.experiments.pairwise_errors import errors
from rankforce.reproducing.experiments.spsa_cross_entropy import mean_cross_entropy
from rankforce.reproducing.rows import Rows

GRADES = np.array([0.0, 3, 1, 0, 2, 4, 0, 1])
SCORES = np.array([2.0, 1.5, 1.2, 0.9, 0.5, 0.1, -0.3, -1.0])


def one_query(grades=GRADES):
    return rf.Dataset(np.zeros((len(grades), 1)), grades, np.ones(len(grades), dtype=int))


def dcg(grades, cut=None):
    return sum((2.0**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades[:cut], start=1))


def average_precision(relevant):
    found, total = 0, 0.0
    for rank, hit in enumerate(relevant, start=1):
        if hit:
            found += 1
            total += found / rank
    return total / sum(relevant)


def forces(change):
    """Σ over pairs of ±|ΔZ| / (1 + e^{s_i − s_j}), the better document up: Eq. 7 of the local optimality paper."""
    order = np.argsort(-SCORES)
    rank = {int(document): place for place, document in enumerate(order)}
    total = np.zeros(len(SCORES))
    for i, j in itertools.permutations(range(len(SCORES)), 2):
        if GRADES[i] > GRADES[j]:
            size = abs(change(rank[i], rank[j], GRADES[order])) / (1.0 + math.exp(SCORES[i] - SCORES[j]))
            total[i] += size
            total[j] -= size
    return total


def swapped(grades, a, b):
    after = grades.copy()
    after[[a, b]] = after[[b, a]]
    return after


def ndcg_change(a, b, ranked):
    """Eq. 7 with N the reciprocal of the best DCG."""
    best = dcg(sorted(ranked, reverse=True))
    return (2.0 ** ranked[a] - 2.0 ** ranked[b]) * (1 / math.log2(a + 2) - 1 / math.log2(b + 2)) / best


def map_change(a, b, ranked):
    """Eq. 9: n and m relevant documents in the top of the upper and of the lower rank, before the swap."""
    relevant = [grade >= 2 for grade in ranked]
    if relevant[a] == relevant[b]:
        return 0.0
    upper, lower = min(a, b), max(a, b)
    if relevant[upper]:  # the paper has the misordered pair alone: here by definition
        return average_precision(list(swapped(np.array(relevant), a, b))) - average_precision(relevant)
    n, m = sum(relevant[: upper + 1]), sum(relevant[: lower + 1])
    between = sum(hit / (rank + 1) for rank, hit in enumerate(relevant) if upper < rank < lower)
    return ((n + 1) / (upper + 1) - m / (lower + 1) + between) / sum(relevant)


def mrr_change(a, b, ranked):
    """Eq. 11: only a relevant document that rises above the first one changes anything."""
    relevant = [grade >= 2 for grade in ranked]
    upper, lower = min(a, b), max(a, b)
    first = relevant.index(True)
    if relevant[upper] or not relevant[lower] or upper >= first:
        return 0.0
    return 1 / (upper + 1) - 1 / (first + 1)


@pytest.mark.parametrize(
    ("measure", "change"),
    [("NDCG", ndcg_change), ("MAP(relevant=2)", map_change), ("MRR(relevant=2,swaps=upward)", mrr_change)],
)
def test_forces_of_the_papers(measure, change):
    found = rf.forces_at(one_query(), SCORES, measure, lambda_function="RankNetWeightPairs").forces
    np.testing.assert_allclose(found, forces(change), atol=1e-12)


def test_the_sigmoid_cost_of_equation_15():
    function = rf.lambdas.SigmoidCost(mu=0.7)
    for gap in (-6.0, -0.7, 0.0, 0.3, 4.0):
        e = math.exp(gap + 0.7)
        assert function.pair_of_gap(gap, 0.25, 1.0)[0] == pytest.approx(0.25 * e / (1 + e) ** 2)


def test_459_directions():
    assert directions_needed(0.01, 0.01) == 459
    assert 0.99**459 <= 0.01 < 0.99**458


def test_thirteen_errors_and_eleven():
    before, after = np.zeros(16), np.zeros(16)
    before[[0, 14]] = after[[3, 9]] = 1
    assert (errors(before), errors(after)) == (13, 11)
    ideal = dcg([1, 1])
    assert rf.evaluate(-np.arange(16.0), one_query(after), "NDCG").mean["NDCG"] == pytest.approx(dcg(after) / ideal)


def test_the_change_of_err_by_three_steps():
    rng = np.random.default_rng(1)
    stops = (2.0 ** rng.integers(0, 5, 9) - 1) / 16
    grades = np.log2(16 * stops + 1).round()
    scores = -np.arange(9.0)
    assert rf.evaluate(scores, one_query(grades), "ERR").mean["ERR"] == pytest.approx(err(stops))
    for i, j in itertools.combinations(range(9), 2):
        after = swapped(stops, i, j)
        by_hand = sum(stop / rank * np.prod(1 - after[: rank - 1]) for rank, stop in enumerate(after, start=1))
        assert drop_by_products(stops, i, j) == pytest.approx(err(stops) - by_hand, abs=1e-14)


def test_labels_confused_twice_follow_the_square_of_the_matrix():
    np.testing.assert_allclose(CONFUSION.sum(axis=1), 1.0)
    data = rf.make_artificial(queries=400, documents=50, features=2, seed=0, shares=(0.2,) * 5)
    twice = rf.confuse_labels(data, CONFUSION, 3, times=2).labels["grades"]
    for grade in range(5):
        found = np.bincount(twice[data.labels["grades"] == grade].astype(int), minlength=5) / 4000
        np.testing.assert_allclose(found, (CONFUSION @ CONFUSION)[grade], atol=0.035)


def test_the_mean_cross_entropy_of_pairs():
    pairs = [(i, j) for i, j in itertools.permutations(range(len(GRADES)), 2) if GRADES[i] > GRADES[j]]
    costs = [math.log1p(math.exp(SCORES[j] - SCORES[i])) for i, j in pairs]
    assert mean_cross_entropy(SCORES, one_query()) == pytest.approx(np.mean(costs))


def test_effective_pairs_one_by_one():
    data = one_query()
    for measure, change in (("NDCG", ndcg_change), ("MRR(relevant=2,swaps=upward)", mrr_change)):
        counted = sum(
            GRADES[i] > GRADES[j] and change(i, j, GRADES) != 0  # scores fall with the row: rows are ranks
            for i, j in itertools.permutations(range(len(GRADES)), 2)
        )
        found = rf.diagnostics.effective_pairs(data, SCORES, [measure], lambda_function="RankNetWeightPairs")[0]
        assert found.effective == counted


def test_values_at_equal_pairs_are_interpolated():
    curves = {"NDCG": ((99, 9999), (0.2, 0.4)), "MRR": ((9, 999), (0.1, 0.5))}
    rows = [
        {"arm": arm, "pairs": pairs, "value": value}
        for arm, (xs, ys) in curves.items()
        for pairs, value in zip(xs, ys, strict=True)
    ]
    others = [{"arm": arm, "pairs": 10**9, "value": 0.0} for arm in ("NDCG@10", "MAP")]
    assert ahead_at_equal_pairs(Rows([*rows, *others])) == pytest.approx(0.5 - 0.3)


def test_graded_forces_are_mixed_from_pairs_of_tied_grades():
    """λ = (1 − w)λ^L + wλ^C, λ^C over pairs of one grade, both clicked, for CNDCG with gain 2^{4c} − 1."""
    grades = np.array([2.0, 2, 2, 0, 1, 1])
    clicks = np.array([0.2, 0.5, 0.0, 0.9, 0.1, 0.3])
    scores = np.array([1.0, 0.8, 0.5, 0.4, 0.1, 0.0])
    data = rf.Dataset(np.zeros((6, 1)), grades, np.ones(6, dtype=int), labels={"clicks": clicks})
    gains = 2.0 ** (4 * clicks) - 1
    best = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(sorted(gains, reverse=True), start=1))
    second = np.zeros(6)
    for i, j in itertools.permutations(range(6), 2):
        if grades[i] == grades[j] and clicks[i] > clicks[j] > 0:
            delta = abs((gains[i] - gains[j]) * (1 / math.log2(i + 2) - 1 / math.log2(j + 2))) / best
            size = delta / (1 + math.exp(scores[i] - scores[j]))
            second[i] += size
            second[j] -= size
    objective = rf.Graded(["NDCG", "CNDCG:clicks"], [0.7, 0.3])
    first = rf.forces_at(data, scores, "NDCG", lambda_function="RankNetWeightPairs").forces
    pulled = ASSUMED.on(data, *objective.terms).at(scores, np.arange(6, dtype=np.int32), 0)[0]
    np.testing.assert_allclose(pulled, 0.7 * first + 0.3 * second, atol=1e-12)
