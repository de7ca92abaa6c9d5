"""What measures have in common that give every rank a weight: NDCG, Precision, Recall, WTA, RBP and their like."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.measures.measure import Measure


class RankWeighted(Measure):
    """Σ_r worth(r)·weight(r) / denominator: a document counts its worth times the weight of its rank.

    Subclasses give ``weight_at(r, normaliser)``, falling with the rank r (from 0), and
    ``denominator(size, normaliser)``, with the length of the list; ``depth(size)`` may say from which rank on the
    weight is 0. The sum is divided once, so that 3 hits of 10 are 0.3 to the last bit.

    Two documents that swap ranks change the value by (worth_a − worth_b)·(weight_b − weight_a) / denominator.
    Expected over ties: each document of a block of equal scores counts the mean weight of the block's ranks.
    """

    COLUMNS: ClassVar[int] = 2

    def depth(self: Any, size: Any) -> Any:
        return size

    def value(self: Any, ranked: Any, normaliser: Any) -> Any:
        total = 0.0
        for r in range(self.depth(ranked.shape[0])):
            total += ranked[r] * self.weight_at(r, normaliser)
        return total / self.denominator(ranked.shape[0], normaliser)

    def prepare(self: Any, ranked: Any, normaliser: Any, columns: Any) -> Any:
        denominator = self.denominator(ranked.shape[0], normaliser)
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = self.weight_at(r, normaliser) / denominator

    def swap_delta(self: Any, a: Any, b: Any) -> Any:
        return (a[0] - b[0]) * (b[1] - a[1])

    def prepare_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any) -> Any:
        denominator = self.denominator(ranked.shape[0], normaliser)
        for r in range(ranked.shape[0]):
            running[r] = self.weight_at(r, normaliser) / denominator

    def swap_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any, r: Any) -> Any:
        return (ranked[r] - ranked[r + 1]) * (running[r + 1] - running[r])

    def expected_value(self: Any, ranked: Any, tie_ends: Any, normaliser: Any) -> Any:
        total = 0.0
        start = 0
        while start < self.depth(ranked.shape[0]):
            end = tie_ends[start]
            worth = 0.0
            weight = 0.0
            for r in range(start, end):
                worth += ranked[r]
                weight += self.weight_at(r, normaliser)
            total += worth * weight / (end - start)
            start = end
        return total / self.denominator(ranked.shape[0], normaliser)
