"""RankNet against LambdaRank: one and two layers, the rate and the epoch chosen on validation NDCG@10."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from rankforce.rankers.lambdarank import LambdaRank
from rankforce.rankers.ranknet import RankNet
from rankforce.reproducing.data_sets import Parts
from rankforce.reproducing.drawing import cutoff_curves, difference_bars, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import NDCGS, measured
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, significant

HIDDEN = {"linear": 0, "two layers": 10}
PAIR = ("LambdaRank", "RankNet")


def fitted_nets(parts: Parts, hidden: int, size: Size, seed: int) -> dict[str, Any]:
    """Both rankers. With a preset they are trained as published; else by Adam, whose epochs go further."""
    common: dict[str, Any] = {
        "hidden": hidden, "epochs": size.epochs, "validation_measure": "NDCG@10", "seed": seed, "progress": False,
        "preset": size.preset, "learning_rate": None if size.preset else list(size.rates),
    }  # fmt: skip
    rankers: dict[str, Any] = {"RankNet": RankNet(**common), "LambdaRank": LambdaRank("NDCG", **common)}
    return {name: ranker.fit(parts.train, validation=parts.valid) for name, ranker in rankers.items()}


class NetComparison(Experiment):
    """What figures 2 (left) and 3 of the paper have in common."""

    figsize = (8.0, 3.4)
    remarks = (
        "the quick form trains by Adam, whose epochs go further than plain gradient steps; the full form trains as "
        'published (preset="2006").'
    )

    @abc.abstractmethod
    def data_of(self, seed: int, size: Size) -> Parts:
        """Training, validation and test queries."""

    def parts(self, size: Size) -> Sequence[str]:
        return tuple(HIDDEN)

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = self.data_of(seed, size)
        fitted = fitted_nets(data, HIDDEN[part], size, seed)
        named = {f"{name}, {part}": ranker for name, ranker in fitted.items()}
        new, old = (f"{name}, {part}" for name in PAIR)
        return measured(named, data.test, NDCGS, [(new, old)], layers=part)

    def claims(self) -> Sequence[Claim]:
        return [
            significant(f"LambdaRank is better than RankNet, {part}", f"LambdaRank, {part}", f"RankNet, {part}", NDCGS)
            for part in HIDDEN
        ]

    def draw(self, rows: Rows, figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        arms = [f"{name}, {part}" for part in HIDDEN for name in PAIR]
        cutoff_curves(panel(left, "test NDCG, mean over seeds", "cut-off", "NDCG"), rows, arms)
        pairs = [tuple(f"{name}, {part}" for name in PAIR) for part in HIDDEN]
        difference_bars(panel(right, "paired differences, 95 %", "cut-off", "NDCG"), rows, pairs, NDCGS)  # type: ignore[arg-type]
        legend(left)
        legend(right, fontsize=6.5)
