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
        The share of all columns' entries that lie before a column's, byte by byte: by it, threads share the columns.
    total : int
        Entries of all histograms.
    """

    starts: np.ndarray
    share: np.ndarray
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
        in_order = np.lexsort((packing.stride, packing.byte))
        sizes = packing.size[in_order]
        share = np.empty(len(starts))
        share[in_order] = (np.cumsum(sizes) - sizes) / max(sizes.sum(), 1)
        return cls(starts, share, end)


def _lines(entries: int) -> int:
    """The entries of as many cache lines as these need, made odd."""
    lines = -(-entries // LINE_ENTRIES)
    return (lines + 1 - lines % 2) * LINE_ENTRIES
