"""Rank-biased precision: a reader who goes on with a fixed probability."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from rankforce.errors import MeasureError
from rankforce.measures.hits import any_hit
from rankforce.measures.measure import BinaryMeasure
from rankforce.measures.rank_weighted import RankWeighted


class RBP(RankWeighted, BinaryMeasure):
    """(1 − p) Σ_{r≤k} rel(r)·p^{r−1}, ranks from 1 (Moffat and Zobel, 2008).

    ``persistence`` is p, the probability that a reader who has seen one document looks at the next. The ideal value
    depends on the number R of relevant documents, 1 − p^R, and is not divided out.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("rbp",)

    cutoff: int | None = None
    persistence: float = dataclasses.field(default=0.8, kw_only=True)

    def check(self) -> None:
        super().check()
        if not 0.0 < self.persistence < 1.0:
            raise MeasureError(f"RBP: persistence must lie between 0 and 1 (exclusive), not {self.persistence:g}")

    def normaliser(self: Any, ideal: Any) -> Any:
        return any_hit(ideal)

    def weight_at(self: Any, r: Any, normaliser: Any) -> Any:
        return (1.0 - self.persistence) * self.persistence**r if r < self.cutoff else 0.0

    def denominator(self: Any, size: Any, normaliser: Any) -> Any:
        return 1.0
