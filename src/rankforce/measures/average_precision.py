"""Mean average precision."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.compiling.kernel_values import choice
from rankforce.measures.hits import all_hits, write_hits_above
from rankforce.measures.measure import BinaryMeasure


class MAP(BinaryMeasure):
    """Average precision: Σ_{r≤k} rel(r)·P@r / R, with R all relevant documents of the query; its mean is MAP.

    ``divisor="cutoff"`` divides by min(R, k) instead, as LightGBM, XGBoost and CatBoost do.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("AP", "map", "ap")
    COLUMNS: ClassVar[int] = 4

    cutoff: int | None = None
    divisor: str = choice("relevant", "cutoff")

    def normaliser(self: Any, ideal: Any) -> Any:
        relevant = all_hits(ideal)
        return min(relevant, float(self.cutoff)) if self.divisor == 1 else relevant

    def value(self: Any, ranked: Any, normaliser: Any) -> Any:
        hits = 0.0
        total = 0.0
        for r in range(min(ranked.shape[0], self.cutoff)):
            hits += ranked[r]
            total += ranked[r] * hits / (r + 1.0)
        return total / normaliser

    def prepare(self: Any, ranked: Any, normaliser: Any, columns: Any) -> Any:
        # With n(r) the hits down to rank r, S(r) = Σ_{k≤r} rel(k)/k up to the cut, and 1/r counting 0 beyond it:
        #   a relevant document rising from b to a gains  [(n(a)+1)/a − S(a)] − [n(b)/b − S(b−1)]
        #   a relevant document falling from a to b loses [n(a)/a − S(a)]     − [n(b)/b − S(b−1)]
        # and where a is not relevant n(a)+1, where it is n(a), is n(a−1)+1 in both cases.
        hits_above = 0.0
        sum_above = 0.0
        for r in range(ranked.shape[0]):
            share = 1.0 / (r + 1.0) if r < self.cutoff else 0.0
            hit = ranked[r]
            columns[0, r] = hit
            columns[1, r] = ((hits_above + 1.0) * share - sum_above - hit * share) / normaliser  # as the upper
            columns[2, r] = ((hits_above + hit) * share - sum_above) / normaliser  # as the lower
            columns[3, r] = -1.0 * r  # larger is nearer the top
            hits_above += hit
            sum_above += hit * share

    def swap_delta(self: Any, a: Any, b: Any) -> Any:
        a_above = a[3] > b[3]
        change = (a[1] if a_above else b[1]) - (b[2] if a_above else a[2])
        rising = (b[0] - a[0]) if a_above else (a[0] - b[0])
        return rising * change

    def prepare_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any) -> Any:
        write_hits_above(ranked, running)

    def swap_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any, r: Any) -> Any:
        # The hit keeps its number among the hits: n(r) + 1 over its rank is all that changes.
        hits = running[r] + 1.0
        running[r + 1] = running[r] + ranked[r + 1]
        share = 1.0 / (r + 1.0) if r < self.cutoff else 0.0
        share_below = 1.0 / (r + 2.0) if r + 1 < self.cutoff else 0.0
        return (ranked[r + 1] - ranked[r]) * hits * (share - share_below) / normaliser

    def expected_value(self: Any, ranked: Any, tie_ends: Any, normaliser: Any) -> Any:
        # In a block of m tied documents of which h are relevant, the one at place t (from 1) is relevant with
        # probability h/m, and given that, (t−1)(h−1)/(m−1) of those above it within the block are.
        total = 0.0
        hits_above = 0.0
        start = 0
        while start < min(ranked.shape[0], self.cutoff):
            end = tie_ends[start]
            size = end - start
            hits = 0.0
            for r in range(start, end):
                hits += ranked[r]
            between = (hits - 1.0) / (size - 1.0) if size > 1 else 0.0
            for r in range(start, min(end, self.cutoff)):
                total += hits / size * (hits_above + (r - start) * between + 1.0) / (r + 1.0)
            hits_above += hits
            start = end
        return total / normaliser
