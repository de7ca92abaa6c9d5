"""The forces of two costs against the distance of scores, and the schedules that lead from one to the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.lambdas.pairwise import PairwiseLambdaFunction
from rankforce.lambdas.ranknet import RankNetCost
from rankforce.lambdas.sigmoid import SigmoidCost
from rankforce.reproducing.drawing import curves, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import MULTIPLE_OBJECTIVES
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed
from rankforce.schedules import Exponential, Linear

ORDER = 3


class ObjectiveShapes(Experiment):
    name = "objective-shapes"
    paper = MULTIPLE_OBJECTIVES
    place = "Figures 5 and 6"
    title = "Forces of RankNet's and of the sigmoid cost, and schedules"
    found = (
        "RankNet's force tends to 1 for pairs that are far out of order; that of the sigmoid cost falls to 0 there, "
        "too. Shares of the second objective rise linearly, or exponentially: slowly at first."
    )
    data = "none: formulas"
    paper_size = {"iterations": "1000"}
    figsize = (7.0, 3.0)
    revised = (
        "a claim that the exponential schedule lies below the linear one at iteration 20 was ours and wrong by the "
        "formulas (0.123 against 0.12); it now says that the exponential one is slow at first."
    )
    sizes = {
        name: Size(seeds=1, minutes=0.01, points=points, iterations=1000)
        for name, points in (("tiny", 21), ("quick", 81), ("full", 201))
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        rows: list[Row] = []
        functions: dict[str, PairwiseLambdaFunction] = {"RankNet": RankNetCost(), "sigmoid": SigmoidCost(mu=0.0)}
        for name, function in functions.items():
            for gap in np.linspace(-10, 10, size.points):
                rows.append({"kind": "force", "arm": name, "gap": float(gap), "value": force_at(function, float(gap))})
        for schedule in (Linear(0.1, 0.001), Linear(0.1, 0.01), Exponential(0.1, 100.0), Exponential(0.1, 250.0)):
            name = f"{type(schedule).__name__.lower()}, η = {schedule.rate:g}"
            for m in range(0, size.iterations + 1, 20):
                rows.append({"kind": "share", "arm": name, "iteration": m, "value": schedule(m)})
        return rows

    def claims(self) -> Sequence[Claim]:
        def force(arm: str, gap: float) -> Any:
            return lambda rows: rows.mean(kind="force", arm=arm, gap=gap)

        return [
            each_seed("RankNet's force tends to 1 for lost causes", force("RankNet", -10.0),
                      what="force at a gap of −10", least=0.99, most=1.0),
            each_seed("the sigmoid cost gives up on them", force("sigmoid", -10.0),
                      what="force at a gap of −10", most=0.01),
            each_seed("both let go of pairs that are well apart",
                      lambda rows: max(rows.mean(arm=arm, gap=10.0) for arm in ("RankNet", "sigmoid")),
                      what="larger force at a gap of 10", most=0.01),
            each_seed("the exponential schedule is slow at first", quickening,
                      what="what it adds from iteration 20 to 40 less what it adds from 0 to 20", least=1e-9),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        curves(
            panel(left, "force without ΔNDCG", "s_j − s_k", "force"), rows.where(kind="force"), "gap", "arm", marker=""
        )
        curves(panel(right, "share of the second objective", "iteration"), rows.where(kind="share"), "iteration", "arm",
               marker="")  # fmt: skip
        legend(left)
        legend(right)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {"iterations": str(size.iterations)}

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        return ()


def force_at(function: PairwiseLambdaFunction, gap: float) -> float:
    """On the better document of two that stand ``gap`` apart, in the wrong order if it is negative, with |ΔZ| = 1."""
    any_function: Any = function
    force, _ = any_function.pair_of_gap(gap, 1.0, 1.0)
    return float(force)


def quickening(rows: Rows) -> float:
    first, second, third = (rows.mean(kind="share", arm="exponential, η = 100", iteration=m) for m in (0, 20, 40))
    return (third - second) - (second - first)
