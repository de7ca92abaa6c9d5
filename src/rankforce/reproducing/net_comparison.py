"""RankNet against LambdaRank: one and two layers, the rate and the epoch chosen on validation NDCG@10."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rankforce.data.dataset import Dataset
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
LIKE_WITH_LIKE = [(f"LambdaRank, {layers}", f"RankNet, {layers}") for layers in HIDDEN]


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

    across: ClassVar[Sequence[tuple[str, str]]] = ()  # pairs of other layers that are compared, too

    @abc.abstractmethod
    def data_of(self, seed: int, size: Size) -> Parts:
        """Training, validation and test queries."""

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = self.data_of(seed, size)
        rankers = {
            f"{name}, {layers}": ranker
            for layers, hidden in HIDDEN.items()
            for name, ranker in fitted_nets(data, hidden, size, seed).items()
        }
        return self.rows_of(rankers, data.test)

    def rows_of(self, rankers: Mapping[str, Any], test: Dataset) -> list[Row]:
        """What the four nets are worth on test queries."""
        return measured(rankers, test, NDCGS, [*LIKE_WITH_LIKE, *self.across])

    def claims(self) -> Sequence[Claim]:
        return [
            significant(f"LambdaRank is better than RankNet, {layers}", new, old, NDCGS)
            for layers, (new, old) in zip(HIDDEN, LIKE_WITH_LIKE, strict=True)
        ]

    def draw(self, rows: Rows, figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        arms = [arm for pair in LIKE_WITH_LIKE for arm in pair]
        cutoff_curves(panel(left, "test NDCG, mean over seeds", "cut-off", "NDCG"), rows, arms)
        pairs = [*LIKE_WITH_LIKE, *self.across]
        difference_bars(panel(right, "paired differences, 95 %", "cut-off", "NDCG"), rows, pairs, NDCGS)
        legend(left)
        legend(right, fontsize=6.5)
