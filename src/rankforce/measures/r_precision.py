"""R-precision: precision at the number of relevant documents."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.measures.hits import all_hits
from rankforce.measures.measure import BinaryMeasure
from rankforce.measures.rank_weighted import RankWeighted


class RPrecision(RankWeighted, BinaryMeasure):
    """Relevant documents among the first R, divided by R, with R all relevant documents of the query.

    Precision and recall meet there, and every query can reach 1.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("Rprec", "RPrec", "rprecision")

    def normaliser(self: Any, ideal: Any) -> Any:
        return all_hits(ideal)

    def weight_at(self: Any, r: Any, normaliser: Any) -> Any:
        return 1.0 if r < normaliser else 0.0

    def denominator(self: Any, size: Any, normaliser: Any) -> Any:
        return normaliser
