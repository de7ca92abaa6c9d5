"""How much of the top has been labelled at all."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.errors import MeasureError
from rankforce.measures.rank_weighted import RankWeighted


class Judged(RankWeighted):
    """Labelled documents among the first k, divided by min(k, documents of the query).

    Says how far the other measures can be trusted: they take unlabelled documents as not relevant. No query is
    blank: one without labels has the value 0.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("judged",)

    cutoff: int | None = None

    @property
    def leaves_out_unlabelled(self) -> bool:
        return False

    def check(self) -> None:
        super().check()
        if self.judged_only:
            raise MeasureError("Judged counts unlabelled documents: judged_only would make it 1 everywhere")

    def worth(self, labels: np.ndarray) -> np.ndarray:
        return (~np.isnan(labels)).astype(dtypes.WORTH)

    def normaliser(self: Any, ideal: Any) -> Any:
        return 1.0

    def weight_at(self: Any, r: Any, normaliser: Any) -> Any:
        return 1.0 if r < self.cutoff else 0.0

    def denominator(self: Any, size: Any, normaliser: Any) -> Any:
        return float(min(size, self.cutoff))
