"""Where the histograms of bytes and columns lie."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce.binning.packing import BYTE_VALUES, Packing

LINE_ENTRIES = 8  # histogram entries in a cache line


@dataclasses.dataclass(frozen=True, eq=False)
class HistogramLayout:
    """One region per byte of a row: the histogram of its only column, or of the byte and then of each of its columns.

    Regions, and the parts of shared ones, are an odd number of cache lines long. The bytes that fill up the last word
    of a row have one line each.

    offsets : uint64 (bytes + 1,)
    starts : int64 (columns,)
    share : float64 (columns,)
        The share of all columns' entries that lie before a column's: by it, threads share the columns.
    """

    offsets: np.ndarray
    starts: np.ndarray
    share: np.ndarray

    @classmethod
    def of(cls, packing: Packing, n_bytes: int) -> HistogramLayout:
        """The layout for rows of ``n_bytes`` bytes."""
        offsets = np.zeros(n_bytes + 1, dtype=np.uint64)
        starts = np.zeros(len(packing.byte), dtype=np.int64)
        end = 0
        for byte in range(n_bytes):
            offsets[byte] = end
            columns = np.flatnonzero(packing.byte == byte)
            if len(columns) == 1:
                starts[columns] = end
                end += _lines(int(packing.size[columns[0]]))
                continue
            end += _lines(BYTE_VALUES if len(columns) else 1)
            for column in columns:
                starts[column] = end
                end += _lines(int(packing.size[column]))
        offsets[n_bytes] = end
        in_order = np.argsort(starts)
        sizes = packing.size[in_order]
        share = np.empty(len(starts))
        share[in_order] = (np.cumsum(sizes) - sizes) / max(sizes.sum(), 1)
        return cls(offsets, starts, share)

    @property
    def total(self) -> int:
        return int(self.offsets[-1])


def _lines(entries: int) -> int:
    """The entries of as many cache lines as these need, made odd."""
    lines = -(-entries // LINE_ENTRIES)
    return (lines + 1 - lines % 2) * LINE_ENTRIES
