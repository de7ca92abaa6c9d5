"""The features of a data set as bins: what trees are grown on."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce import dtypes
from rankforce.binning.binning import MOST_BINS, Binning
from rankforce.binning.packing import Packing
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError
from rankforce.kernels.binning import map_categories, map_to_bins
from rankforce.threads import over_queries

WORD = 4  # bytes that are read at once: rows have a multiple of this
LINE = 64  # bytes that memory gives at once
HUGE_PAGE = 2**21  # bytes that many systems can give one address, where NumPy asks for it
MOST_FILLER = 1 / 8  # of a row's bytes, so that no row lies in more lines than it must
MEMORY = ("fast", "low")


@dataclasses.dataclass(frozen=True, eq=False)
class Binned:
    """Bins of all documents, in the order of ``Dataset.by_query``.

    binning : Binning
    packing : Packing
        How the bins of a document are packed into the bytes of its row.
    rows : uint8 (documents, bytes rounded up to a multiple of 4)
        The bytes that fill up the last word are 0. With ``memory="fast"`` rows may be filled up to whole cache lines,
        or to a half, a quarter or an eighth of one, and begin with a line.
    columns : uint8 (columns, documents) or None
        The bins column by column, which makes dealing out documents cheap; left out with ``memory="low"``.
    query_starts, query_hashes
        As in the data set: where each query starts, and what random choices about it are made from.
    """

    binning: Binning
    packing: Packing
    rows: np.ndarray
    columns: np.ndarray | None
    query_starts: np.ndarray
    query_hashes: np.ndarray

    @classmethod
    def of(cls, data: Dataset, max_bins: int = MOST_BINS, memory: str = "fast") -> Binned:
        """Cut the features of ``data`` and bin them; of a store, the bins it has."""
        if data.bins is not None:
            return data.binned(max_bins, memory)  # type: ignore[attr-defined]
        return cls.by(Binning.of(data, max_bins), data, memory)

    @classmethod
    def by(cls, binning: Binning, data: Dataset, memory: str = "fast") -> Binned:
        """Bin ``data`` at thresholds, and by categories, that another data set gave."""
        if data.bins is not None:
            return data.binned_like(binning)  # type: ignore[attr-defined]
        if memory not in MEMORY:
            raise SettingsError(f"memory must be one of {', '.join(map(repr, MEMORY))}, not {memory!r}")
        if data.n_features != binning.n_features:
            raise DataError(
                f"the data has {data.n_features} features; the bins were made for {binning.n_features} features"
            )
        n = data.n_documents
        packing = Packing.of(binning.n_bins)
        rows = zero_rows(n, row_width(packing.n_bytes, memory))
        columns = np.empty((len(binning.features) if memory == "fast" else 0, n), dtype=dtypes.BIN)
        numeric = np.setdiff1d(np.arange(len(binning.features)), list(binning.category_bins)).astype(dtypes.INDEX)

        def fill(first: int, last: int) -> None:
            begin, end = int(data.query_starts[first]), int(data.query_starts[last])
            map_to_bins(
                data.features,
                data.rows,
                binning.features,
                numeric,
                binning.thresholds,
                binning.cut_starts,
                binning.n_bins,
                packing.byte,
                packing.stride,
                begin,
                end,
                rows,
                columns,
            )
            for j, of_code in binning.category_bins.items():
                map_categories(
                    data.features,
                    data.rows,
                    int(binning.features[j]),
                    of_code,
                    int(binning.n_bins[j]),
                    int(packing.byte[j]),
                    int(packing.stride[j]),
                    begin,
                    end,
                    rows,
                    columns[j : j + 1],
                )

        over_queries(data.query_starts, fill)
        kept = columns if memory == "fast" else None
        return cls(binning, packing, rows, kept, data.query_starts, data.query_hashes)

    @property
    def n_documents(self) -> int:
        return self.rows.shape[0]

    def bins(self, column: int) -> np.ndarray:
        """The bin of every document in one column."""
        return self.packing.bins(self.rows, column)


def row_width(n_bytes: int, memory: str) -> int:
    """The width of rows of so many bytes."""
    if memory == "fast":
        part = LINE
        while n_bytes <= part // 2 and part > WORD:
            part //= 2
        whole = -(-n_bytes // part) * part
        if whole <= n_bytes * (1 + MOST_FILLER):
            return whole
    return -(-n_bytes // WORD) * WORD


def zero_rows(n: int, width: int) -> np.ndarray:
    """Rows that begin with a cache line; many of them with a huge page, and the last one is whole, too.

    Else the first and the last of them would be in small pages, and threads that have those would be slower.
    """
    size = n * width
    boundary = HUGE_PAGE if size >= 4 * HUGE_PAGE else LINE
    held = np.zeros(size + 2 * boundary, dtype=dtypes.BIN)
    start = -held.ctypes.data % boundary
    return held[start : start + n * width].reshape(n, width)
