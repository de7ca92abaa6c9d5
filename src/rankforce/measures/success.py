"""Success: is anything relevant in the top."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.measures.hits import any_hit, write_hits_above
from rankforce.measures.measure import BinaryMeasure


class Success(BinaryMeasure):
    """1 if at least one of the first k documents is relevant, else 0; also called hit rate.

    Without a cut-off it is 1 for every query that has a relevant document.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("success", "HitRate")
    COLUMNS: ClassVar[int] = 3

    cutoff: int | None = None

    def normaliser(self: Any, ideal: Any) -> Any:
        return any_hit(ideal)

    def value(self: Any, ranked: Any, normaliser: Any) -> Any:
        for r in range(min(ranked.shape[0], self.cutoff)):
            if ranked[r] > 0.0:
                return 1.0
        return 0.0

    def prepare(self: Any, ranked: Any, normaliser: Any, columns: Any) -> Any:
        hits = 0.0
        for r in range(min(ranked.shape[0], self.cutoff)):
            hits += ranked[r]
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = 1.0 if r < self.cutoff else 0.0
            columns[2, r] = hits

    def swap_delta(self: Any, a: Any, b: Any) -> Any:
        before = a[2]
        after = before + (a[0] - b[0]) * (b[1] - a[1])
        return (1.0 if after > 0.5 else 0.0) - (1.0 if before > 0.5 else 0.0)

    def prepare_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any) -> Any:
        write_hits_above(ranked, running)

    def swap_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any, r: Any) -> Any:
        running[r + 1] = running[r] + ranked[r + 1]
        return ranked[r + 1] - ranked[r] if r + 1 == self.cutoff and running[r] == 0.0 else 0.0

    def expected_value(self: Any, ranked: Any, tie_ends: Any, normaliser: Any) -> Any:
        # Of a block of m tied documents, h of them relevant, s are above the cut: all s miss with probability
        # (m−h)/m · (m−h−1)/(m−1) · ... (s factors).
        reach = min(ranked.shape[0], self.cutoff)
        all_miss = 1.0
        start = 0
        while start < reach:
            end = tie_ends[start]
            hits = 0.0
            for r in range(start, end):
                hits += ranked[r]
            for r in range(start, min(end, reach)):
                left = end - r
                all_miss *= max(left - hits, 0.0) / left
            start = end
        return 1.0 - all_miss
