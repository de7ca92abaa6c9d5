"""How values are distributed over whole queries, in few numbers: what drift is measured against.

A column becomes at most some dozens of bins with exact counts, and four numbers that say how much the shares of the
bins differ from query to query. The rows of a query are no independent draws (a feature of the query has one value in
all of them), so that what chance does to a share can only be told from whole queries.

Of the bins that at least ``ENOUGH`` queries have documents in (missing values have a bin of their own, the last): c_ib
documents of query i are in bin b, m_i in all of them, p are the shares of all documents, p̃ the same with half a
document more in every bin, and z_ib = (c_ib − m_i p_b) / (m̄ √p̃_b). D² = Σ_b (q_b − p_b)² / p̃_b is the distance of
other shares q from p. If q is of further queries of the same kind, mean and variance of D² follow from

    trace    E‖z‖² = Σ_b Var z_b
    squares  Σ_bc Cov(z_b, z_c)²
    spread   Var ‖z‖²

and the noise of cumulated shares from ``steps``, the largest variance of a sum of (c_ib − m_i p_b) / m̄ over the first
bins. Of the other bins it counts how many queries hold them. Everything is summed in whole numbers or exactly rounded:
the order of the queries does not matter. Of large data some whole queries are looked at, chosen by a hash of their ids:
what chance does to them is part of the arithmetic.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce import dtypes
from rankforce.collective import alone, gathered, total
from rankforce.data.categories import Category
from rankforce.data.random_streams import Stream
from rankforce.threads import over_pieces

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset

BINS = 20  # about so many, of about equally many values; of few queries fewer
ENOUGH = 5  # queries that hold a bin: of fewer nothing is known about how they vary
QUERIES_PER_BIN = 8
SAMPLE = 100_000  # about so many documents are looked at
SCORES = 20_000  # of so many documents
COLUMNS_AT_A_TIME = 8
ROWS_AT_A_TIME = 1 << 15
FEW_ROWS = 20_000  # below which two threads would mostly wait for each other, to begin the next short operation
MANY = 1 << 14  # numbers that are sorted faster by a kernel, which trainings compile anyway
DIGITS = 6  # of the numbers about queries


@dataclasses.dataclass(frozen=True)
class Distribution:
    """The values of one column.

    cuts : rising float32 numbers; bin b holds what is above cut b − 1 and at most cut b, the last bin the rest. Of a
        categorical feature the codes of its most frequent categories, a bin each, the last bin the others
    counts : documents of each bin; missing : documents without a value
    holders : queries that have documents in each bin and, last, documents without a value
    trace, squares, spread, steps : see above; 0 where at most one bin is held by enough queries
    categories : of a categorical feature, its most frequent categories, as ``cuts``
    """

    cuts: tuple[float, ...]
    counts: tuple[int, ...]
    missing: int
    holders: tuple[int, ...]
    trace: float = 0.0
    squares: float = 0.0
    spread: float = 0.0
    steps: float = 0.0
    categories: tuple[Category, ...] | None = None

    @property
    def documents(self) -> int:
        return sum(self.counts) + self.missing

    @property
    def missing_share(self) -> float:
        return self.missing / self.documents

    @property
    def totals(self) -> np.ndarray:
        """Documents of each bin and, last, without a value."""
        return np.array([*self.counts, self.missing])

    @property
    def common(self) -> np.ndarray:
        """Which of them enough queries hold."""
        return np.array(self.holders) >= ENOUGH

    def bins(self, values: np.ndarray) -> np.ndarray:
        """The bin of every value; missing values have the bin after the last."""
        cuts = np.array(self.cuts, dtype=dtypes.FEATURE)
        place = np.zeros(len(values), dtype=np.uint8)
        known = np.zeros(len(values), dtype=bool)
        for first in range(0, len(values), ROWS_AT_A_TIME):  # which stay in the cache while every cut passes
            block, found = values[first : first + ROWS_AT_A_TIME], place[first : first + ROWS_AT_A_TIME]
            for cut in cuts:
                found += (block > cut).view(np.uint8)
            if self.categories is not None:
                for cut in cuts:
                    known[first : first + ROWS_AT_A_TIME] |= block == cut
            found[np.isnan(block)] = len(self.counts)
        if self.categories is not None:
            place[~known & ~np.isnan(values)] = len(cuts)
        return place


@dataclasses.dataclass(frozen=True)
class KnownData:
    """What a model keeps of the data that it was trained on, and of its scores for the validation data.

    all_queries : queries of the training data; queries : those that the distributions are of
    scores : of ``score_queries`` queries that it did not learn from; None where there were none: scores of the training
        data are those of an overfitted model, and other data would always look as if it had drifted
    """

    all_queries: int
    queries: int
    features: tuple[Distribution, ...]
    scores: Distribution | None = None
    score_queries: int = 0


def known_data(data: Dataset) -> KnownData:
    """The distributions of all features of a data set."""
    chosen = sampled_queries(data, SAMPLE)
    sizes = gathered(data.query_sizes[chosen])
    rows = data.rows[np.repeat(chosen, data.query_sizes)]
    whole = data.contiguous and len(rows) == data.n_documents
    features: list[Any] = [None] * data.n_features

    def look(first: int, last: int) -> None:
        block = gathered(data.features[:, first:last] if whole else data.features[rows, first:last])
        for place, column in enumerate(np.ascontiguousarray(block.T), start=first):
            features[place] = column_distribution(column, sizes, data.categories.get(data.feature_names[place]))

    edges = [*range(0, data.n_features, COLUMNS_AT_A_TIME), data.n_features]
    if alone() and len(rows) >= FEW_ROWS:
        over_pieces(edges, look)
    else:  # also of members, who exchange one block after the other
        for first, last in itertools.pairwise(edges):
            look(first, last)
    return KnownData(total(data.n_queries), len(sizes), tuple(features))


def distribution_of(values: np.ndarray, data: Dataset) -> Distribution:
    """The distribution of one number per row, such as scores; in float32, as features are."""
    column = np.ascontiguousarray(data.by_query(values), dtype=dtypes.FEATURE)
    return column_distribution(gathered(column), gathered(data.query_sizes), None)


def sampled_queries(data: Dataset, documents: int) -> np.ndarray:
    """A mask of queries with about so many documents, chosen by a hash of their ids; all, if there are no more."""
    if total(data.n_documents) <= documents:
        return np.ones(data.n_queries, dtype=bool)
    words = known_words(data.query_hashes)
    return words <= last_hash(gathered(words), gathered(data.query_sizes), documents)


def known_words(hashes: np.ndarray) -> np.ndarray:
    """By which queries are chosen, of the hashes of their ids."""
    return Stream.KNOWN_QUERIES.words(hashes)


def last_hash(hashes: np.ndarray, sizes: np.ndarray, documents: int) -> np.uint64:
    """The largest hash of the first queries, in the order of their hashes, that have so many documents together."""
    order = np.argsort(hashes, kind="stable")
    last: np.uint64 = hashes[order[np.searchsorted(np.cumsum(sizes[order]), documents)]]
    return last


def column_distribution(column: np.ndarray, sizes: np.ndarray, categories: Sequence[Category] | None) -> Distribution:
    """The distribution of a column in ``by_query`` order, of queries of these sizes."""
    there = column[~np.isnan(column)]
    bins = min(BINS, max(2, len(sizes) // QUERIES_PER_BIN))
    cuts = _cuts(there, bins) if categories is None else _frequent(there, len(categories), bins)
    counted = Distribution(
        cuts=tuple(float(str(cut)) for cut in cuts),  # the fewest digits that are this float32 number
        counts=(0,) * (len(cuts) + 1),
        missing=len(column) - len(there),
        holders=(),
        categories=None if categories is None else tuple(categories[int(code)] for code in cuts),
    )
    by_query = counts_by_query(counted, column, sizes)
    held = np.count_nonzero(by_query, axis=0)
    return dataclasses.replace(
        counted,
        counts=tuple(by_query.sum(axis=0)[:-1].tolist()),
        holders=tuple(held.tolist()),
        **_between_queries(by_query[:, held >= ENOUGH]),
    )


def counts_by_query(distribution: Distribution, column: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Documents of each query (``by_query`` order) in each bin and, last, without a value: (queries, bins + 1)."""
    width = len(distribution.counts) + 1
    cells = np.repeat(np.arange(len(sizes)) * width, sizes) + distribution.bins(column)
    return np.bincount(cells, minlength=len(sizes) * width).reshape(len(sizes), width)


def _cuts(there: np.ndarray, bins: int) -> np.ndarray:
    """Values that cut others into about so many bins; a value of many documents is cut off on both sides."""
    values = _sorted(there)
    n = len(values)
    if n == 0:
        return values
    places = (np.arange(1, bins) * n + bins - 1) // bins - 1  # of the least value that k/bins of all do not exceed
    quantiles = np.unique(values[places])
    first, last = np.searchsorted(values, quantiles), np.searchsorted(values, quantiles, side="right")
    many = (last - first) * bins >= n
    before = values[np.maximum(first - 1, 0)][many & (first > 0)]
    cuts = np.unique(np.concatenate([quantiles, before]))
    return cuts[cuts < values[-1]]


def _sorted(there: np.ndarray) -> np.ndarray:
    """Numbers, none of them missing, in rising order; zeros without a sign: either may come first."""
    values: np.ndarray = there + 0.0
    if len(values) < MANY or values.dtype != dtypes.FEATURE:
        return np.sort(values)
    from rankforce.kernels.radix_sort import sort_bits

    sort_bits(values.view(np.uint32), np.empty(len(values), dtype=np.uint32))
    return values


def _frequent(codes: np.ndarray, categories: int, bins: int) -> np.ndarray:
    """The codes of the most frequent categories, rising; of equally frequent ones those listed first."""
    counts = np.bincount(codes[codes >= 0].astype(np.int64), minlength=categories)
    order = np.argsort(-counts, kind="stable")[: bins - 1]
    return np.sort(order[counts[order] > 0]).astype(dtypes.FEATURE)


def _between_queries(counts: np.ndarray) -> dict[str, Any]:
    """How much the shares of bins differ from query to query, of documents (queries, bins)."""
    queries, bins = counts.shape
    if bins < 2:
        return {}
    exact = counts.astype(np.float64)  # sums of products of counts stay below 2^53
    sizes, totals = exact.sum(axis=1), exact.sum(axis=0)
    shares, smooth = totals / totals.sum(), smoothed(totals)
    products, by_size = exact.T @ exact, sizes @ exact
    crossed = np.outer(shares, by_size)
    covariance = products - crossed - crossed.T + np.outer(shares, shares) * float(sizes @ sizes)
    unit = (float(totals.sum()) / queries) ** 2  # the square of the mean size
    covariance /= (queries - 1) * unit
    scaled = covariance / np.sqrt(np.outer(smooth, smooth))
    cumulated = np.cumsum(np.cumsum(covariance, axis=0), axis=1)
    by_bin = np.subtract(exact.T, shares[:, None] * sizes, order="C")  # whose rows are added up one after the other
    lengths = (by_bin**2 / smooth[:, None]).sum(axis=0) / unit  # ‖z‖² of every query
    mean = math.fsum(lengths.tolist()) / queries
    found = {
        "trace": float(np.trace(scaled)),
        "squares": float((scaled * scaled).sum()),
        "spread": math.fsum(((lengths - mean) ** 2).tolist()) / (queries - 1),
        "steps": max(float(np.diag(cumulated).max()), 0.0),
    }
    return {name: float(f"{value:.{DIGITS}g}") for name, value in found.items()}


def smoothed(counts: Any) -> np.ndarray:
    """Counts as shares, with half a document more in every bin: none is 0."""
    padded = np.asarray(counts, dtype=np.float64) + 0.5
    return padded / padded.sum()
