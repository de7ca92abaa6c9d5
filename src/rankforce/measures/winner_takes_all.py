"""Winner takes all: only the top document counts."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.measures.hits import any_hit
from rankforce.measures.measure import BinaryMeasure
from rankforce.measures.rank_weighted import RankWeighted


class WTA(RankWeighted, BinaryMeasure):
    """1 if the top document is relevant, else 0; one minus it is the cost of the same name."""

    ALIASES: ClassVar[tuple[str, ...]] = ("wta",)

    def normaliser(self: Any, ideal: Any) -> Any:
        return any_hit(ideal)

    def weight_at(self: Any, r: Any, normaliser: Any) -> Any:
        return 1.0 if r == 0 else 0.0

    def denominator(self: Any, size: Any, normaliser: Any) -> Any:
        return 1.0
