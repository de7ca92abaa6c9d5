"""Where the histograms of bytes and columns lie."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce import dtypes
from rankforce.binning.packing import Packing
from rankforce.kernels.trees.histograms import LINE_ENTRIES, REGION

# What a column takes, in entries of its histogram that are searched for a split: to add up what ranges of documents
# found, per value of its byte; and whatever its size. Only how evenly threads share columns depends on them.
PER_VALUE = 1.0
PER_COLUMN = 160


@dataclasses.dataclass(frozen=True, eq=False)
class HistogramLayout:
    """A region for every byte of a row, the histogram of its only column; then those of columns that share a byte.

    All are an odd number of cache lines long.

    starts : int64 (columns,)
    values : int32 (columns,)
        How many values a column's byte takes.
    share : float64 (columns,)
        The share of all work that lies before that on a column's byte: by it, threads share the columns, and all
        columns of a byte have the same thread.
    order : int32 (columns,)
        Columns by their share, those of a byte in their own order.
    leads : uint8 (columns,)
        1 for the first column of each byte.
    byte_entries : int
        Entries of the histograms over bytes.
    total : int
        Entries of all histograms.
    """

    starts: np.ndarray
    values: np.ndarray
    share: np.ndarray
    order: np.ndarray
    leads: np.ndarray
    byte_entries: int
    total: int

    @classmethod
    def of(cls, packing: Packing, n_bytes: int) -> HistogramLayout:
        """The layout for rows of ``n_bytes`` bytes."""
        starts = packing.byte.astype(np.int64) * REGION
        columns_in = np.bincount(packing.byte, minlength=n_bytes)
        end = n_bytes * REGION
        for column in np.flatnonzero(columns_in[packing.byte] > 1):
            starts[column] = end
            end += _lines(int(packing.size[column]))
        values = np.zeros(n_bytes, dtype=dtypes.INDEX)
        np.maximum.at(values, packing.byte, packing.stride * packing.size)
        work = PER_VALUE * values + np.bincount(packing.byte, PER_COLUMN + packing.size, minlength=n_bytes)
        share = (np.cumsum(work) - work) / max(work.sum(), 1)
        share = share[packing.byte]
        leads = np.zeros(len(starts), dtype=np.uint8)
        leads[np.unique(packing.byte, return_index=True)[1]] = 1
        return cls(starts, values[packing.byte], share, by_share(share), leads, n_bytes * REGION, end)

    @property
    def n_bytes(self) -> int:
        return self.byte_entries // REGION


def by_share(share: np.ndarray) -> np.ndarray:
    """The columns in the order of their shares; those of equal ones, which have the same byte, in their own."""
    return np.argsort(share, kind="stable").astype(dtypes.INDEX)


def _lines(entries: int) -> int:
    """The entries of as many cache lines as these need, made odd."""
    lines = -(-entries // LINE_ENTRIES)
    return (lines + 1 - lines % 2) * LINE_ENTRIES
