"""A function that is constant on pieces, as a sweep finds it: its best pieces, and its whole course."""

from __future__ import annotations

import numpy as np

WIDE = 2.0**-48  # a piece relatively narrower than this lies within the error of its ends: no float64 score hits it
EQUAL_BITS = 40  # sums that agree to 2^−40 of a unit are equal: they differ by rounding
MOST_KEPT = 64  # best pieces, in case that float64 scores do not reach the first
MOST_EXACT = 1_000_000  # pieces of the course that are kept one by one
CELLS = 65_536  # else: this many equal cells, with the lowest and the highest value in each


class Pieces:
    """Pieces in rising order; sums are whole numbers of units 2^−bits.

    After ``finish``: ``best`` (start, end, value) of the best pieces, best first, of equal ones the widest first;
    ``narrow``, the best of those too narrow for float64 scores to hit, or None; and the course: ``starts``, ``ends``,
    ``lows``, ``highs``, where low is high unless there were too many pieces.
    """

    def __init__(self, bits: int, total: int) -> None:
        self._bits = bits
        self._last = 0.0
        self._total = total
        self._kept = (np.empty(0), np.empty(0), np.empty(0, dtype=np.int64))
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._count = 0
        self._cells: tuple[np.ndarray, np.ndarray] | None = None
        self._narrow: tuple[float, float, int] | None = None
        self.best: list[tuple[float, float, float]] = []
        self.narrow: tuple[float, float, float] | None = None

    def add(self, places: np.ndarray, changes: np.ndarray) -> None:
        """Changes of the sum at places, rising; all that come later lie beyond them, but for rounding."""
        if not len(places):
            return
        ends = np.maximum(np.maximum.accumulate(places), self._last)
        starts = np.concatenate([[self._last], ends[:-1]])
        totals = self._total + np.concatenate([[0], np.cumsum(changes)])
        self._note(starts, ends, totals[:-1])
        self._last = float(ends[-1])
        self._total = int(totals[-1])

    def finish(self, end: float) -> None:
        """No more changes up to ``end``."""
        self._note(np.array([self._last]), np.array([end]), np.array([self._total], dtype=np.int64))
        starts, ends, totals = self._kept
        self.best = list(zip(starts.tolist(), ends.tolist(), self.real(totals).tolist(), strict=True))
        if self._narrow is not None:
            start, stop, total = self._narrow
            self.narrow = (start, stop, float(self.real(np.array(total))))
        if self._cells is None:
            starts, ends, totals = (np.concatenate(part) for part in zip(*self._parts, strict=True))
            self.starts, self.ends = starts, ends
            self.lows = self.highs = self.real(totals)
        else:
            lows, highs = self._cells
            filled = lows <= highs
            edges = np.arange(CELLS + 1) / CELLS
            self.starts, self.ends = edges[:-1][filled], np.minimum(edges[1:][filled], end)
            self.lows, self.highs = self.real(lows[filled]), self.real(highs[filled])
        self._parts = []

    def real(self, totals: np.ndarray) -> np.ndarray:
        """Sums as float64."""
        return np.ldexp(totals.astype(np.float64), -self._bits)

    def _note(self, starts: np.ndarray, ends: np.ndarray, totals: np.ndarray) -> None:
        wide = ends - starts > WIDE * ends
        self._keep_narrow(starts, ends, totals, (ends > starts) & ~wide)
        starts, ends, totals = starts[wide], ends[wide], totals[wide]
        self._keep_best(starts, ends, totals)
        if self._cells is None:
            self._parts.append((starts, ends, totals))
            self._count += len(starts)
            if self._count > MOST_EXACT:
                none = np.iinfo(np.int64)
                self._cells = (np.full(CELLS, none.max), np.full(CELLS, none.min))
                for part in self._parts:
                    self._into_cells(*part)
                self._parts = []
        else:
            self._into_cells(starts, ends, totals)

    def _keep_narrow(self, starts: np.ndarray, ends: np.ndarray, totals: np.ndarray, narrow: np.ndarray) -> None:
        """Keep the best of the narrow pieces. One without any width may be empty: two crossings in one point."""
        indices = np.flatnonzero(narrow)
        if not len(indices):
            return
        place = indices[np.argmax(totals[indices])]
        if self._narrow is None or totals[place] > self._narrow[2]:
            self._narrow = (float(starts[place]), float(ends[place]), int(totals[place]))

    def _keep_best(self, starts: np.ndarray, ends: np.ndarray, totals: np.ndarray) -> None:
        if not len(starts):
            return
        threshold = np.partition(totals, -min(MOST_KEPT, len(totals)))[-min(MOST_KEPT, len(totals))]
        chosen = totals >= threshold - self._equal
        joined = [
            np.concatenate([kept, new[chosen]]) for kept, new in zip(self._kept, (starts, ends, totals), strict=True)
        ]
        starts, ends, totals = joined
        steps = -(totals // self._equal)
        ranked = np.lexsort((starts, starts - ends, steps))[:MOST_KEPT]
        self._kept = (starts[ranked], ends[ranked], totals[ranked])

    @property
    def _equal(self) -> int:
        return max(1, 1 << max(0, self._bits - EQUAL_BITS))

    def _into_cells(self, starts: np.ndarray, ends: np.ndarray, totals: np.ndarray) -> None:
        assert self._cells is not None
        lows, highs = self._cells
        first = np.minimum((starts * CELLS).astype(np.int64), CELLS - 1)
        last = np.minimum(np.ceil(ends * CELLS).astype(np.int64) - 1, CELLS - 1)
        np.minimum.at(lows, first, totals)
        np.maximum.at(highs, first, totals)
        for index in np.flatnonzero(last > first):
            cells = slice(first[index], last[index] + 1)
            lows[cells] = np.minimum(lows[cells], totals[index])
            highs[cells] = np.maximum(highs[cells], totals[index])
