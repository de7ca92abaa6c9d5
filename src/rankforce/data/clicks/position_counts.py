"""How often each document of a query was shown at each position, and clicked there."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.data.clicks.counting import numbered
from rankforce.data.clicks.keys import QueryKeys
from rankforce.data.clicks.session_logs import LogChunk, positions_of
from rankforce.errors import DataError, SettingsError
from rankforce.remedies import Argument

MOST_POSITIONS = 200
_PARTS_AT_ONCE = 1 << 22  # entries of unmerged counts that are kept before they are merged


@dataclasses.dataclass(frozen=True)
class PositionCounts:
    """Entries of one document (under one query) are adjacent, by rising position.

    starts : int64 (documents + 1): the entries of each document
    query : int64 (documents): the number of its query, from 0
    position : int64 (entries), from 0
    shown, clicked : float64 (entries): how often
    positions : how many there are
    """

    starts: np.ndarray
    query: np.ndarray
    position: np.ndarray
    shown: np.ndarray
    clicked: np.ndarray
    positions: int

    @property
    def document(self) -> np.ndarray:
        """The number of the document of each entry."""
        return np.repeat(np.arange(len(self.query)), np.diff(self.starts))

    def per_document(self, values: np.ndarray) -> np.ndarray:
        """Sums of a value per entry."""
        return np.bincount(self.document, values, len(self.query))

    def per_position(self, values: np.ndarray) -> np.ndarray:
        """Sums of a value per entry."""
        return np.bincount(self.position, values, self.positions)

    def where(self, entries: np.ndarray) -> PositionCounts:
        """The counts of some entries, given as a mask; documents without any are left out."""
        document = self.document[entries]
        kept, starts = np.unique(document, return_index=True)
        return PositionCounts(
            np.append(starts, len(document)).astype(np.int64),
            self.query[kept],
            self.position[entries],
            self.shown[entries],
            self.clicked[entries],
            self.positions,
        )


class PositionCounting:
    """Counts over the chunks of a log; ``positions``: only the first so many places."""

    def __init__(self, keys: QueryKeys, positions: int | None) -> None:
        self._keys = keys
        self._positions = positions
        self._queries: dict[str, int] = {}
        self._documents: dict[str, int] = {}
        self._parts: list[np.ndarray] = []  # query, document, position, shown, clicked: int64 (5, entries)
        self.rows = 0

    def add(self, chunk: LogChunk) -> None:
        self._keys.learn(chunk)
        position = positions_of(chunk) - 1
        self.rows += len(chunk)
        queries = numbered(self._queries, [self._keys.of(query) for query in chunk.query.values])[chunk.query.codes]
        documents = numbered(self._documents, chunk.document.values)[chunk.document.codes]
        columns = np.stack([queries, documents, position, np.ones_like(position), chunk.clicked.astype(np.int64)])
        if self._positions is not None:
            columns = columns[:, position < self._positions]
        self._parts.append(_merged(columns))
        if sum(part.shape[1] for part in self._parts[1:]) > max(_PARTS_AT_ONCE, self._parts[0].shape[1]):
            self._parts = [_merged(np.concatenate(self._parts, axis=1))]

    def counts(self) -> PositionCounts:
        if self.rows == 0 or not any(part.shape[1] for part in self._parts):
            raise DataError("the log has no rows: there is nothing to estimate from")
        query, document, position, shown, clicked = _merged(np.concatenate(self._parts, axis=1))
        positions = int(position.max()) + 1
        if positions > MOST_POSITIONS:
            raise SettingsError(
                f"the log has positions up to {positions:,}, more than {MOST_POSITIONS}: say how many count, ",
                Argument("positions", 10),
            )
        heads = np.flatnonzero((np.diff(query, prepend=-1) != 0) | (np.diff(document, prepend=-1) != 0))
        return PositionCounts(
            np.append(heads, len(query)).astype(np.int64),
            query[heads],
            position,
            shown.astype(np.float64),
            clicked.astype(np.float64),
            positions,
        )


def _merged(columns: Any) -> np.ndarray:
    """Entries in order of query, document and position, with the counts of equal ones added."""
    if columns.shape[1] == 0:
        return columns
    query, document, position = columns[:3]
    ordered = columns[:, np.lexsort((position, document, query))]
    heads = np.flatnonzero((np.diff(ordered[:3], axis=1, prepend=-1) != 0).any(axis=0))
    return np.concatenate([ordered[:3, heads], np.add.reduceat(ordered[3:], heads, axis=1)])
