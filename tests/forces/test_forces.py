"""Forces against a slow, obvious twin: every pair in a Python loop, every swap by re-evaluation."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces import giant_queries
from rankforce.forces.forces import Forces, RunningOrder, SlowMeasureWarning, TermForces
from rankforce.forces.pairs import PairRanges
from rankforce.kernels.forces.pair_forces import SMALL_PULL, scale_by_log
from rankforce.lambdas.near_pairs import NearPairs
from rankforce.lambdas.ranknet import RankNetCost
from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs
from rankforce.measures.catalogue import measure_classes
from rankforce.measures.judged import JudgedMeasure
from rankforce.objectives.objective import DEFAULT_LAMBDA_FUNCTION, Objective, Pairs, Term


class ValueOnly(rf.Measure):
    """Share of the worth in the top three, without a swap of its own."""

    def normaliser(self, ideal):
        total = 0.0
        for r in range(ideal.shape[0]):
            total += ideal[r]
        return total

    def value(self, ranked, normaliser):
        total = 0.0
        for r in range(min(3, ranked.shape[0])):
            total += ranked[r]
        return total / normaliser


def some_data(seed=0, sizes=(1, 2, 5, 9, 12), grades=4, unlabelled=0.0, **parts):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    labels = rng.integers(0, grades, n).astype(float)
    labels[rng.random(n) < unlabelled] = np.nan
    return rf.Dataset(rng.random((n, 2)), labels, group=list(sizes), **parts)


def slow_forces(data, term, scores, order, takes=lambda ranks: True):
    """Forces and curvatures by definition."""
    judged = JudgedMeasure(data, term.measure)
    kernel_measure = term.measure.kernel_tuple()
    lambda_function = (term.lambda_function or DEFAULT_LAMBDA_FUNCTION).kernel_tuple()
    forces, curvatures = np.zeros(data.n_documents), np.zeros(data.n_documents)
    weights = np.ones(data.n_documents) if data.weights is None else data.weights
    query_weights = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
    labels = data.labels[term.measure.label]
    kept = np.arange(data.n_documents) if judged.kept is None else judged.kept
    for q, rows in enumerate(data.each_query()):
        normaliser = judged.normalisers[q]
        if normaliser == 0:
            continue
        ranked_rows = [row for row in order[data.query_starts[q] : data.query_starts[q + 1]] if row in kept]
        worth = judged.worth[np.searchsorted(kept, ranked_rows)]
        before = kernel_measure.value(worth, normaliser)
        for i in rows:
            for j in rows:
                if not labels[i] > labels[j]:
                    continue
                a, b = ranked_rows.index(i), ranked_rows.index(j)
                if not takes((a, b)):
                    continue
                swapped = worth.copy()
                swapped[[a, b]] = swapped[[b, a]]
                change = abs(kernel_measure.value(swapped, normaliser) - before)
                force, curvature = lambda_function.pair_of_gap(scores[i] - scores[j], change, normaliser)
                scale = term.share * query_weights[q] * weights[i] * weights[j]
                forces[i] += scale * force
                forces[j] -= scale * force
                curvatures[i] += scale * curvature
                curvatures[j] += scale * curvature
    return forces, curvatures


def forces_of(data, term, scores, seed=3, iteration=0):
    order = RunningOrder(data, seed).update(scores)
    return Forces(data, Objective((term,)), seed).at(scores, order, iteration)


def check(data, term, scores, takes=lambda ranks: True):
    got = forces_of(data, term, scores)
    wanted = slow_forces(data, term, scores, RunningOrder(data, 3).update(scores), takes)
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(got[1], wanted[1], rtol=1e-9, atol=1e-12)
    sums = np.add.reduceat(got[0], data.query_starts[:-1])
    np.testing.assert_allclose(sums, 0.0, atol=1e-12)


def trainable():
    for name, measure_class in measure_classes().items():
        yield rf.CNDCG("grades", max_grade=1) if name == "CNDCG" else measure_class()


@pytest.mark.parametrize("measure", list(trainable()), ids=str)
def test_every_measure_exerts_the_forces_of_its_swaps(measure):
    grades = 2 if isinstance(measure, rf.CNDCG) else 4
    data = some_data(grades=grades)
    check(data, Term(measure), np.random.default_rng(1).normal(size=data.n_documents))


def test_the_first_scores_are_all_equal():
    data = some_data()
    check(data, Term(rf.NDCG(3)), np.zeros(data.n_documents))


def test_plain_ranknet_ignores_the_measure():
    data = some_data()
    check(data, Term(rf.NDCG(), RankNetCost(0.7)), np.random.default_rng(1).normal(size=data.n_documents))


def test_weights_and_shares():
    rng = np.random.default_rng(5)
    data = some_data()
    weighted = data.replace(weights=rng.random(data.n_documents), query_weights=rng.random(data.n_queries))
    check(weighted, Term(rf.NDCG(4), share=0.3), rng.normal(size=data.n_documents))


@pytest.mark.parametrize("judged_only", [True, False])
def test_unlabelled_documents_take_part_in_no_pair(judged_only):
    data = some_data(unlabelled=0.4)
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    check(data, Term(rf.NDCG(judged_only=judged_only)), scores)
    forces, _ = forces_of(data, Term(rf.NDCG()), scores)
    assert (forces[np.isnan(data.labels["grades"])] == 0).all()


@pytest.mark.parametrize("sigma", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("spread", [1e-6, 1.0, 1e6])
def test_wide_gaps_and_steep_sigmas_are_safe(sigma, spread):
    data = some_data()
    scores = np.random.default_rng(1).normal(size=data.n_documents) * spread
    forces, curvatures = forces_of(data, Term(rf.NDCG(), RankNetWeightPairs(sigma)), scores)
    assert np.isfinite(forces).all()
    assert (curvatures >= 0).all()
    check(data, Term(rf.NDCG(), RankNetWeightPairs(sigma)), scores)


@pytest.mark.parametrize("k", [1, 3, 100])
def test_top_pairs_have_a_document_among_the_first_k(k):
    data = some_data()
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    check(data, Term(rf.MAP(), pairs=Pairs(top=k)), scores, takes=lambda ranks: min(ranks) < k)


def test_sampled_pairs_are_right_on_average():
    data = some_data(sizes=(12, 12))
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    everything, _ = forces_of(data, Term(rf.NDCG()), scores)
    term = Term(rf.NDCG(), pairs=Pairs(sample=4))
    draws = np.array([forces_of(data, term, scores, iteration=iteration)[0] for iteration in range(600)])
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert (abs(draws.mean(axis=0) - everything) < 5 * error + 1e-12).all()
    assert draws.std(axis=0).max() > 0


def test_a_measure_with_a_value_only_works_and_says_that_it_is_slow():
    data = some_data()
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    with pytest.warns(SlowMeasureWarning, match="swap_delta"):
        TermForces(data, Term(ValueOnly()), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once only
        check(data, Term(ValueOnly()), scores)


def test_ranges_name_every_pair_once():
    labels = np.array([2.0, 0, np.nan, 1, 2, 0, 1, np.nan])
    starts = np.array([0, 5, 8])
    ranges = PairRanges.of(labels, starts)
    pairs = set()
    for q in range(2):
        for p in range(starts[q], starts[q + 1]):
            for o in range(*ranges.worse[p]):
                pairs.add((ranges.members[p], ranges.members[starts[q] + o]))
    wanted = {(i, j) for q in range(2) for i in range(starts[q], starts[q + 1]) for j in range(starts[q], starts[q + 1])
              if labels[i] > labels[j]}  # fmt: skip
    assert pairs == wanted
    assert ranges.n_pairs == len(wanted)


def test_ranges_do_not_depend_on_how_many_documents_are_taken_at_a_time(monkeypatch):
    rng = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 9, 50))])
    labels = rng.integers(0, 3, starts[-1]).astype(float)
    whole = PairRanges.of(labels, starts)
    monkeypatch.setattr("rankforce.forces.pairs.DOCUMENTS_AT_A_TIME", 7)
    parts = PairRanges.of(labels, starts)
    for name in ("members", "worse", "better"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    assert parts.n_pairs == whole.n_pairs


def test_earlier_tiers_restrict_pairs_to_ties():
    clicks = np.array([0.5, 0.1, 0.5, 0.2, np.nan, 0.3])
    grades = np.array([1.0, 1.0, 2.0, np.nan, 1.0, np.nan])
    ranges = PairRanges.of(clicks, np.array([0, 6]), earlier=(grades,))
    pairs = {(ranges.members[p], ranges.members[o]) for p in range(6) for o in range(*ranges.worse[p])}
    assert pairs == {(0, 1), (5, 3)}


@pytest.mark.parametrize(
    "wrong",
    [
        *("some", "top", "top x", "top 0", "top 2.5", "sample 99999999999", 7, None, np.array(["top", "3"])),
        *(("top", 0), ("top", 2.5), ("top", True), ("top", "3"), ("top", np.inf), ("top", np.nan), ("top", 2**31)),
        *(("sample", "x"), ("sample", 1.5), ("sample", 10**30), ("sample", None), (["top"], 3)),
    ],
    ids=repr,
)
def test_impossible_choices_of_pairs(wrong):
    with pytest.raises(rf.SettingsError, match=r"pairs must be .* whole number"):
        Pairs.read(wrong)
    if wrong is not None:  # a term that leaves them to the ranker
        with pytest.raises(rf.SettingsError, match=r"pairs must be .* whole number"):
            Term("NDCG", pairs=wrong)


def test_choices_of_pairs_in_every_spelling():
    assert Pairs.read("top 30") == Pairs.read(("top", 30)) == Pairs.read(["top", np.int64(30)]) == Pairs(top=30)
    assert Pairs.read("sample 4") == Pairs.read(("sample", 4)) == Pairs(sample=4)
    assert Pairs.read("all") == Pairs()


def test_forces_do_not_depend_on_threads():
    from rankforce.threads import using_threads

    data = some_data(sizes=(40,) * 100)
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    results = []
    for count in (1, 2, 5):
        with using_threads(count):
            results.append(forces_of(data, Term(rf.NDCG()), scores)[0].tobytes())
    assert len(set(results)) == 1


def test_queries_left_out_exert_no_force():
    data = some_data()
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    order = RunningOrder(data, 3).update(scores)
    whole = forces_of(data, Term(rf.NDCG()), scores)[0].copy()
    some = np.array([True, False, True, False, True])
    part = Forces(data, Objective((Term(rf.NDCG()),)), 3).at(scores, order, queries=some)[0]
    np.testing.assert_array_equal(part, np.where(some[data.row_queries], whole, 0.0))


def test_ranking_again_from_the_last_order_gives_the_same():
    data = some_data(sizes=(70, 3, 200))
    rng = np.random.default_rng(1)
    kept = RunningOrder(data, 3)
    for _ in range(3):
        scores = rng.integers(0, 9, data.n_documents).astype(float)
        np.testing.assert_array_equal(kept.update(scores), RunningOrder(data, 3).update(scores))


def test_near_pairs_count_most():
    data = some_data()
    check(data, Term(rf.NDCG(), NearPairs(0.7)), np.random.default_rng(1).normal(size=data.n_documents))


class Pole(rf.lambdas.PairwiseLambdaFunction):
    """Finite for all pairs of a data set, but not for all that have the gap of ``at``."""

    at: float = 3.0

    def pair_of_gap(self, gap, change, normaliser):
        return np.log(abs(gap - self.at)), 1.0 + change


@pytest.mark.parametrize("giant", [False, True])
def test_a_function_need_not_be_finite_for_what_is_no_pair(giant, monkeypatch):
    """The loop over pairs goes on beyond a range to the end of a stride, and what is there counts nothing."""
    if giant:
        monkeypatch.setattr(giant_queries, "GIANT_DOCUMENTS", 3)
        monkeypatch.setattr(giant_queries, "GIANT_PAIRS", 1)
    labels = np.array([2.0, 0.0, 1.0, np.nan, 1.0, 0.0, 0.0])
    scores = np.array([1.0, 0.25, 0.5, -2.0, 2.0, 1.0, 0.0])  # the fourth is 3 below the first, and in no pair
    data = rf.Dataset(np.zeros((7, 1)), labels, group=[4, 3])
    check(data, Term(rf.NDCG(), Pole()), scores)


def test_the_log_normalisation_by_hand():
    """One pair per query: the sum of the pairs' forces is the force on the better document."""
    data = some_data(sizes=(2, 2, 2), seed=4)
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    order = RunningOrder(data, 3).update(scores)
    term = Term(rf.NDCG(), share=7.0)
    forces, curvatures = slow_forces(data, term, scores, order)
    got = Forces(data, Objective((term,)), 3, normalise="log").at(scores, order)
    assert forces.any()
    for rows in data.each_query():
        pull = abs(forces[rows]).max()
        factor = np.log2(1 + 2 * pull) / (2 * pull) if pull > 0 else 1.0
        np.testing.assert_allclose(got[0][rows], factor * forces[rows], rtol=1e-9)
        np.testing.assert_allclose(got[1][rows], factor * curvatures[rows], rtol=1e-9)


def test_query_weights_count_after_dividing_by_the_deviation():
    data = some_data(sizes=(5, 9, 12))
    weights = np.array([0.0, 3.0, 0.25])
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    order = RunningOrder(data, 3).update(scores)
    objective = Objective((Term(rf.NDCG()),))
    plain = Forces(data, objective, 3, normalise="deviation").at(scores, order)[0]
    weighted = Forces(data.replace(query_weights=weights), objective, 3, normalise="deviation").at(scores, order)[0]
    assert plain.any()
    np.testing.assert_allclose(weighted, plain * np.repeat(weights, data.query_sizes), rtol=1e-12)


@pytest.mark.parametrize("weight", [1e-3, 1e-5, 1e-9, 1e-12])
def test_the_log_normalisation_leaves_weak_forces_as_they_are(weight):
    """log2(1 + P)/P is 1/ln 2 for small P, also where 1 + P is 1."""
    data = some_data(sizes=(5, 9, 12))
    weak = data.replace(weights=np.full(data.n_documents, weight))
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    order = RunningOrder(data, 3).update(scores)
    objective = Objective((Term(rf.NDCG()),))
    plain = Forces(weak, objective, 3).at(scores, order)
    damped = Forces(weak, objective, 3, normalise="log").at(scores, order)
    for before, after in zip(plain, damped, strict=True):
        assert before.any()
        np.testing.assert_allclose(after, before / np.log(2.0), rtol=2 * 26 * weight**2 + 1e-12)


def test_the_log_normalisation_has_no_step():
    """Forces of one pair per query, on both sides of where the formula changes."""
    starts, pulls = np.arange(0, 7, 2), np.array([0.99999, 1.0, 1.00001]) * SMALL_PULL / 2
    forces, curvatures = np.ones(6), np.ones(6)
    scale_by_log(starts, pulls, 0, 3, forces, curvatures)
    wanted = [math.log1p(2 * pull) / (2 * pull) / math.log(2.0) for pull in pulls]
    np.testing.assert_allclose(forces[::2], wanted, rtol=1e-12)
