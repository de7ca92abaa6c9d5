"""Precision: how much of the top is relevant."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.compiling.kernel_values import choice
from rankforce.measures.hits import any_hit
from rankforce.measures.measure import BinaryMeasure
from rankforce.measures.rank_weighted import RankWeighted


class Precision(RankWeighted, BinaryMeasure):
    """P@k: relevant documents among the first k, divided by k, also where the list is shorter.

    ``divisor="list"`` divides by min(k, documents of the query), as XGBoost does.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("P", "precision")

    cutoff: int = 10
    divisor: str = choice("cutoff", "list")

    def normaliser(self: Any, ideal: Any) -> Any:
        return any_hit(ideal)

    def weight_at(self: Any, r: Any, normaliser: Any) -> Any:
        return 1.0 if r < self.cutoff else 0.0

    def denominator(self: Any, size: Any, normaliser: Any) -> Any:
        return float(min(size, self.cutoff) if self.divisor == 1 else self.cutoff)
