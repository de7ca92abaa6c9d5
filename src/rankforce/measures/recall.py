"""Recall: how much of what is relevant is in the top."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.measures.hits import all_hits
from rankforce.measures.measure import BinaryMeasure
from rankforce.measures.rank_weighted import RankWeighted


class Recall(RankWeighted, BinaryMeasure):
    """R@k: relevant documents among the first k, divided by all relevant documents of the query."""

    ALIASES: ClassVar[tuple[str, ...]] = ("R", "recall")

    cutoff: int = 10

    def normaliser(self: Any, ideal: Any) -> Any:
        return all_hits(ideal)

    def weight_at(self: Any, r: Any, normaliser: Any) -> Any:
        return 1.0 if r < self.cutoff else 0.0

    def denominator(self: Any, size: Any, normaliser: Any) -> Any:
        return normaliser
