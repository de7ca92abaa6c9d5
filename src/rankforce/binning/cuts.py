"""Cut points of every feature of a matrix: columns are copied out of it, sorted and cut, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from rankforce import dtypes
from rankforce.collective import alone, gathered
from rankforce.kernels.binning import cut_points
from rankforce.kernels.radix_sort import sort_bits
from rankforce.threads import FEW, over_pieces, over_ranges, thread_count

COLUMNS_PER_THREAD = 4  # that are copied at a time; all copies together must not add up to much memory
COLUMNS_IN_A_COPY = 32  # two cache lines of a row, which are read once then; as far as memory allows
ROWS_IN_A_COPY = 1024  # that are copied at a time: what was read with the first column stays in the cache
SMALL = 2**24  # bytes of copies that are worth no care


class Cuts(NamedTuple):
    """Where features are cut.

    n_bins : int32 (features,)
    present : int64 (features,)
        How many values are not missing.
    thresholds : float32 (features, most bins)
        The largest value of every bin but the last; the rest is undefined.
    """

    n_bins: np.ndarray
    present: np.ndarray
    thresholds: np.ndarray


def find_cuts(features: np.ndarray, rows: np.ndarray | None, max_bins: int) -> Cuts:
    """Cut the columns of ``features`` by their values in some rows (None: in all)."""
    n_rows, n_features = features.shape[0] if rows is None else len(rows), features.shape[1]

    def fill(first: int, columns: np.ndarray) -> None:
        _copy_columns(features[:, first : first + len(columns)], rows, columns)

    return cuts_of_columns(n_features, n_rows, fill, max_bins, _columns_at_once(n_rows, n_features))


def cuts_of_columns(
    n_features: int, n_rows: int, fill: Callable[[int, np.ndarray], None], max_bins: int, at_once: int
) -> Cuts:
    """Cut columns, ``at_once`` at a time: ``fill(first, columns)`` writes those from ``first`` on."""
    cuts = Cuts(
        np.zeros(n_features, dtype=dtypes.INDEX),
        np.zeros(n_features, dtype=dtypes.OFFSET),
        np.empty((n_features, max_bins), dtype=dtypes.FEATURE),
    )
    copies = np.empty((at_once, n_rows), dtype=dtypes.FEATURE)
    scratches: list[np.ndarray] = []  # one for each thread, once it has sorted
    for first in range(0, n_features, at_once):
        columns = copies[: min(at_once, n_features - first)]
        fill(first, columns)
        _cut_columns(columns, max_bins, Cuts(*(part[first : first + at_once] for part in cuts)), scratches)
    return cuts


def _columns_at_once(n_rows: int, n_features: int) -> int:
    """How many columns are copied at a time: a few per thread, or a quarter, which is as much as their bins will be."""
    if n_rows * n_features * np.dtype(dtypes.FEATURE).itemsize <= SMALL:
        return max(n_features, 1)
    return max(thread_count() * COLUMNS_PER_THREAD, min(n_features // 4, COLUMNS_IN_A_COPY))


def _copy_columns(features: np.ndarray, rows: np.ndarray | None, columns: np.ndarray) -> None:
    """``columns[:] = features[rows].T``, by blocks of rows."""

    def copy(first: int, last: int) -> None:
        for begin in range(first, last, ROWS_IN_A_COPY):
            block = slice(begin, min(begin + ROWS_IN_A_COPY, last))
            columns[:, block] = features[block if rows is None else rows[block]].T

    over_ranges(columns.shape[1], copy)


def _cut_columns(columns: np.ndarray, max_bins: int, cuts: Cuts, scratches: list[np.ndarray]) -> None:
    """Sort columns in place and cut them, each by whichever thread is free."""
    bits = columns.view(np.uint32)

    def cut(first: int, last: int) -> None:
        try:
            scratch = scratches.pop()
        except IndexError:
            scratch = np.empty(columns.shape[1], dtype=np.uint32)
        for column in range(first, last):
            sort_bits(bits[column], scratch)
            if alone():
                found = cut_points(columns[column], max_bins, cuts.thresholds[column])
                cuts.n_bins[column], cuts.present[column] = found
        scratches.append(scratch)

    count = len(columns)
    over_pieces(range(count + 1) if columns.size >= FEW else (0, count), cut)
    if not alone():
        for column, everybodys in enumerate(_with_others(columns)):
            found = cut_points(everybodys, max_bins, cuts.thresholds[column])
            cuts.n_bins[column], cuts.present[column] = found


def _with_others(columns: np.ndarray) -> Iterator[np.ndarray]:
    """Sorted columns with the values that others have in them, sorted likewise: missing values last."""
    for column in columns:
        values = gathered(column)
        sort_bits(values.view(np.uint32), np.empty(len(values), dtype=np.uint32))
        yield values
