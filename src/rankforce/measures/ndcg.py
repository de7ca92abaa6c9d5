"""Normalised discounted cumulative gain."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankforce.compiling.kernel_values import choice
from rankforce.measures.gains import Gain, gains, normalised_gain
from rankforce.measures.measure import Measure

# 1/log2(1 + rank) for the ranks that lists have: a logarithm takes as long as ten pairs of documents.
TABLED = 4096
LOG_DISCOUNTS = 1.0 / np.log2(np.arange(TABLED) + 2.0)


class NDCG(Measure):
    """DCG@T divided by the best possible DCG@T; DCG@T = Σ_{r≤T} gain / log2(1 + r), ranks from 1.

    The gain is 2^label − 1 (``"exponential"``), the label itself (``"linear"``), a table, or a function.
    ``discount="letor"`` weighs ranks 1 and 2 alike and rank r by 1/log2(r), as the LETOR scripts do;
    ``"reciprocal"`` weighs rank r by 1/r.

    Below the cut-off a document counts nothing: a swap across the cut changes the value by the whole discount.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("nDCG", "ndcg")
    COLUMNS: ClassVar[int] = 2

    cutoff: int | None = None
    gain: Gain = dataclasses.field(default="exponential", kw_only=True)
    discount: str = choice("log2", "letor", "reciprocal")
    normalised: int = dataclasses.field(default=1, init=False, repr=False)

    def worth(self, labels: np.ndarray) -> np.ndarray:
        return gains(labels, self.gain, str(self))

    def check(self) -> None:
        super().check()
        object.__setattr__(self, "gain", normalised_gain(self.gain))

    def discount_at(self: Any, r: Any) -> Any:
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
            best += ideal[r] * self.discount_at(r)
        if best > 0.0 and self.normalised == 0:
            return 1.0
        return best

    def value(self: Any, ranked: Any, normaliser: Any) -> Any:
        total = 0.0
        for r in range(min(ranked.shape[0], self.cutoff)):
            total += ranked[r] * self.discount_at(r)
        return total / normaliser

    def prepare(self: Any, ranked: Any, normaliser: Any, columns: Any) -> Any:
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = self.discount_at(r) / normaliser

    def swap_delta(self: Any, a: Any, b: Any) -> Any:
        return (a[0] - b[0]) * (b[1] - a[1])

    def prepare_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any) -> Any:
        for r in range(ranked.shape[0]):
            running[r] = self.discount_at(r) / normaliser

    def swap_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any, r: Any) -> Any:
        return (ranked[r] - ranked[r + 1]) * (running[r + 1] - running[r])

    def expected_value(self: Any, ranked: Any, tie_ends: Any, normaliser: Any) -> Any:
        total = 0.0
        start = 0
        while start < min(ranked.shape[0], self.cutoff):
            end = tie_ends[start]
            worth = 0.0
            discounts = 0.0
            for r in range(start, end):
                worth += ranked[r]
                discounts += self.discount_at(r)
            total += worth * discounts / (end - start)
            start = end
        return total / normaliser
