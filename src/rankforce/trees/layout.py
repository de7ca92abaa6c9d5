"""Where the histograms of bytes and columns lie."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce.binning.packing import Packing
from rankforce.kernels.trees.histograms import LINE_ENTRIES, REGION


@dataclasses.dataclass(frozen=True, eq=False)
class HistogramLayout:
    """A region for every byte of a row, the histogram of its only column; then those of columns that share a byte.

    All are an odd number of cache lines long.

    starts : int64 (columns,)
    share : float64 (columns,)
        The share of all columns' entries that lie before those of a column's byte: by it, threads share the columns,
        and all columns of a byte have the same thread.
    leads : uint8 (columns,)
        1 for the first column of each byte.
    byte_entries : int
        Entries of the histograms over bytes.
    total : int
        Entries of all histograms.
    """

    starts: np.ndarray
    share: np.ndarray
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
        of_bytes = np.bincount(packing.byte, weights=packing.size, minlength=n_bytes)
        share = (np.cumsum(of_bytes) - of_bytes) / max(of_bytes.sum(), 1)
        leads = np.zeros(len(starts), dtype=np.uint8)
        leads[np.unique(packing.byte, return_index=True)[1]] = 1
        return cls(starts, share[packing.byte], leads, n_bytes * REGION, end)


def _lines(entries: int) -> int:
    """The entries of as many cache lines as these need, made odd."""
    lines = -(-entries // LINE_ENTRIES)
    return (lines + 1 - lines % 2) * LINE_ENTRIES
