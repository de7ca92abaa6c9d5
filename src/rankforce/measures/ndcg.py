"""Normalised discounted cumulative gain."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankforce.compiling.kernel_values import choice
from rankforce.measures.gains import Gain, gains, normalised_gain
from rankforce.measures.rank_weighted import RankWeighted

# 1/log2(1 + rank) for the ranks that lists have: a logarithm takes as long as ten pairs of documents.
TABLED = 4096
LOG_DISCOUNTS = 1.0 / np.log2(np.arange(TABLED) + 2.0)


class NDCG(RankWeighted):
    """DCG@T divided by the best possible DCG@T; DCG@T = Σ_{r≤T} gain / log2(1 + r), ranks from 1.

    The gain is 2^label − 1 (``"exponential"``), the label itself (``"linear"``), a table, or a function.
    ``discount="letor"`` weighs ranks 1 and 2 alike and rank r by 1/log2(r), as the LETOR scripts do;
    ``"reciprocal"`` weighs rank r by 1/r.

    Below the cut-off a document counts nothing: a swap across the cut changes the value by the whole discount.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("nDCG", "ndcg")

    cutoff: int | None = None
    gain: Gain = dataclasses.field(default="exponential", kw_only=True)
    discount: str = choice("log2", "letor", "reciprocal")
    normalised: int = dataclasses.field(default=1, init=False, repr=False)

    def worth(self, labels: np.ndarray) -> np.ndarray:
        return gains(labels, self.gain, str(self))

    def check(self) -> None:
        super().check()
        object.__setattr__(self, "gain", normalised_gain(self.gain))

    def weight_at(self: Any, r: Any, normaliser: Any) -> Any:
        if r >= self.cutoff:
            return 0.0
        if self.discount == 0:
            return LOG_DISCOUNTS[r] if r < TABLED else 1.0 / np.log2(r + 2.0)
        if self.discount == 1:
            return 1.0 / np.log2(max(r, 1) + 1.0)
        return 1.0 / (r + 1.0)

    def normaliser(self: Any, ideal: Any) -> Any:
        best = 0.0
        for r in range(ideal.shape[0]):
            best += ideal[r] * self.weight_at(r, 1.0)
        if best > 0.0 and self.normalised == 0:
            return 1.0
        return best

    def depth(self: Any, size: Any) -> Any:
        return min(size, self.cutoff)

    def denominator(self: Any, size: Any, normaliser: Any) -> Any:
        return normaliser
