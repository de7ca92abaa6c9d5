"""Probabilities of pairs that fit together, and what RankNet's cost makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.preferences import consistent_posteriors
from rankforce.reproducing.drawing import curves, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import WEB_SEARCH
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed

ORDER = 2


class TargetPosteriors(Experiment):
    name = "target-posteriors"
    paper = WEB_SEARCH
    place = "slides Probabilistic Ranking Cost Fn. and Consistency Requirements"
    title = "Consistency of target posteriors, and cost curves"
    found = (
        "P(i ▷ k) = P² / (1 + 2P² − 2P) where P(i ▷ j) = P(j ▷ k) = P: a half stays a half, confidence builds, and "
        "along a chain posteriors above a half rise strictly, those below fall."
    )
    data = "none: formulas, against what consistent_posteriors makes of a chain of documents"
    paper_size = {"chain": "n documents"}
    figsize = (7.5, 3.2)
    sizes = {
        name: Size(seeds=1, minutes=0.01, points=points, chain=6)
        for name, points in (("tiny", 11), ("quick", 41), ("full", 101))
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        rows: list[Row] = []
        for chance in np.linspace(0.02, 0.98, size.points):
            found = along_chain(float(chance), size.chain)
            for step, value in enumerate(found, start=1):
                rows.append({"kind": "posterior", "arm": f"{step} apart", "chance": float(chance), "value": value})
        for target in (0.0, 0.5, 1.0):
            for gap in np.linspace(-5, 5, size.points):
                cost = float(np.logaddexp(0.0, gap) - target * gap)
                rows.append({"kind": "cost", "arm": f"target {target:g}", "gap": float(gap), "value": cost})
        return rows

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed("two steps follow the formula", formula_error, what="largest difference", most=1e-9),
            each_seed("along a chain posteriors move away from a half, strictly", monotone,
                      what="smallest step away from a half", least=1e-12),
            each_seed("a half stays a half", halves, what="largest distance from a half", most=1e-12),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        panel(left, "posterior of documents that are n apart", "P of neighbours", "P")
        curves(left, rows.where(kind="posterior"), "chance", "arm", only=["1 apart", "2 apart", "5 apart"], marker="")
        panel(right, "cost", "s_i − s_j", "cross entropy")
        curves(right, rows.where(kind="cost"), "gap", "arm", marker="")
        legend(left)
        legend(right)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {"chain": f"{size.chain} documents"}

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        return ()


def along_chain(chance: float, documents: int) -> list[float]:
    """The posterior of the first document against the second, third, ... of a chain whose neighbours have this one."""
    return [float(value) for value in consistent_posteriors([chance] * (documents - 1))[0, 1:]]


def formula_error(rows: Rows) -> float:
    posteriors = rows.where(kind="posterior")
    errors = []
    for chance in posteriors.distinct("chance"):
        wanted = chance**2 / (1 + 2 * chance**2 - 2 * chance)
        errors.append(abs(posteriors.mean(arm="2 apart", chance=chance) - wanted))
    return max(errors)


def monotone(rows: Rows) -> float:
    posteriors = rows.where(kind="posterior")
    steps = []
    for chance in posteriors.distinct("chance"):
        if abs(chance - 0.5) > 1e-6:
            values = posteriors.values(chance=chance)
            steps.append(np.diff(values).min() if chance > 0.5 else -np.diff(values).max())
    return float(min(steps))


def halves(rows: Rows) -> float:
    return float(np.abs(np.array(along_chain(0.5, 6)) - 0.5).max())
