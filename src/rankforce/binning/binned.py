"""The features of a data set as bins: what trees are grown on."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce import dtypes
from rankforce.binning.binning import MOST_BINS, Binning
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError
from rankforce.kernels.binning import map_to_bins, transpose
from rankforce.threads import over_queries

WORD = 8  # columns in a word of a row
MEMORY = ("fast", "low")


@dataclasses.dataclass(frozen=True, eq=False)
class Binned:
    """Bins of all documents, in the order of ``Dataset.by_query``.

    binning : Binning
    rows : uint8 (documents, columns rounded up to a multiple of 8)
        The columns that fill up the last word hold 0.
    columns : uint8 (columns, documents) or None
        A transposed copy, which makes dealing out documents cheap; left out with ``memory="low"``.
    query_starts, query_hashes
        As in the data set: where each query starts, and what random choices about it are made from.
    """

    binning: Binning
    rows: np.ndarray
    columns: np.ndarray | None
    query_starts: np.ndarray
    query_hashes: np.ndarray

    @classmethod
    def of(cls, data: Dataset, max_bins: int = MOST_BINS, memory: str = "fast") -> Binned:
        """Cut the features of ``data`` and bin them."""
        return cls.by(Binning.of(data, max_bins), data, memory)

    @classmethod
    def by(cls, binning: Binning, data: Dataset, memory: str = "fast") -> Binned:
        """Bin ``data`` at thresholds that another data set gave."""
        if memory not in MEMORY:
            raise SettingsError(f"memory must be one of {', '.join(map(repr, MEMORY))}, not {memory!r}")
        if data.n_features != binning.n_features:
            raise DataError(
                f"the data has {data.n_features} features; the bins were made for {binning.n_features} features"
            )
        n = data.n_documents
        width = len(binning.features)
        padded = -(-width // WORD) * WORD
        rows = np.empty((n, padded), dtype=dtypes.BIN)
        rows[:, width:] = 0
        columns = np.empty((width, n), dtype=dtypes.BIN) if memory == "fast" else None

        def fill(first: int, last: int) -> None:
            begin, end = int(data.query_starts[first]), int(data.query_starts[last])
            map_to_bins(
                data.features,
                data.rows,
                binning.features,
                binning.thresholds,
                binning.cut_starts,
                binning.n_bins,
                begin,
                end,
                rows,
            )
            if columns is not None:
                transpose(rows, begin, end, columns)

        over_queries(data.query_starts, fill)
        return cls(binning, rows, columns, data.query_starts, data.query_hashes)

    @property
    def n_documents(self) -> int:
        return self.rows.shape[0]
