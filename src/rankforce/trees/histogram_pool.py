"""The histograms that trees are grown with: as many as their leaves, or as a bound on memory allows."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce import dtypes
from rankforce.binning.packing import BYTE_VALUES
from rankforce.memory import check_memory
from rankforce.trees.layout import HistogramLayout

# What histograms may take with each setting of ``memory``, unless the fewest with which a tree can grow take more.
HISTOGRAM_BYTES = {"fast": 2**30, "low": 2**26}
FEWEST_LEAFWISE = 2  # a leaf that is split, and the smaller of its sides
GAIN_ROWS = 3  # gains with missing values to the left, to the right, and work space


@dataclasses.dataclass(frozen=True, eq=False)
class HistogramPool:
    """Histograms for growing trees. Trees do not depend on how many there are: sums of integers are exact.

    Leafwise, a leaf without a histogram has it made again from its documents should it be split. Symmetric, there is
    one for each leaf; or a single one, made for leaf after leaf at every level, and the gains of all tests wait.

    sums : int64 (histograms, entries)
        Leafwise, the last one is of numbers of documents.
    counts : int64 (histograms, entries)
        Symmetric, those of numbers of documents, as many as ``sums``; one that nobody reads if they are not counted.
    gains : float64 (threads or columns, 3, 256)
        Symmetric, of the tests on a column.
    """

    sums: np.ndarray
    counts: np.ndarray
    gains: np.ndarray

    @classmethod
    def leafwise(cls, layout: HistogramLayout, leaves: int, most_bytes: int) -> HistogramPool:
        fit = most_bytes // max(_bytes(layout, 1), 1) - 1
        slots = min(leaves, max(FEWEST_LEAFWISE, fit))
        _check(_bytes(layout, slots + 1), f"{slots + 1} histograms × {layout.total:,} bins × 8 bytes")
        sums = np.empty((slots + 1, layout.total), dtype=dtypes.HISTOGRAM)
        return cls(sums, sums[:0], np.empty((0, GAIN_ROWS, BYTE_VALUES)))

    @classmethod
    def symmetric(
        cls, layout: HistogramLayout, leaves: int, counting: bool, threads: int, most_bytes: int
    ) -> HistogramPool:
        kinds = 2 if counting else 1
        columns = len(layout.starts)
        kept = _bytes(layout, kinds * leaves) <= most_bytes
        slots = leaves if kept else 1
        waiting = threads if kept else columns
        _check(
            _bytes(layout, kinds * slots) + 8 * GAIN_ROWS * BYTE_VALUES * waiting,
            f"{kinds * slots} histograms × {layout.total:,} bins × 8 bytes, and gains of "
            f"{waiting:,} × {GAIN_ROWS * BYTE_VALUES} tests × 8 bytes",
        )
        sums = np.empty((slots, layout.total), dtype=dtypes.HISTOGRAM)
        counts = np.empty((slots, layout.total), dtype=dtypes.HISTOGRAM) if counting else sums[:1]
        return cls(sums, counts, np.zeros((waiting, GAIN_ROWS, BYTE_VALUES)))


def _bytes(layout: HistogramLayout, histograms: int) -> int:
    return histograms * layout.total * np.dtype(dtypes.HISTOGRAM).itemsize


def _check(need: int, arithmetic: str) -> None:
    check_memory(need, "growing trees", arithmetic, "give fewer features, or a lower max_bins")
