"""Queries with so many pairs that threads share them: which they are, and how they are cut into tiles.

What is a giant and what its tiles are follows from the query alone, never from threads or other queries: forces of a
query are sums of floats, and would otherwise depend on what they are computed beside.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.forces.pairs import PairRanges
from rankforce.kernels.forces.bundles import STRIDE
from rankforce.kernels.forces.giant_queries import TAKEN_SIZE, Tiles, TileSums
from rankforce.threads import together

GIANT_DOCUMENTS = 2000
GIANT_PAIRS = 500_000  # about a millisecond
PAIRS_OF_A_TILE = 2**17
MOST_TILES = 32
AT_ONCE = 2**26  # bytes that tiles of giants may take that are worked on at once, unless those of one take more


class GiantQueries:
    """The giants among the queries of a term, whose measure has so many columns; ``are`` bool (queries,)."""

    def __init__(self, ranges: PairRanges, starts: np.ndarray, column_count: int) -> None:
        pairs = np.zeros(len(ranges.worse) + 1, dtype=np.int64)
        np.cumsum(ranges.worse[:, 1] - ranges.worse[:, 0], out=pairs[1:], dtype=np.int64)
        self.are = (np.diff(starts) >= GIANT_DOCUMENTS) & (np.diff(pairs[starts]) >= GIANT_PAIRS)
        self._starts = starts
        self._column_count = column_count
        self._cuts = {int(q): _cuts(pairs[starts[q] : starts[q + 1] + 1]) for q in np.flatnonzero(self.are)}

    def __len__(self) -> int:
        return len(self._cuts)

    def add(self, others: np.ndarray, work: Callable[..., Any]) -> None:
        """Call ``work(thread, threads, meeting, taken, ranges, tiles, space)`` on all threads, for some giants at once.

        ``others`` are the ranges of all queries, which the first call gets; later ones have giants alone.
        """
        batches = list(self._batches())
        for batch in batches:
            tiles, space = self._all_at_once if len(batches) == 1 else self._prepared(batch)
            _share(others, tiles, space, work)
            others = others[:0]

    @cached_property
    def _all_at_once(self) -> tuple[Tiles, TileSums]:
        """Kept from one call to the next: to get that much memory anew takes as long as a tenth of the pairs."""
        return self._prepared(list(self._cuts))

    def _prepared(self, batch: list[int]) -> tuple[Tiles, TileSums]:
        tiles = self._tiles(batch)
        places = int(tiles.starts[-1])
        summed = int(tiles.sum_starts[-1] + tiles.starts[-1] - tiles.starts[-2])
        space = TileSums(
            columns=np.zeros(self._column_count * places),
            by_place=np.repeat([[1.0], [0.0], [0.0]], places, axis=1),  # places without a document weigh nothing
            run_ends=np.zeros(places, dtype=np.int64),
            counts=np.zeros(len(batch), dtype=np.uint8),
            forces=np.empty(summed),
            curvatures=np.empty(summed),
            pulls=np.zeros(len(tiles.first)),
        )
        return tiles, space

    def _places(self, query: int) -> int:
        return int(self._starts[query + 1] - self._starts[query]) + STRIDE

    def _batches(self) -> Iterator[list[int]]:
        batch: list[int] = []
        room = AT_ONCE
        for query, cuts in self._cuts.items():
            room -= 16 * self._places(query) * (len(cuts) - 1)
            if batch and room < 0:
                yield batch
                batch, room = [], AT_ONCE - 16 * self._places(query) * (len(cuts) - 1)
            batch.append(query)
        if batch:
            yield batch

    def _tiles(self, batch: list[int]) -> Tiles:
        first, last, giant, widths, tile_starts = [], [], [], [], [0]
        for number, query in enumerate(batch):
            for begin, end in itertools.pairwise(self._cuts[query]):
                first.append(begin)
                last.append(end)
                giant.append(number)
                widths.append(self._places(query))
            tile_starts.append(len(first))
        starts = np.concatenate([[0], np.cumsum([self._places(query) for query in batch])])
        sum_starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
        arrays = (batch, starts, first, last, giant, tile_starts, sum_starts)
        return Tiles(*(np.asarray(one, dtype=np.int64) for one in arrays))


def _share(ranges: np.ndarray, tiles: Tiles, space: TileSums, work: Callable[..., Any]) -> None:
    taken = np.zeros(TAKEN_SIZE, dtype=np.int64)
    together(lambda thread, threads, meeting: work(thread, threads, meeting, taken, ranges, tiles, space))


def _cuts(pairs: np.ndarray) -> list[int]:
    """Where tiles begin, and where the last one ends, from running totals of the pairs of a query's places.

    Each has fewer pairs than the one before: what is taken last decides how long others wait.
    """
    total = int(pairs[-1] - pairs[0])
    tiles = min(MOST_TILES, max(1, total // PAIRS_OF_A_TILE))
    left = np.arange(tiles - 1, 0, -1)
    cuts = np.searchsorted(pairs - pairs[0], total - total * left * (left + 1) // (tiles * (tiles + 1)))
    return sorted({0, *cuts.tolist(), len(pairs) - 1})
