"""Claims of single experiments: what their rules take for the papers' sentences."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.data.artificial.artificial import make_artificial
from rankforce.data.dataset import MAIN_LABEL
from rankforce.reproducing.boosted_objectives import PUBLISHED_TREES, schedules
from rankforce.reproducing.experiments.err_consistency import drops_in_training, err
from rankforce.reproducing.experiments.lambdarank_artificial import FROM_GRADE, LambdaRankArtificial, rows_by_grade
from rankforce.reproducing.experiments.lambdarank_small_data import closer, uniformly_better
from rankforce.reproducing.experiments.lambdarank_web import LARGER, LambdaRankWeb
from rankforce.reproducing.experiments.late_learning import EARLY, LATE, LateLearning
from rankforce.reproducing.experiments.mart_classification import BY_GAINS, MARTClassification
from rankforce.reproducing.experiments.martingale_edges import MartingaleEdges
from rankforce.reproducing.experiments.train_test_measures import narrowed
from rankforce.reproducing.experiments.xrank_forms import MAX_NDCG, TO_THE_END, XRankForms, theorems
from rankforce.reproducing.measuring import NDCGS
from rankforce.reproducing.rows import Rows
from rankforce.reproducing.rules import Verdict


@pytest.mark.parametrize("kind", ["linear", "exponential"])
@pytest.mark.parametrize("trees", [50, 100, 400])
def test_a_schedule_of_fewer_trees_reaches_1_after_the_same_share_of_them(kind, trees):
    def reached(schedule, count):
        return next((tree / count for tree in range(count) if schedule(tree) >= 1.0), 1.0)

    for here, paper in zip(schedules(kind, trees), schedules(kind, PUBLISHED_TREES), strict=True):
        assert reached(here, trees) == pytest.approx(reached(paper, PUBLISHED_TREES), abs=1.01 / trees)


def gaps(*of_seeds):
    return Rows(
        {
            "kind": "difference",
            "arm": "NDCG",
            "against": "MRR",
            "measure": "MRR",
            "seed": seed,
            "part": part,
            "value": gap,
        }
        for seed, both in enumerate(of_seeds)
        for part, gap in zip(("smaller", "larger"), both, strict=True)
    )


@pytest.mark.parametrize(
    ("of_seeds", "verdict"),
    [
        (((0.03, 0.01), (0.031, 0.01), (0.032, 0.01)), Verdict.AGREES),
        (((0.01, 0.03), (0.01, 0.031), (0.01, 0.032)), Verdict.DIFFERS),
        (((0.01, -0.03), (0.01, -0.031), (0.01, -0.032)), Verdict.DIFFERS),  # it fell through 0, and grew
        (((-0.001, -0.03), (0.01, -0.03), (0.01, -0.03)), Verdict.OPEN),  # no gap that could narrow
    ],
)
def test_a_gap_narrows_if_it_was_there_and_its_size_falls(of_seeds, verdict):
    assert narrowed("MRR").judge(gaps(*of_seeds)).verdict is verdict


def test_late_learning_is_judged_by_the_tenth_iteration_and_by_those_after_a_hundred():
    statements = {claim.statement: claim for claim in LateLearning().claims()}
    early = statements["over 40 % have grade 3 or 4 within the first few iterations"]
    late = statements["after 100 iterations 5 to 15 % of the ranks of the whole list change"]
    row = {"kind": "top 3", "arm": "grade 3", "seed": 0}
    other = {"kind": "top 3", "arm": "grade 4", "seed": 0, "value": 0.0, "iteration": EARLY}
    rows = Rows([other, {**row, "iteration": EARLY, "value": 0.3}, {**row, "iteration": 90, "value": 0.9}])
    assert early.judge(rows).verdict is Verdict.DIFFERS
    changes = {"kind": "changes", "arm": "whole list", "seed": 0}
    many = [{**changes, "iteration": number, "value": 0.1 if number > LATE else 0.5} for number in range(1, 120)]
    assert late.judge(Rows(many)).verdict is Verdict.AGREES
    assert late.judge(Rows(many[:50])).verdict is Verdict.OPEN


@pytest.mark.parametrize(("bound", "verdict"), [(1.0, Verdict.OPEN), (0.9, Verdict.AGREES), (0.1, Verdict.DIFFERS)])
def test_a_bound_of_1_says_nothing(bound, verdict):
    rows = Rows(
        {"seed": 0, "arm": arm, "value": value}
        for arm, value in (("bound by least edges", bound), ("misordered pairs", 0.3))
    )
    for claim in MartingaleEdges().claims()[:2]:  # of the fewest levels, and of the most
        assert claim.judge(rows).verdict is verdict


@pytest.mark.parametrize(("higher", "verdict"), [(10, Verdict.AGREES), (7, Verdict.OPEN), (4, Verdict.DIFFERS)])
def test_means_are_uniformly_better_if_they_are_so_at_all_cut_offs(higher, verdict):
    rows = Rows(
        {"kind": "difference", "part": "generated", "seed": 0, "measure": measure, "queries": 100, "deviation": 0.1}
        | {"layers": "linear", "value": 0.01 if place < higher else -0.01}
        for place, measure in enumerate(NDCGS)
    )
    assert uniformly_better("generated").judge(rows).verdict is verdict


@pytest.mark.parametrize(("nearer", "verdict"), [(8, Verdict.AGREES), (5, Verdict.OPEN), (2, Verdict.DIFFERS)])
def test_means_of_two_layers_are_closer_by_their_distance_whichever_is_higher(nearer, verdict):
    row = {"kind": "difference", "part": "generated", "seed": 0, "queries": 100, "deviation": 0.1}
    rows = Rows(
        {**row, "measure": measure, "layers": layers}
        | {"value": 0.01 if layers == "linear" else -0.005 if place < nearer else -0.02}
        for layers in ("linear", "two layers")
        for place, measure in enumerate(NDCGS)
    )
    assert closer("generated").judge(rows).verdict is verdict
    assert closer("MQ2008").judge(rows).verdict is Verdict.OPEN


def difference_rows(arm, against, measures, value, deviation=0.1, queries=2000, **columns):
    return [
        {"kind": "difference", "arm": arm, "against": against, "measure": measure, "value": value, "seed": seed}
        | {"deviation": deviation, "queries": queries, **columns}
        for seed in range(3)
        for measure in measures
    ]


def claim_of(experiment, words):
    (found,) = (claim for claim in experiment.claims() if words in claim.statement)
    return found


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.001, Verdict.AGREES), (-0.03, Verdict.DIFFERS), (0.006, Verdict.OPEN)]
)
def test_linear_lambdarank_lies_on_top_of_two_layer_ranknet_within_a_hundredth_at_the_larger_cut_offs(value, verdict):
    claim = claim_of(LambdaRankWeb(), "lies on top")
    assert LARGER == ("NDCG@6", "NDCG@7", "NDCG@8", "NDCG@9", "NDCG@10")
    pair = ("LambdaRank, linear", "RankNet, two layers")
    far = difference_rows(*pair, NDCGS[:5], 0.05)  # the smaller ones are not asked
    assert claim.judge(Rows(far + difference_rows(*pair, LARGER, value))).verdict is verdict


def test_a_gap_by_grade_counts_documents_from_that_grade_on_and_compares_the_same_queries():
    data = make_artificial(60, 20, 4, seed=0)
    labels, ids = np.asarray(data.labels[MAIN_LABEL]), np.arange(data.n_documents)
    best, worst, only_top = labels + 0.0, -labels, np.where(labels == 4, 1.0, -1e-6 * ids)
    named = ("LambdaRank, linear", "RankNet, linear", "LambdaRank, two layers", "RankNet, two layers")
    rows = Rows(
        {"seed": 0, **row} for row in rows_by_grade(dict(zip(named, (best, worst, only_top, worst), strict=True)), data)
    )
    queries = {row["measure"]: row["queries"] for row in rows.where(kind="mean", arm="gap, linear")}
    by_query = np.split(labels, np.cumsum(data.query_sizes)[:-1])
    assert queries == {
        level: sum((one >= least).any() for one in by_query) for least, level in enumerate(FROM_GRADE, start=1)
    }
    (compared,) = rows.where(kind="difference", arm="gap, two layers, from grade 4 on")
    assert compared["queries"] == queries["from grade 4 on"]
    assert compared["value"] > 0.0  # it leads at grade 4, and less where all grades count
    statements = [claim.statement for claim in LambdaRankArtificial().claims()]
    assert statements[2:] == [
        f"the gap increases at higher relevance levels, {one}" for one in ("linear", "two layers")
    ]
    assert claim_of(LambdaRankArtificial(), "levels, two layers").judge(rows).verdict is Verdict.AGREES


def test_the_expected_grade_is_compared_with_the_expected_gain():
    claim = claim_of(MARTClassification(), "expected gain")
    rows = difference_rows("classification", BY_GAINS, NDCGS, 0.01)
    assert claim.judge(Rows(rows)).verdict is Verdict.AGREES
    assert claim.judge(Rows({**row, "value": -row["value"]} for row in rows)).verdict is Verdict.DIFFERS


def test_the_swap_of_training_is_the_change_of_err():
    grades = np.array([0, 4, 2, 0, 3, 1, 4])
    stops = (2.0**grades - 1.0) / 16.0
    drops = drops_in_training(grades)
    for i in range(len(grades)):
        for j in range(len(grades)):
            swapped = stops.copy()
            swapped[[i, j]] = swapped[[j, i]]
            assert drops[i, j] == pytest.approx(err(stops) - err(swapped), abs=1e-14)


def ended(simple, steps, change, by_ndcg, distinct=1.0):
    row = {"part": TO_THE_END, "seed": 0, "kind": "mean"}
    values = {
        ("XRank, simple", "training NDCG"): simple, ("XRank, simple", "steps per document"): steps,
        (MAX_NDCG[0], "smallest change"): change, (MAX_NDCG[0], "training NDCG"): by_ndcg,
    }  # fmt: skip
    rows = [{**row, "arm": arm, "measure": measure, "value": value} for (arm, measure), value in values.items()]
    return Rows([*rows, {**row, "kind": "distinct", "arm": "documents", "value": distinct}])


def test_theorems_of_xrank_are_judged_where_training_ended_by_itself():
    def verdicts(*numbers, **more):
        return [claim.judge(ended(*numbers, **more)).verdict for claim in theorems()]

    agrees, differs, open_ = Verdict
    assert verdicts(1.0, 0.9, 0.0, 0.85) == [agrees] * 4
    assert verdicts(0.99, 2.0, -0.001, 1.0) == [differs] * 4
    assert verdicts(0.99, 0.9, 0.0, 0.85, distinct=0.9)[0] is open_  # documents that are alike cannot be told apart


def test_rebalancing_is_judged_by_the_interval_of_what_training_gains():
    claim = claim_of(XRankForms(), "rebalancing reduces")

    def rows(*gains):
        return Rows(
            {"kind": "training", "part": "artificial", "seed": seed, "arm": arm, "value": value}
            for seed, gain in enumerate(gains)
            for arm, value in (("XRank, full", 0.8), ("XRank, rebalancing", 0.8 + gain))
        )

    assert claim.judge(rows(0.01, 0.011, 0.012)).verdict is Verdict.AGREES
    assert claim.judge(rows(-0.01, -0.011, -0.012)).verdict is Verdict.DIFFERS
    assert claim.judge(rows(0.0, 0.0, 0.01)).verdict is Verdict.OPEN
