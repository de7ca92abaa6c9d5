"""Mean reciprocal rank."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.compiling.kernel_values import choice
from rankforce.measures.hits import any_hit, write_hits_above
from rankforce.measures.measure import BinaryMeasure


class MRR(BinaryMeasure):
    """1 / rank of the first relevant document, 0 if that is below the cut-off; its mean is MRR.

    ``swaps="upward"`` lets only swaps count that raise the value: a relevant document that rises above the first
    one. Under ``"all"``, the true change, the first one also resists falling. The value is the same, and
    so are the forces of listwise λ-functions, which follow it.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("RR", "mrr", "rr")
    COLUMNS: ClassVar[int] = 3

    cutoff: int | None = None
    swaps: str = choice("all", "upward")

    def normaliser(self: Any, ideal: Any) -> Any:
        return any_hit(ideal)

    def value(self: Any, ranked: Any, normaliser: Any) -> Any:
        for r in range(min(ranked.shape[0], self.cutoff)):
            if ranked[r] > 0.0:
                return 1.0 / (r + 1.0)
        return 0.0

    def prepare(self: Any, ranked: Any, normaliser: Any, columns: Any) -> Any:
        # columns[2] is the value of the ranking if this document were not relevant: 1/rank of the second relevant
        # document for the first one, of the first one for all others. A relevant document at rank r makes it
        # max(1/r, that), here and wherever it moves.
        first = ranked.shape[0]
        second = ranked.shape[0]
        for r in range(ranked.shape[0] - 1, -1, -1):
            if ranked[r] > 0.0:
                second = first
                first = r
        of_first = 1.0 / (first + 1.0) if first < min(ranked.shape[0], self.cutoff) else 0.0
        of_second = 1.0 / (second + 1.0) if second < min(ranked.shape[0], self.cutoff) else 0.0
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = 1.0 / (r + 1.0) if r < self.cutoff else 0.0
            columns[2, r] = of_second if r == first else of_first

    def swap_delta(self: Any, a: Any, b: Any) -> Any:
        a_moves = a[0] > b[0]  # a alone is relevant; otherwise b is, or nothing changes
        without = a[2] if a_moves else b[2]
        here = a[1] if a_moves else b[1]
        there = b[1] if a_moves else a[1]
        change = (there if there > without else without) - (here if here > without else without)
        change = change if a[0] != b[0] else 0.0
        return change if self.swaps == 0 or change > 0.0 else 0.0

    def prepare_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any) -> Any:
        write_hits_above(ranked, running)

    def swap_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any, r: Any) -> Any:
        running[r + 1] = running[r] + ranked[r + 1]
        share = 1.0 / (r + 1.0) if r < self.cutoff else 0.0
        share_below = 1.0 / (r + 2.0) if r + 1 < self.cutoff else 0.0
        return (ranked[r + 1] - ranked[r]) * (share - share_below) if running[r] == 0.0 else 0.0

    def expected_value(self: Any, ranked: Any, tie_ends: Any, normaliser: Any) -> Any:
        # The first block of ties that holds relevant documents, h of m, decides: place t of it is the first hit
        # with probability (all above it miss) · h / (m − t), t from 0.
        reach = min(ranked.shape[0], self.cutoff)
        start = 0
        while start < reach:
            end = tie_ends[start]
            hits = 0.0
            for r in range(start, end):
                hits += ranked[r]
            if hits > 0.0:
                total = 0.0
                all_miss = 1.0
                for r in range(start, min(end, reach)):
                    left = end - r
                    total += all_miss * min(hits / left, 1.0) / (r + 1.0)
                    all_miss *= max(left - hits, 0.0) / left
                return total
            start = end
        return 0.0
