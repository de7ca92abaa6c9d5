"""Where every feature is cut into at most 255 bins: thresholds of numbers, bins of categories."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.binning.category_bins import CategoryBins, category_bins
from rankforce.binning.cuts import Cuts, find_cuts
from rankforce.collective import gathered, total
from rankforce.data.dataset import Dataset
from rankforce.data.random_streams import Stream
from rankforce.errors import SettingsError

MOST_BINS = 255  # a byte holds these and the bin of missing values
EXACT_ROWS = 2_000_000  # quantiles are exact up to here; above, they come from the queries with the smallest hashes
BEYOND = np.finfo(np.float32).max  # the threshold of the last bin: every value is at most this


@dataclasses.dataclass(frozen=True, eq=False)
class Binning:
    """Where the features are cut. Only ``features`` that are not constant have bins.

    features : int32 (columns,)
        The number of the feature in each column of a binned matrix, rising.
    n_bins : int32 (columns,)
        Bins of values; a missing value is in bin ``n_bins``.
    cut_starts : int64 (columns + 1,)
    thresholds : float32
        ``thresholds[cut_starts[j] + b]`` is the largest value in bin b of column j; the last bin's is float32's
        largest number. A categorical column has none.
    n_features : int
        Features of the data, constant ones included.
    category_bins : mapping of column to uint8 (categories,)
        Of every categorical column the bin of each category; the last bin is that of all others (``CategoryBins``).
    """

    features: np.ndarray
    n_bins: np.ndarray
    cut_starts: np.ndarray
    thresholds: np.ndarray
    n_features: int
    category_bins: Mapping[int, np.ndarray] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, data: Dataset, max_bins: int = MOST_BINS) -> Binning:
        """Cut the features of ``data``: a bin per value if there are at most ``max_bins``, else quantiles.

        The threshold between two bins is the float32 midpoint of the neighbouring values if that is strictly below
        the upper one, else the lower value; ``x <= threshold`` belongs below. Of a categorical feature the
        ``max_bins`` − 1 most frequent categories have a bin each, all others one together. Nothing depends on the order
        of queries.
        """
        if isinstance(max_bins, bool) or not isinstance(max_bins, int) or not 2 <= max_bins <= MOST_BINS:
            raise SettingsError(f"max_bins must be a whole number from 2 to {MOST_BINS}, not {max_bins!r}")
        rows = _sample_rows(data)
        found = find_cuts(data.features, rows, max_bins)
        of_features = {
            j: category_bins(data.features[:, j], int(data.n_categories[j]), max_bins)
            for j in np.flatnonzero(data.n_categories).tolist()
        }
        return cls.from_cuts(found, total(data.n_documents if rows is None else len(rows)), of_features)

    @classmethod
    def from_cuts(cls, found: Cuts, n_rows: int, of_features: Mapping[int, CategoryBins] | None = None) -> Binning:
        """Of features that were cut by so many rows; cuts of those that have bins of categories are not looked at."""
        n_bins, present, cuts = found
        filled = n_bins + (present < n_rows)
        categorical = of_features or {}
        for j, bins in categorical.items():
            n_bins[j], filled[j] = bins.n_bins, bins.filled
        used = np.flatnonzero(filled > 1).astype(dtypes.INDEX)
        cuts[used, n_bins[used] - 1] = BEYOND
        thresholds = [cuts[j, : 0 if j in categorical else n_bins[j]] for j in used.tolist()]
        tables = {column: categorical[j].of_code for column, j in enumerate(used.tolist()) if j in categorical}
        return cls(used, n_bins[used], *_joined(thresholds), len(n_bins), tables)

    def only(self, columns: np.ndarray) -> Binning:
        """The binning of some columns, given by their numbers."""
        parts = [self.thresholds[self.cut_starts[j] : self.cut_starts[j + 1]] for j in columns]
        tables = {place: self.category_bins[j] for place, j in enumerate(columns) if j in self.category_bins}
        return Binning(self.features[columns], self.n_bins[columns], *_joined(parts), self.n_features, tables)

    def split_thresholds(self, columns: np.ndarray, bins: np.ndarray) -> np.ndarray:
        """The largest values in bins of columns; 0 for a categorical column."""
        if not self.category_bins:  # looking for them takes longer than all the rest
            return self.thresholds[self.cut_starts[columns] + bins]
        numeric = ~np.isin(columns, list(self.category_bins))
        found = np.zeros(len(columns), dtype=dtypes.FEATURE)
        found[numeric] = self.thresholds[self.cut_starts[columns[numeric]] + bins[numeric]]
        return found

    def threshold(self, column: int, b: int) -> np.float32:
        """The largest value in bin ``b`` of a column."""
        result: np.float32 = self.thresholds[self.cut_starts[column] + b]
        return result

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Binning):
            return NotImplemented
        return (
            self.n_features == other.n_features
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in ("features", "n_bins", "thresholds")
            )
            and self.category_bins.keys() == other.category_bins.keys()
            and all(np.array_equal(table, other.category_bins[j]) for j, table in self.category_bins.items())
        )

    __hash__ = None  # type: ignore[assignment]  # arrays inside


def _joined(thresholds: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(where those of each column start, all of them)."""
    starts = np.concatenate([[0], np.cumsum([len(part) for part in thresholds])]).astype(dtypes.OFFSET)
    return starts, np.concatenate(thresholds) if thresholds else np.empty(0, dtype=dtypes.FEATURE)


def _sample_rows(data: Dataset) -> np.ndarray | None:
    """The rows that quantiles are taken from; None for all of them."""
    if total(data.n_documents) <= EXACT_ROWS:
        return None
    words = sample_words(data.query_hashes)
    everybodys = gathered(np.column_stack([words, data.query_sizes.astype(np.uint64)]))
    return np.flatnonzero((words <= last_sampled(everybodys[:, 0], everybodys[:, 1]))[data.row_queries])


def sample_words(query_hashes: np.ndarray) -> np.ndarray:
    """By which queries are chosen for the sample: those with the smallest."""
    return Stream.BINNING_SAMPLE.words(0, query_hashes)


def last_sampled(words: np.ndarray, sizes: np.ndarray) -> np.uint64:
    """The largest hash of the queries in the sample: in the order of their hashes, up to ``EXACT_ROWS`` documents.

    ``sizes`` are their documents, of which there are more.
    """
    by_hash = np.argsort(words, kind="stable")
    last: np.uint64 = words[by_hash[np.searchsorted(np.cumsum(sizes[by_hash]), EXACT_ROWS)]]
    return last
