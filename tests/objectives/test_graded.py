"""Graded objectives against a slow, obvious twin: every pair asked whether it belongs to the tier."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.forces.left_out import left_out
from rankforce.measures.judged import JudgedMeasure
from rankforce.objectives.objective import Objective, Pairs, Term


def two_sources(seed=0, sizes=(1, 2, 6, 9, 14), missing=0.2):
    """Grades, clicks (some 0, some missing) and freshness, by row in the order of the queries."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    grades = rng.integers(0, 3, n).astype(float)
    clicks = np.where(rng.random(n) < 0.3, 0.0, rng.integers(1, 5, n) / 4.0)
    fresh = rng.integers(0, 2, n).astype(float)
    for labels in (grades, clicks, fresh):
        labels[rng.random(n) < missing] = np.nan
    return rf.Dataset(rng.random((n, 2)), grades, group=list(sizes), labels={"clicks": clicks, "fresh": fresh})


def same(a, b):
    return a == b or (np.isnan(a) and np.isnan(b))


def slow_forces(data, tiers, scores, order):
    """Σ of (share, measure, earlier, zeros) tiers by definition, with the λ-function σρ|ΔZ|, σ = 1."""
    forces, curvatures = np.zeros(data.n_documents), np.zeros(data.n_documents)
    for share, measure, earlier, zeros in tiers:
        judged = JudgedMeasure(data, measure)
        kernel = measure.kernel_tuple()
        labels = data.labels[measure.label]
        kept = np.arange(data.n_documents) if judged.kept is None else judged.kept
        for q in range(data.n_queries):
            rows = [row for row in order[data.query_starts[q] : data.query_starts[q + 1]] if row in kept]
            if judged.normalisers[q] == 0:
                continue
            worth = judged.worth[np.searchsorted(kept, rows)]
            before = kernel.value(worth, judged.normalisers[q])
            for a, i in enumerate(rows):
                for b, j in enumerate(rows):
                    if not labels[i] > labels[j] or not all(
                        same(data.labels[e][i], data.labels[e][j]) for e in earlier
                    ):
                        continue
                    if not zeros and 0.0 in (labels[i], labels[j]):
                        continue
                    swapped = worth.copy()
                    swapped[[a, b]] = swapped[[b, a]]
                    change = abs(kernel.value(swapped, judged.normalisers[q]) - before)
                    rho = 1.0 / (1.0 + np.exp(scores[i] - scores[j]))
                    forces[i] += share * rho * change
                    forces[j] -= share * rho * change
                    curvatures[[i, j]] += share * rho * (1 - rho) * change
    return forces, curvatures


def check(data, objective, tiers, iteration=0):
    scores = np.random.default_rng(7).normal(size=data.n_documents)
    order = RunningOrder(data, 3).update(scores)
    got = Forces(data, objective, 3).at(scores, order, iteration)
    wanted = slow_forces(data, tiers, scores, order)
    assert np.abs(wanted[0]).max() > 0
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(got[1], wanted[1], rtol=1e-9, atol=1e-12)


NDCG, CLICKS, FRESH = rf.NDCG(), rf.CNDCG("clicks"), rf.NDCG(label="fresh")


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_later_tier_sees_pairs_tied_in_the_earlier_ones(missing):
    tiers = [(0.8, NDCG, (), True), (0.2, CLICKS, ("grades",), False)]
    check(two_sources(missing=missing), rf.Graded([NDCG, CLICKS], [0.8, 0.2]), tiers)


def test_three_tiers_with_missing_labels():
    objective = rf.Graded([NDCG, "CNDCG:clicks", FRESH], weights=[6, 3, 1])
    tiers = [
        (0.6, NDCG, (), True),
        (0.3, CLICKS, ("grades",), False),
        (0.1, FRESH, ("grades", "clicks"), True),
    ]
    check(two_sources(sizes=(30, 20, 7), missing=0.3), objective, tiers)


def test_all_pairs_of_a_source_and_zero_clicks_on_request():
    objective = rf.Graded([NDCG, rf.Term(CLICKS, rule="all", zeros=True)], weights=[0.5, 0.5])
    check(two_sources(), objective, [(0.5, NDCG, (), True), (0.5, CLICKS, (), True)])
    objective = rf.Graded([NDCG, rf.Term(CLICKS, zeros=True)], weights=[0.5, 0.5])
    check(two_sources(), objective, [(0.5, NDCG, (), True), (0.5, CLICKS, ("grades",), True)])


def test_nested_tiers_and_objectives_that_change():
    changing = rf.Scheduled(NDCG, rf.NDCG(3), rf.schedules.Linear(0.1, 0.2))
    data = two_sources()
    for iteration, share in ((0, 0.1), (2, 0.5), (9, 1.0)):
        tiers = [
            (0.7 * (1 - share), NDCG, (), True),
            (0.7 * share, rf.NDCG(3), (), True),
            (0.3, CLICKS, ("grades",), False),
        ]
        check(data, rf.Graded([changing, CLICKS], [0.7, 0.3]), tiers, iteration)
    inner = rf.Graded([NDCG, rf.Graded([CLICKS, FRESH], [0.5, 0.5])], [0.6, 0.4])
    tiers = [(0.6, NDCG, (), True), (0.2, CLICKS, ("grades",), False), (0.2, FRESH, ("grades", "clicks"), True)]
    check(two_sources(sizes=(30, 20, 7)), inner, tiers)


def test_a_term_in_both_parts_of_a_change_is_computed_once():
    before, after = rf.Graded([NDCG, CLICKS], [0.9, 0.1]), rf.Graded([NDCG, CLICKS], [0.5, 0.5])
    objective = rf.Scheduled(before, after, [0.0, 0.25, 1.0])
    data = two_sources()
    assert len(Forces(data, objective, 0).terms) == 2
    check(data, objective, [(0.8, NDCG, (), True), (0.2, CLICKS, ("grades",), False)], iteration=1)


def test_mixed_first_and_normalised_after():
    data = two_sources()
    scores = np.random.default_rng(7).normal(size=data.n_documents)
    order = RunningOrder(data, 3).update(scores)
    objective = rf.Graded([NDCG, CLICKS], [0.8, 0.2])
    plain = Forces(data, objective, 3).at(scores, order)[0].copy()
    divided = Forces(data, objective, 3, normalise="deviation").at(scores, order)[0]
    for rows in data.each_query():
        deviation = plain[rows].std()
        np.testing.assert_allclose(divided[rows], plain[rows] / deviation if deviation else 0.0, rtol=1e-9)


def test_weights():
    assert rf.Graded([NDCG, CLICKS], [3, 1]).shares(0) == (0.75, 0.25)
    assert rf.Graded([NDCG, CLICKS]).shares(5) == (0.5, 0.5)
    assert rf.Graded([NDCG, CLICKS], [1e308, 1e308]).shares(0) == (0.5, 0.5)
    objective = rf.Graded([NDCG, CLICKS], [0.8, 0.2])
    assert objective == rf.Graded(["NDCG", "CNDCG:clicks"], (4, 1))
    assert objective != rf.Graded([NDCG, CLICKS], [0.7, 0.3])
    assert str(objective) == "0.8 × NDCG + 0.2 × CNDCG:clicks (tied in grades; without zeros)"
    assert pickle.loads(pickle.dumps(objective)) == copy.deepcopy(objective) == objective


@pytest.mark.parametrize(
    ("tiers", "weights", "words"),
    [
        ([NDCG], None, "at least two tiers"),
        (NDCG, None, "list of measures"),
        ([NDCG, CLICKS], [1.0], "needs 2 weights"),
        ([NDCG, CLICKS], [1.0, -0.1], "at least 0"),
        ([NDCG, CLICKS], [0, 0], "above 0"),
        ([NDCG, CLICKS], 3, "list of 2 numbers"),
        ([NDCG, CLICKS], {NDCG: 1, CLICKS: 1}, "list of 2 numbers"),
        ([NDCG, CLICKS], [1, 10**400], "at least 0"),
        ([NDCG, CLICKS], [1, "a"], "at least 0"),
        ([NDCG, CLICKS], [1, np.nan], "at least 0"),
        ([NDCG, CLICKS], "best", '"search"'),
        ([NDCG, 7], None, "an objective is"),
        ([NDCG, rf.Graded([CLICKS, FRESH], "search")], None, "outermost"),
    ],
)
def test_impossible_tiers_are_refused(tiers, weights, words):
    with pytest.raises(rf.SettingsError, match=words):
        rf.Graded(tiers, weights)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"share": -1.0}, "at least 0"),
        ({"share": "half"}, "must be a number"),
        ({"rule": "some"}, "'tied', 'all'"),
        ({"zeros": 3}, "zeros"),
        ({"pairs": "few"}, "pairs must be"),
        ({"lambda_function": "NearPears"}, "did you mean NearPairs"),
    ],
)
def test_impossible_terms_are_refused(settings, words):
    with pytest.raises(rf.SettingsError, match=words):
        rf.Term("NDCG", **settings)


def test_a_source_that_the_data_lacks_is_named():
    data = two_sources()
    with pytest.raises(rf.MeasureError, match="'likes'"):
        Forces(data, rf.Graded([rf.NDCG(label="likes"), CLICKS]), 0)
    lone = Objective((Term(NDCG, earlier=("likes",)),))
    with pytest.raises(rf.MeasureError, match="tied in 'likes'"):
        Forces(data, lone, 0)


def test_terms_take_what_the_ranker_says_unless_they_say_it_themselves():
    objective = rf.Graded([NDCG, rf.Term(CLICKS, lambda_function=rf.lambdas.RankNetCost(2.0), pairs="top 3")])
    settled = objective.settled(10, rf.lambdas.NearPairs(0.5), Pairs(sample=4))
    assert [term.lambda_function for term in settled.terms] == [rf.lambdas.NearPairs(0.5), rf.lambdas.RankNetCost(2.0)]
    assert [term.pairs for term in settled.terms] == [Pairs(sample=4), Pairs(top=3)]


def test_what_is_left_out_is_counted():
    nan = np.nan
    data = rf.Dataset(
        np.zeros((7, 1)),
        [1, 0, 1, 0, 2, 1, 1],
        qid=[1, 1, 1, 2, 2, 3, 3],
        labels={"clicks": [0.5, nan, 0.2, nan, nan, 0.0, 0.5]},
    )
    grades, clicks = left_out(data, Forces(data, rf.Graded([NDCG, CLICKS]), 0).terms)
    assert (grades.pairs, grades.unlabelled_documents, grades.unlabelled_queries) == (3, 0, 0)
    assert not grades.anything
    assert (clicks.pairs, clicks.unlabelled_documents, clicks.unlabelled_queries, clicks.zero_documents) == (1, 3, 1, 1)
    assert "3 of 7 documents and 1 of 3 queries without a label from 'clicks'" in str(clicks)
