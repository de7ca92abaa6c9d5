"""Rules of verdicts: what they take for agreement, for a difference, and for too little."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rankforce.reproducing.rows import Rows
from rankforce.reproducing.rules import (
    Verdict,
    alike,
    best_of,
    binomial_bounds,
    each_seed,
    none_of,
    over_seeds,
    pooled,
    significant,
    together,
)


def differences(means, *, queries=400, deviation=0.1, measure="NDCG", against="old", arm="new"):
    """A row for every mean, each a seed of its own."""
    return Rows(
        {"kind": "difference", "arm": arm, "against": against, "measure": measure, "seed": seed, "value": mean}
        | {"deviation": deviation, "queries": queries}
        for seed, mean in enumerate(means)
    )


def test_pooled_is_the_t_test_of_all_queries_together():
    rng = np.random.default_rng(0)
    parts = [rng.normal(0.02, 0.1, size) for size in (30, 50, 20)]
    rows = Rows(
        {"seed": seed, "value": part.mean(), "deviation": part.std(ddof=1), "queries": len(part)}
        for seed, part in enumerate(parts)
    )
    found, whole = pooled(rows), np.concatenate(parts)
    expected = stats.ttest_1samp(whole, 0.0)
    assert found.mean == pytest.approx(whole.mean())
    assert found.error == pytest.approx(whole.std(ddof=1) / math.sqrt(len(whole)))
    assert found.p_value == pytest.approx(expected.pvalue)
    of_seeds = stats.ttest_1samp([part.mean() for part in parts], 0.0)
    assert found.p_of_seeds == pytest.approx(of_seeds.pvalue)
    assert (found.queries, found.seeds) == (100, 3)


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ([0.05, 0.04, 0.06], Verdict.AGREES),
        ([-0.05, -0.04, -0.06], Verdict.DIFFERS),
        ([0.001, -0.001, 0.002], Verdict.OPEN),
        ([0.2, -0.01, -0.01], Verdict.OPEN),  # significant, but one seed alone is up
    ],
)
def test_significant_needs_the_test_and_the_seeds(means, verdict):
    assert significant("", "new", "old", ["NDCG"]).judge(differences(means)).verdict is verdict


def test_significant_goes_by_most_measures_and_tolerates_no_contrary_one():
    up, flat, down = (differences([mean] * 3, measure=name) for name, mean in (("a", 0.05), ("b", 0.0), ("c", -0.05)))
    claim = significant("", "new", "old", ["a", "b"])
    assert claim.judge(Rows([*up, *flat])).verdict is Verdict.OPEN  # half is not most
    three = significant("", "new", "old", ["a", "b", "d"])
    also = differences([0.05] * 3, measure="d")
    assert three.judge(Rows([*up, *flat, *also])).verdict is Verdict.AGREES
    contrary = significant("", "new", "old", ["a", "d", "c"])
    assert contrary.judge(Rows([*up, *also, *down])).verdict is Verdict.OPEN


def test_what_was_not_run_cannot_be_told():
    for claim in (significant("", "new", "old", ["NDCG"]), alike("", "new", "old", ["NDCG"], margin=1.0)):
        assert claim.judge(Rows([])) == (Verdict.OPEN, "not run")


@pytest.mark.parametrize(
    ("mean", "queries", "verdict"),
    [
        (0.0001, 4000, Verdict.AGREES),
        (0.0001, 40, Verdict.OPEN),
        (0.05, 4000, Verdict.DIFFERS),
        (0.005, 40_000, Verdict.OPEN),
    ],
)
def test_alike_asks_for_enough_queries(mean, queries, verdict):
    claim = alike("", "new", "old", ["NDCG"], margin=0.01)
    assert claim.judge(differences([mean], queries=queries)).verdict is verdict


def test_best_of_needs_all_others_below():
    clear, open_, worse = (
        differences([mean] * 3, against=name) for name, mean in (("a", 0.1), ("b", 0.0), ("c", -0.1))
    )
    judge = best_of("", "new", ["a"], "NDCG").judge
    assert judge(clear).verdict is Verdict.AGREES
    assert best_of("", "new", ["a", "b"], "NDCG").judge(Rows([*clear, *open_])).verdict is Verdict.OPEN
    assert best_of("", "new", ["a", "c"], "NDCG").judge(Rows([*clear, *worse])).verdict is Verdict.DIFFERS


def numbers(*values):
    return Rows({"seed": seed, "value": value} for seed, value in enumerate(values))


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((1.0, 1.5), Verdict.AGREES),
        ((0.5, 2.5), Verdict.DIFFERS),
        ((1.0, 2.5), Verdict.OPEN),
        ((1.0, math.nan), Verdict.OPEN),
        ((), Verdict.OPEN),
    ],
)
def test_each_seed_must_lie_in_the_range(values, verdict):
    claim = each_seed("", lambda rows: rows.mean(), what="it", least=1.0, most=2.0)
    assert claim.judge(numbers(*values)).verdict is verdict


@pytest.mark.parametrize(
    ("values", "verdict"),
    [((0.1, 0.11, 0.12), Verdict.AGREES), ((-0.1, -0.11, -0.12), Verdict.DIFFERS), ((0.1, -0.1, 0.3), Verdict.OPEN)],
)
def test_over_seeds_goes_by_the_interval_of_the_mean(values, verdict):
    assert over_seeds("", lambda rows: rows.mean(), what="it").judge(numbers(*values)).verdict is verdict


@pytest.mark.parametrize(
    ("ascending", "trials", "verdict"),
    [
        ((0, 0), (59, 59), Verdict.AGREES),
        ((0, 0), (20, 20), Verdict.OPEN),  # none, of too few
        ((1, 0), (59, 59), Verdict.OPEN),  # one in a hundred is not excluded
        ((3, 0), (20, 20), Verdict.DIFFERS),
        ((1, 5), (59, 59), Verdict.DIFFERS),
    ],
)
def test_none_of_counts_all_seeds_together_and_goes_by_the_exact_bound(ascending, trials, verdict):
    rows = Rows({"seed": seed, "k": k, "n": n} for seed, (k, n) in enumerate(zip(ascending, trials, strict=True)))
    claim = none_of(
        "", lambda rows: (int(rows.values("k").sum()), int(rows.values("n").sum())), what="it", small=0.05, claimed=0.01
    )
    assert claim.judge(rows).verdict is verdict


@pytest.mark.parametrize(("found", "trials"), [(0, 59), (3, 354), (59, 59)])
def test_binomial_bounds_are_those_of_clopper_and_pearson(found, trials):
    interval = stats.binomtest(found, trials).proportion_ci(0.9, method="exact")  # 5 % on either side
    assert binomial_bounds(found, trials) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize(
    ("means", "queries", "verdict"),
    [
        ([0.0, 0.001, -0.001], 4000, Verdict.DIFFERS),  # nothing, closely measured
        ([0.0, 0.001, -0.001], 40, Verdict.OPEN),  # the interval reaches a third of what the paper found
        ([0.02, -0.01, -0.01], 4000, Verdict.OPEN),  # so does one seed
        ([0.005, 0.005, 0.005], 4000, Verdict.AGREES),  # little, but there
    ],
)
def test_a_difference_that_is_closely_measured_and_far_below_the_papers_differs(means, queries, verdict):
    rows = differences(means, queries=queries)
    assert significant("", "new", "old", ["NDCG"], paper={"NDCG": 0.03}).judge(rows).verdict is verdict
    if verdict is Verdict.DIFFERS:
        assert significant("", "new", "old", ["NDCG"]).judge(rows).verdict is Verdict.OPEN


def test_together_agrees_only_if_all_do():
    agrees, differs, open_ = Verdict
    assert together([agrees, agrees]) is agrees
    assert together([agrees, open_]) is open_
    assert together([agrees, open_, differs]) is differs
