"""The matrix of a file whose length and width turn out as it is read: one block that grows, never held twice."""

from __future__ import annotations

import numpy as np

from rankforce import dtypes
from rankforce.errors import DataError
from rankforce.files.streams import ROUND
from rankforce.memory import written_size


class GrowingMatrix:
    """``n_rows`` rows of ``width`` features, with room for more. ``path`` is named if there is no memory."""

    def __init__(self, absent: np.float32, width: int) -> None:
        self.absent = absent
        self.width = width
        self.n_rows = 0
        self._store = np.empty(0, dtype=dtypes.FEATURE)

    def next_rows(self, path: str, count: int, share: float | None) -> np.ndarray:
        """Where the next rows go; ``share`` says how much of the file is read with them, None if nobody knows."""
        needed = (self.n_rows + count) * self.width
        if needed > len(self._store):
            # Room that is not written to costs nothing; growing later does.
            factor = 1.25 if share is None else 1.25 / share if 0.0 < share < 1.0 else 1.0
            self._resize(path, max(needed, int(needed * factor)))
        return self._store[self.n_rows * self.width : needed].reshape(count, self.width)

    def widen(self, path: str, width: int) -> None:
        """Give every row further features, which are absent."""
        old = self.width
        self._resize(path, max(len(self._store), self.n_rows * width))
        chunk = max(1, ROUND // (4 * width))
        for first in reversed(range(0, self.n_rows, chunk)):  # from the last row on: nothing is overwritten unread
            last = min(first + chunk, self.n_rows)
            rows_before = self._store[first * old : last * old].copy()
            rows_after = self._store[first * width : last * width].reshape(-1, width)
            rows_after[:, :old] = rows_before.reshape(-1, old)
            rows_after[:, old:] = self.absent
        self.width = width

    def finish(self, path: str) -> np.ndarray:
        """The matrix, without the room that is left."""
        self._resize(path, self.n_rows * self.width)
        return self._store.reshape(self.n_rows, self.width)

    def _resize(self, path: str, entries: int) -> None:
        # Grown in place: large blocks are moved by the memory manager, not copied. No view outlives a round.
        try:
            if self.n_rows == 0:
                self._store = np.empty(entries, dtype=dtypes.FEATURE)
            else:
                self._store.resize(entries, refcheck=False)
        except (MemoryError, ValueError, OverflowError):
            raise DataError(
                f"{path}: the features need {written_size(4 * entries)} of memory, which cannot be had"
            ) from None
