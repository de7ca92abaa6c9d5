"""The histograms that trees are grown with: as many as their leaves, or as a bound on memory allows."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce import dtypes
from rankforce.binning.packing import BYTE_VALUES
from rankforce.memory import check_memory
from rankforce.trees.layout import HistogramLayout

# What histograms may take with each setting of ``memory``, unless the fewest with which a tree can grow take more.
HISTOGRAM_BYTES = {"fast": 2**30, "low": 2**26, "mapped": 2**26}
FEWEST_LEAFWISE = 2  # a leaf that is split, and the smaller of its sides
PART_SHARE = 0.25  # of the bound, for what threads find in ranges of documents
GAIN_ROWS = 3  # gains with missing values to the left, to the right, and work space
GAIN_BYTES = GAIN_ROWS * BYTE_VALUES * np.dtype(np.float64).itemsize


@dataclasses.dataclass(frozen=True, eq=False)
class HistogramPool:
    """Histograms for growing trees. Trees do not depend on how many there are: sums of integers are exact.

    Leafwise, a leaf without a histogram has it made again from its documents should it be split. Symmetric, there is
    one for each leaf; or a single one, made for leaf after leaf at every level, and the gains of all tests wait.

    sums : int64 (histograms, entries)
    counts : int64 (histograms, entries)
        Those of numbers of documents. Leafwise a single one; symmetric as many as ``sums``, or one that nobody reads if
        they are not counted.
    parts, count_parts : int64 (ranges, entries of all bytes)
        What threads that share a leaf's documents find; none for a single range. Leafwise, both are the same.
    gains : float64 (threads or columns, 3, 256)
        Symmetric, of the tests on a column.
    """

    sums: np.ndarray
    counts: np.ndarray
    parts: np.ndarray
    count_parts: np.ndarray
    gains: np.ndarray

    @classmethod
    def leafwise(cls, layout: HistogramLayout, leaves: int, threads: int, most_bytes: int) -> HistogramPool:
        most_bytes = max(0, most_bytes - threads * GAIN_BYTES)
        ranges = _ranges(layout, threads, most_bytes)
        fit = (most_bytes - _part_bytes(layout, ranges)) // max(_bytes(layout, 1), 1) - 1
        slots = min(leaves, max(FEWEST_LEAFWISE, fit))
        _check(
            _bytes(layout, slots + 1) + _part_bytes(layout, ranges),
            f"{slots + 1 + _parts(ranges)} histograms × {layout.total:,} bins × 8 bytes",
        )
        sums = np.empty((slots + 1, layout.total), dtype=dtypes.HISTOGRAM)
        parts = np.empty((_parts(ranges), layout.byte_entries), dtype=dtypes.HISTOGRAM)
        return cls(sums[:slots], sums[slots:], parts, parts, np.empty((threads, GAIN_ROWS, BYTE_VALUES)))

    @classmethod
    def symmetric(
        cls, layout: HistogramLayout, leaves: int, counting: bool, threads: int, most_bytes: int
    ) -> HistogramPool:
        kinds = 2 if counting else 1
        columns = len(layout.starts)
        most_bytes = max(0, most_bytes - threads * GAIN_BYTES)
        ranges = _ranges(layout, threads, most_bytes // kinds)
        parted = kinds * _part_bytes(layout, ranges)
        kept = _bytes(layout, kinds * leaves) + parted <= most_bytes
        slots = leaves if kept else 1
        waiting = threads if kept else columns
        _check(
            _bytes(layout, kinds * slots) + parted + GAIN_BYTES * waiting,
            f"{kinds * (slots + _parts(ranges))} histograms × {layout.total:,} bins × 8 bytes, and gains of "
            f"{waiting:,} × {GAIN_ROWS * BYTE_VALUES} tests × 8 bytes",
        )
        sums = np.empty((slots, layout.total), dtype=dtypes.HISTOGRAM)
        counts = np.empty((slots, layout.total), dtype=dtypes.HISTOGRAM) if counting else sums[:1]
        parts = np.empty((_parts(ranges), layout.byte_entries), dtype=dtypes.HISTOGRAM)
        return cls(sums, counts, parts, np.empty_like(parts), np.zeros((waiting, GAIN_ROWS, BYTE_VALUES)))


def _ranges(layout: HistogramLayout, threads: int, most_bytes: int) -> int:
    """Into how many ranges documents may be cut: one per thread, if the parts take but a share of what may be taken."""
    return max(1, min(threads, int(PART_SHARE * most_bytes) // max(_part_bytes(layout, 2) // 2, 1)))


def _parts(ranges: int) -> int:
    return ranges if ranges > 1 else 0


def _part_bytes(layout: HistogramLayout, ranges: int) -> int:
    return _parts(ranges) * layout.byte_entries * np.dtype(dtypes.HISTOGRAM).itemsize


def _bytes(layout: HistogramLayout, histograms: int) -> int:
    return histograms * layout.total * np.dtype(dtypes.HISTOGRAM).itemsize


def _check(need: int, arithmetic: str) -> None:
    check_memory(need, "growing trees", arithmetic, "give fewer features, or a lower max_bins")
