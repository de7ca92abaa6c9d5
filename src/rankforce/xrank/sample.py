"""What a ranking graph is grown on: bins, gains and discounts of the documents that take part."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from rankforce import dtypes
from rankforce.binning.binned import Binned
from rankforce.data.dataset import Dataset, tie_breakers
from rankforce.errors import DataError
from rankforce.kernels.xrank.frontier import rank_discounts
from rankforce.measures.judged import judged
from rankforce.measures.mean import QueriesInMean
from rankforce.measures.ndcg import NDCG


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """The labelled documents of the queries on which a ranking can score, queries adjacent.

    queries : bool
        Which queries of the data these are.
    worth, labels : float64 (documents,)
    starts : int64 (queries + 1,)
    order : int32 (documents,)
        The documents of every query by a hash: how ties stand before anything is learned.
    scales : float64 (queries,)
        Weight of the query / (its normaliser × all weights): values add up to the mean of the measure.
    discounts, sums : float64
        Of every rank, and of the first r ranks together.
    bins : uint8 (columns, documents), n_bins : int32 (columns,)
    value_unit, force_unit : float
        Changes of the value, and forces, are summed in multiples of 1/unit: whole numbers, whose sum does not depend
        on the order of queries.
    """

    queries: np.ndarray
    worth: np.ndarray
    labels: np.ndarray
    starts: np.ndarray
    order: np.ndarray
    scales: np.ndarray
    discounts: np.ndarray
    sums: np.ndarray
    bins: np.ndarray
    n_bins: np.ndarray
    value_unit: float
    force_unit: float

    @classmethod
    def of(cls, data: Dataset, binned: Binned, measure: NDCG, seed: int) -> Sample:
        """The documents of ``data`` that take part, with the bins of all."""
        applied = judged(data, measure)
        queries = QueriesInMean(data, applied)
        scored = queries.weights > 0
        if not scored.any():
            raise DataError(f"nothing to learn from: no query has a document that is worth anything to {measure}")
        labels = data.by_query(data.label(measure.label))
        taking_part = ~np.isnan(labels) & np.repeat(scored, data.query_sizes)
        documents = np.flatnonzero(taking_part)
        counts = np.diff(np.concatenate([[0], np.cumsum(taking_part)])[data.query_starts])[scored]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(dtypes.OFFSET)
        worth = np.asarray(measure.worth(labels[documents]), dtype=dtypes.WORTH)
        discounts = np.empty(int(counts.max()))
        rank_discounts(measure.kernel_tuple(), discounts)
        query_of = np.repeat(np.arange(len(counts)), counts)
        hashes = tie_breakers(data, seed)[documents]
        scales = queries.weights[scored] / (applied.normalisers[scored] * queries.total)
        value_unit, force_unit = _units(worth, starts, scales * discounts[0])
        assert binned.columns is not None
        whole = len(documents) == data.n_documents
        return cls(
            queries=scored,
            worth=worth,
            labels=labels[documents],
            starts=starts,
            order=np.lexsort((hashes, query_of)).astype(dtypes.INDEX),
            scales=scales,
            discounts=discounts,
            sums=np.concatenate([[0.0], np.cumsum(discounts)]),
            bins=binned.columns if whole else np.ascontiguousarray(binned.columns[:, documents]),
            n_bins=binned.binning.n_bins,
            value_unit=value_unit,
            force_unit=force_unit,
        )

    def only(self, columns: np.ndarray) -> Sample:
        """The sample with some columns only, given by their numbers."""
        return dataclasses.replace(self, bins=np.ascontiguousarray(self.bins[columns]), n_bins=self.n_bins[columns])

    def reweighted(self, factors: np.ndarray) -> Sample:
        """The sample with queries that count ``factors`` times as much as they did, against each other."""
        ideal = np.add.reduceat(self.worth, self.starts[:-1]) * self.scales  # any measure of what a query counts
        scales = self.scales * (factors * (math.fsum(ideal) / math.fsum(ideal * factors)))
        value_unit, force_unit = _units(self.worth, self.starts, scales * self.discounts[0])
        return dataclasses.replace(self, scales=scales, value_unit=value_unit, force_unit=force_unit)

    @property
    def n_documents(self) -> int:
        return len(self.worth)


def _units(worth: np.ndarray, starts: np.ndarray, tops: np.ndarray) -> tuple[float, float]:
    """(value_unit, force_unit), with ``tops`` what worth 1 at the top counts in each query."""
    sizes = np.diff(starts).astype(np.float64)
    most = np.maximum.reduceat(np.abs(worth), starts[:-1]) * tops
    return _unit(math.fsum(most * sizes)), _unit(math.fsum(most * sizes**2))


def _unit(largest: float) -> float:
    """A power of two by which sums of at most ``largest`` become whole numbers below 2^61."""
    return math.ldexp(1.0, 60 - math.frexp(largest)[1])
