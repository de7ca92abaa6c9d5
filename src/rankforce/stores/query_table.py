"""The queries of data that passes by in blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import hash_ids


class QueryTable:
    """Queries by their first appearance: ids, hashes, how many rows each has, and whether each is one run of rows."""

    def __init__(self) -> None:
        self._numbers: dict[int | str, int] = {}
        self._as_text = False
        self.sizes = np.zeros(1024, dtype=np.int64)
        self.hashes = np.zeros(1024, dtype=dtypes.HASH)
        self.contiguous = True
        self._last = -1

    def __len__(self) -> int:
        return len(self._numbers)

    def take(self, block: Dataset) -> np.ndarray:
        """The number of its query for every row of the next block."""
        keys = self._keys(block.query_ids)
        known = len(self._numbers)
        numbers = np.fromiter((self._numbers.setdefault(key, len(self._numbers)) for key in keys), np.int64, len(keys))
        self._make_room()
        fresh = numbers >= known
        self.hashes[numbers[fresh]] = hash_ids(block.query_ids)[fresh]
        self.sizes[numbers] += block.query_sizes
        rows = numbers[block.row_queries]
        runs = rows[np.concatenate([[0], np.flatnonzero(np.diff(rows)) + 1])]
        again = (runs < known) & (runs != self._last)
        if again.any() or len(np.unique(runs)) < len(runs) or self._last in runs[1:]:
            self.contiguous = False
        self._last = int(rows[-1])
        return rows

    @property
    def ids(self) -> np.ndarray:
        keys = list(self._numbers)
        if not self._as_text:
            return np.array(keys, dtype=np.int64)
        ids = np.empty(len(keys), dtype=object)
        ids[:] = keys
        return ids

    def _keys(self, ids: np.ndarray) -> list[Any]:
        """Ids as they are looked up: whole numbers, as long as all are, else text."""
        whole = ids.dtype.kind in "iu"
        if not whole and not self._as_text:
            self._as_text = True
            self._numbers = {str(key): number for key, number in self._numbers.items()}
        return ids.tolist() if not self._as_text else list(map(str, ids.tolist()))

    def _make_room(self) -> None:
        if len(self._numbers) > len(self.sizes):
            room = 2 * len(self._numbers)
            self.sizes.resize(room, refcheck=False)
            self.hashes.resize(room, refcheck=False)
