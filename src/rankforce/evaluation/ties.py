"""Ranking documents by score when scores are equal: the policies, and the values of measures under them.

========================  ================================================================================
``stable``                equal scores in the order of the rows
``expected``              the mean over all orders of documents with equal scores
``pessimistic``           the document worth less first
``optimistic``            the document worth more first
``hashed``                by a hash of seed, query id and position in the query: as in training
========================  ================================================================================

Conventions add one more order, ``document ids``: equal scores by falling document id, as trec_eval does.

The expected value is exact where a measure can say it (``expected_value``). Elsewhere it is the mean over
``RANDOM_ORDERS`` seeded random orders of the queries that have ties, and its variance is reported.

A document whose score is −∞ was not retrieved: it has no rank and earns nothing, but it counts in the ideal ranking
and in the number of relevant documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from rankforce import dtypes
from rankforce.cached_properties import cached_property
from rankforce.data.dataset import Dataset, tie_breakers
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError
from rankforce.kernels.ranking.ordering import order_documents
from rankforce.kernels.ranking.values import query_expected_values, query_values
from rankforce.measures.judged import JudgedMeasure
from rankforce.measures.method_check import check_expected_values
from rankforce.remedies import DOCUMENT_IDS
from rankforce.threads import over_queries

HASHED = "hashed"
POLICIES = ("stable", "expected", "pessimistic", "optimistic", HASHED)
BY_DOCUMENT_ID = "document ids"
RANDOM_ORDERS = 100

_id_keys: WeakKeyDictionary[Dataset, np.ndarray] = WeakKeyDictionary()


class QueryValues(NamedTuple):
    """One entry per query: the value (NaN for a blank query) and its variance where it was sampled, else None."""

    values: np.ndarray
    variances: np.ndarray | None


class RankedDocuments:
    """The documents that a measure ranks: those it keeps (``judged_only``) that were retrieved.

    ``places`` are their places among the measure's documents, or None if these are all.
    """

    def __init__(
        self, scores: np.ndarray, starts: np.ndarray, keys: np.ndarray | None, keep_unretrieved: bool = False
    ) -> None:
        self.places: np.ndarray | None = None
        self.unretrieved: np.ndarray | None = None
        retrieved = scores != -np.inf
        if retrieved.all():
            pass
        elif keep_unretrieved:
            self.unretrieved = ~retrieved
        else:
            self.places = np.flatnonzero(retrieved)
            starts = np.concatenate([[0], np.cumsum(retrieved)])[starts].astype(dtypes.OFFSET)
            starts.setflags(write=False)
            scores = scores[self.places]
            keys = None if keys is None else keys[self.places]
        self.scores = scores
        self.starts = starts
        self.keys = np.zeros(len(scores), dtype=dtypes.HASH) if keys is None else keys

    @cached_property
    def order(self) -> np.ndarray:
        """The order that does not depend on worth, made once for all measures."""
        return self.ordered_by(self.keys)

    def ordered_by(self, keys: np.ndarray) -> np.ndarray:
        """Documents by falling score, equal scores by rising key, equal keys in the order of the rows."""
        order = np.empty(len(self.scores), dtype=dtypes.INDEX)
        over_queries(self.starts, lambda a, b: order_documents(self.scores, keys, self.starts, a, b, order))
        return order

    def of(self, values: np.ndarray) -> np.ndarray:
        """Values of the measure's documents, for those that are ranked."""
        return values if self.places is None else np.ascontiguousarray(values[self.places])

    def worth(self, judged: JudgedMeasure) -> np.ndarray:
        """What each ranked document earns its query."""
        worth = self.of(judged.worth)
        return worth if self.unretrieved is None else np.where(self.unretrieved, 0.0, worth)

    def tied_queries(self) -> np.ndarray:
        """The numbers of the queries in which two documents have the same score."""
        ranked = self.scores[self.order]
        equal = np.flatnonzero(ranked[1:] == ranked[:-1]) + 1
        queries = np.searchsorted(self.starts, equal, side="right") - 1
        return np.unique(queries[equal != self.starts[queries]])

    def taking(self, queries: np.ndarray) -> tuple[RankedDocuments, np.ndarray]:
        """Some queries alone, and the places of their documents among the ranked ones."""
        sizes = np.diff(self.starts)[queries]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(dtypes.OFFSET)
        starts.setflags(write=False)
        indices = np.arange(starts[-1]) + np.repeat(self.starts[queries] - starts[:-1], sizes)
        return RankedDocuments(self.scores[indices], starts, self.keys[indices]), indices


class RankedData:
    """A data set under one set of scores and one tie policy; orders are shared between measures.

    ``scores`` are in ``by_query`` order, float64, without NaN.
    """

    def __init__(self, data: Dataset, scores: np.ndarray, ties: str, seed: int) -> None:
        self.data = data
        self.scores = scores
        self.ties = ties
        self.seed = seed
        self._keys: np.ndarray | None = None
        if ties == BY_DOCUMENT_ID:
            self._keys = document_id_keys(data)
        elif ties == HASHED:
            self._keys = tie_breakers(data, seed)
        self._ranked: dict[tuple[int, bool], RankedDocuments] = {}

    def documents(self, judged: JudgedMeasure | None = None) -> RankedDocuments:
        """What a measure ranks; without a measure, all documents that were retrieved."""
        kept = None if judged is None else judged.kept
        keep_unretrieved = judged is not None and judged.measure.COUNTS_UNRETRIEVED
        which = (id(kept), keep_unretrieved)  # the label source holds on to ``kept``, so its id stays its own
        if which not in self._ranked:
            scores, starts, keys = self.scores, self.data.query_starts, self._keys
            if judged is not None and kept is not None:
                scores, starts = judged.of_kept(scores), judged.starts
                keys = None if keys is None else judged.of_kept(keys)
            self._ranked[which] = RankedDocuments(scores, starts, keys, keep_unretrieved)
        return self._ranked[which]

    def order(self, judged: JudgedMeasure) -> np.ndarray:
        """The documents of each query in the order in which their values are counted."""
        ranked = self.documents(judged)
        if self.ties == "pessimistic":
            return ranked.ordered_by(rising(ranked.worth(judged)))
        if self.ties == "optimistic":
            return ranked.ordered_by(~rising(ranked.worth(judged)))
        return ranked.order

    def values(self, judgements: Sequence[JudgedMeasure]) -> list[QueryValues]:
        """The value of every query under the tie policy, for each of several measures.

        Measures that share an order are computed in the same walk over the queries that makes it.
        """
        jobs = [_Job(judged, self.documents(judged), self.ties == "expected") for judged in judgements]
        walks: dict[int, _OrderWalk] = {}
        for number, job in enumerate(jobs):
            if self.ties in ("pessimistic", "optimistic"):
                keys = rising(job.worth)
                walks[-number - 1] = _OrderWalk(job.ranked, ~keys if self.ties == "optimistic" else keys, [job])
            else:
                walks.setdefault(id(job.ranked), _OrderWalk(job.ranked, job.ranked.keys, [])).jobs.append(job)
        for number, walk in walks.items():
            over_queries(walk.ranked.starts, walk.run)
            if number >= 0:
                walk.ranked.order = walk.order
        return [self._finished(job) for job in jobs]

    def _finished(self, job: _Job) -> QueryValues:
        variances = None
        if self.ties == "expected" and not job.exact:
            variances = self._sample(job)
        job.values[job.empty & (job.judged.normalisers != 0.0)] = 0.0
        job.judged.check_values(job.values)
        return QueryValues(job.values, variances)

    def _sample(self, job: _Job) -> np.ndarray | None:
        """Replace the values of queries with ties by means over random orders; their variances."""
        ranked = job.ranked
        tied = ranked.tied_queries()
        tied = tied[job.normalisers[tied] != 0.0]
        if not len(tied):
            return None
        part, places = ranked.taking(tied)
        sizes = np.diff(part.starts)
        queries = np.repeat(self.data.query_hashes[tied], sizes)
        positions = np.arange(len(places)) - np.repeat(part.starts[:-1], sizes)
        worth, normalisers, measure = job.worth[places], job.normalisers[tied], job.judged.kernel_tuple
        sampled = np.empty((RANDOM_ORDERS, len(tied)))
        for number in range(RANDOM_ORDERS):
            order = part.ordered_by(Stream.TIE_ORDERS.words(self.seed, queries, positions, number))
            query_values(measure, worth, order, normalisers, part.starts, 0, len(tied), sampled[number])
        job.values[tied] = sampled.mean(axis=0)
        variances = np.zeros(len(job.values))
        variances[tied] = sampled.var(axis=0, ddof=1) / RANDOM_ORDERS
        return variances


class _Job:
    """One measure on the documents it ranks: ``run`` fills ``values`` for a range of queries."""

    def __init__(self, judged: JudgedMeasure, ranked: RankedDocuments, expected: bool) -> None:
        self.judged = judged
        self.ranked = ranked
        self.worth = ranked.worth(judged)
        # A query of which nothing was retrieved earns nothing; measures need not know how to rank no documents.
        self.empty = np.diff(ranked.starts) == 0
        self.normalisers = np.where(self.empty, 0.0, judged.normalisers) if self.empty.any() else judged.normalisers
        self.values = np.empty(len(self.normalisers))
        self.exact = expected and hasattr(judged.measure.Kernel, "expected_value")
        if self.exact:
            check_expected_values(judged)

    def run(self, order: np.ndarray, first: int, last: int) -> None:
        measure, worth, ranked, out = self.judged.kernel_tuple, self.worth, self.ranked, self.values
        if self.exact:
            query_expected_values(
                measure, worth, order, ranked.scores, self.normalisers, ranked.starts, first, last, out
            )
        else:
            query_values(measure, worth, order, self.normalisers, ranked.starts, first, last, out)


class _OrderWalk:
    """One order and the measures computed from it."""

    def __init__(self, ranked: RankedDocuments, keys: np.ndarray, jobs: list[_Job]) -> None:
        self.ranked = ranked
        self.keys = keys
        self.jobs = jobs
        self.order = np.empty(len(ranked.scores), dtype=dtypes.INDEX)

    def run(self, first: int, last: int) -> None:
        order_documents(self.ranked.scores, self.keys, self.ranked.starts, first, last, self.order)
        for job in self.jobs:
            job.run(self.order, first, last)


def rising(worth: np.ndarray) -> np.ndarray:
    """Whole numbers in the order of these real numbers."""
    bits = np.ascontiguousarray(worth + 0.0).view(np.uint64)  # −0 + 0 is 0: both zeros are one number
    sign = np.uint64(1) << np.uint64(63)
    return np.where(bits & sign, ~bits, bits | sign)


def document_id_keys(data: Dataset) -> np.ndarray:
    """Whole numbers (``by_query`` order) that rise as document ids, compared as text, fall."""
    if data.document_ids is None:
        raise DataError("this convention orders equal scores by document id, and the data has none: ", DOCUMENT_IDS)
    if data not in _id_keys:
        texts = np.array([str(one).encode("utf-8", "surrogatepass") for one in data.document_ids], dtype=object)
        _, places = np.unique(texts, return_inverse=True)
        keys = (len(texts) - places).astype(dtypes.HASH)
        _id_keys[data] = np.array(data.by_query(keys))
    return _id_keys[data]
