"""Claims of single experiments: what their rules take for the papers' sentences."""

from __future__ import annotations

import pytest

from rankforce.reproducing.boosted_objectives import PUBLISHED_TREES, schedules
from rankforce.reproducing.experiments.lambdarank_small_data import uniformly_better
from rankforce.reproducing.experiments.late_learning import EARLY, LATE, LateLearning
from rankforce.reproducing.experiments.martingale_edges import MartingaleEdges
from rankforce.reproducing.experiments.train_test_measures import narrowed
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
        | {"value": 0.01 if place < higher else -0.01}
        for place, measure in enumerate(NDCGS)
    )
    assert uniformly_better("generated").judge(rows).verdict is verdict
