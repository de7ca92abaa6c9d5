"""The rows that thresholds are found from, spilled to a file while the data passes by.

Those of the queries with the smallest hashes, as many as ``EXACT_ROWS`` asks for: see ``binning.binning``. Which hash
is the largest is known in the end only; but it can only fall as more queries are seen, so rows beyond it may be
dropped, and none that will be wanted is missed. Rows are kept column by column within a chunk: a few columns at a time
are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rankforce import dtypes
from rankforce.binning import binning
from rankforce.binning.cuts import Cuts, cuts_of_columns
from rankforce.threads import over_pieces, thread_count

SLACK = 1.25  # times as many rows as are wanted, before the largest hash is looked for again
PIECES = 2  # per thread, that columns are read in
NO_LIMIT = np.uint64(2**64 - 1)


class _Chunk(NamedTuple):
    start: int  # in the file
    width: int
    words: np.ndarray  # the hash of every row's query


class SpilledSample:
    """Rows in ``path``; ``absent`` is what a feature is that their block did not have."""

    def __init__(self, path: Path, absent: float | None) -> None:
        self._path = path
        self._file = path.open("wb")
        self._absent = np.nan if absent is None else absent
        self._chunks: list[_Chunk] = []
        self._limit = NO_LIMIT
        self._kept = 0  # rows with hashes up to the limit

    def take(self, features: np.ndarray, words: np.ndarray) -> None:
        """Keep the rows whose query's hash, in ``words``, may be small enough."""
        chosen = np.flatnonzero(words <= self._limit)
        if not len(chosen):
            return
        rows = features if len(chosen) == len(features) else features[chosen]
        self._chunks.append(_Chunk(self._file.tell(), features.shape[1], words[chosen]))
        np.ascontiguousarray(rows.T).tofile(self._file)
        self._kept += len(chosen)

    @property
    def overfull(self) -> bool:
        """Whether it is time to ``limit``."""
        return self._kept > SLACK * binning.EXACT_ROWS

    def limit(self, words: np.ndarray, sizes: np.ndarray) -> None:
        """Drop what the queries seen so far (their hashes, and how many rows they have) show to be too much."""
        self._limit = binning.last_sampled(words, sizes)
        self._kept = sum(int(np.count_nonzero(chunk.words <= self._limit)) for chunk in self._chunks)
        self._chunks = [chunk for chunk in self._chunks if (chunk.words <= self._limit).any()]

    def cuts(
        self, n_features: int, max_bins: int, most_bytes: int, values_of: Mapping[int, np.ndarray]
    ) -> tuple[Cuts, int]:
        """Where the features are cut, and how many rows that was found from. Some columns at a time are in memory.

        ``values_of``: by the places of features whose values are places, the values themselves.
        """
        at_once = max(1, min(n_features, most_bytes // max(8 * self._kept, 1)))

        def fill(first: int, columns: np.ndarray) -> None:
            pieces = min(len(columns), PIECES * thread_count())
            edges = [len(columns) * piece // pieces for piece in range(pieces + 1)]
            over_pieces(edges, lambda begin, end: self._fill(first + begin, columns[begin:end]))
            for feature in values_of.keys() & set(range(first, first + len(columns))):
                column = columns[feature - first]
                known = ~np.isnan(column)
                column[known] = values_of[feature][column[known].astype(np.int64)]

        return cuts_of_columns(n_features, self._kept, fill, max_bins, at_once), self._kept

    def _fill(self, first: int, columns: np.ndarray) -> None:
        """Read the columns from ``first`` on."""
        place = 0
        with self._path.open("rb") as file:
            for chunk in self._chunks:
                rows = len(chunk.words)
                chosen = chunk.words <= self._limit
                kept = int(np.count_nonzero(chosen))
                there = max(0, min(first + len(columns), chunk.width) - first)
                file.seek(chunk.start + 4 * rows * first)
                values = np.fromfile(file, dtypes.FEATURE, there * rows).reshape(there, rows)
                columns[:there, place : place + kept] = values if kept == rows else values[:, chosen]
                columns[there:, place : place + kept] = self._absent
                place += kept

    def close(self) -> None:
        """No more rows are taken."""
        self._file.close()

    def remove(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)
