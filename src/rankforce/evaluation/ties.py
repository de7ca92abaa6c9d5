"""Ranking documents by score when scores are equal: the policies, and the values of measures under them.

========================  =============================================================================
``stable``                equal scores in the order of the rows
``expected``              the mean over all orders of documents with equal scores
``pessimistic``           the document worth less first
``optimistic``            the document worth more first
========================  =============================================================================

Conventions add one more order, ``document ids``: equal scores by falling document id, as trec_eval does.

The expected value is exact where a measure can say it (``expected_value``). Elsewhere it is the mean over
``RANDOM_ORDERS`` seeded random orders of the queries that have ties, and its variance is reported.

A document whose score is −∞ was not retrieved: it has no rank and earns nothing, but it counts in the ideal ranking
and in the number of relevant documents.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import combine
from rankforce.errors import DataError
from rankforce.kernels.ordering import order_documents
from rankforce.kernels.values import query_expected_values, query_values
from rankforce.measures.judged import Judged
from rankforce.threads import over_queries

POLICIES = ("stable", "expected", "pessimistic", "optimistic")
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
        self._order: np.ndarray | None = None

    @property
    def order(self) -> np.ndarray:
        """The order that does not depend on worth, made once for all measures."""
        if self._order is None:
            self._order = self.ordered_by(self.keys)
        return self._order

    def ordered_by(self, keys: np.ndarray) -> np.ndarray:
        """Documents by falling score, equal scores by rising key, equal keys in the order of the rows."""
        order = np.empty(len(self.scores), dtype=dtypes.INDEX)
        over_queries(self.starts, lambda a, b: order_documents(self.scores, keys, self.starts, a, b, order))
        return order

    def of(self, values: np.ndarray) -> np.ndarray:
        """Values of the measure's documents, for those that are ranked."""
        return values if self.places is None else np.ascontiguousarray(values[self.places])

    def worth(self, judged: Judged) -> np.ndarray:
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
        places = np.arange(starts[-1]) + np.repeat(self.starts[queries] - starts[:-1], sizes)
        return RankedDocuments(self.scores[places], starts, self.keys[places]), places


class Ranking:
    """A data set under one set of scores and one tie policy; orders are shared between measures.

    ``scores`` are in ``by_query`` order, float64, without NaN.
    """

    def __init__(self, data: Dataset, scores: np.ndarray, ties: str, seed: int) -> None:
        self.data = data
        self.scores = scores
        self.ties = ties
        self.seed = seed
        self._keys = document_id_keys(data) if ties == BY_DOCUMENT_ID else None
        self._ranked: dict[tuple[int, bool], RankedDocuments] = {}

    def documents(self, judged: Judged | None = None) -> RankedDocuments:
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

    def order(self, judged: Judged) -> np.ndarray:
        """The documents of each query in the order in which their values are counted."""
        ranked = self.documents(judged)
        if self.ties == "pessimistic":
            return ranked.ordered_by(rising(ranked.worth(judged)))
        if self.ties == "optimistic":
            return ranked.ordered_by(~rising(ranked.worth(judged)))
        return ranked.order

    def values(self, judged: Judged) -> QueryValues:
        """The value of every query under the tie policy."""
        ranked = self.documents(judged)
        normalisers = judged.normalisers
        # A query of which nothing was retrieved earns nothing; measures need not know how to rank no documents.
        empty = np.diff(ranked.starts) == 0
        asked = np.where(empty, 0.0, normalisers) if empty.any() else normalisers
        worth = ranked.worth(judged)
        variances = None
        if self.ties != "expected":
            values = _values(judged, ranked, worth, asked, self.order(judged))
        elif hasattr(judged.measure.Kernel, "expected_value"):
            values = _expected_values(judged, ranked, worth, asked)
        else:
            values, variances = self._sampled_values(judged, ranked, worth, asked)
        values[empty & (normalisers != 0.0)] = 0.0
        return QueryValues(values, variances)

    def _sampled_values(
        self, judged: Judged, ranked: RankedDocuments, worth: np.ndarray, normalisers: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        values = _values(judged, ranked, worth, normalisers, ranked.order)
        tied = ranked.tied_queries()
        tied = tied[normalisers[tied] != 0.0]
        if not len(tied):
            return values, None
        part, places = ranked.taking(tied)
        worth, normalisers = worth[places], normalisers[tied]
        sizes = np.diff(part.starts)
        queries = np.repeat(self.data.query_hashes[tied], sizes)
        positions = np.arange(len(places)) - np.repeat(part.starts[:-1], sizes)
        sampled = np.empty((RANDOM_ORDERS, len(tied)))
        for number in range(RANDOM_ORDERS):
            order = part.ordered_by(combine(self.seed, queries, positions, number))
            sampled[number] = _values(judged, part, worth, normalisers, order)
        values[tied] = sampled.mean(axis=0)
        variances = np.zeros(len(values))
        variances[tied] = sampled.var(axis=0, ddof=1) / RANDOM_ORDERS
        return values, variances


def rising(worth: np.ndarray) -> np.ndarray:
    """Whole numbers in the order of these real numbers."""
    bits = np.ascontiguousarray(worth + 0.0).view(np.uint64)  # −0 + 0 is 0: both zeros are one number
    sign = np.uint64(1) << np.uint64(63)
    return np.where(bits & sign, ~bits, bits | sign)


def document_id_keys(data: Dataset) -> np.ndarray:
    """Whole numbers (``by_query`` order) that rise as document ids, compared as text, fall."""
    if data.document_ids is None:
        raise DataError(
            "this convention orders equal scores by document id, and the data has none: "
            "give document_ids= to the Dataset (LETOR comments and TREC files have them)"
        )
    if data not in _id_keys:
        texts = np.array([str(one).encode() for one in data.document_ids], dtype=object)
        _, places = np.unique(texts, return_inverse=True)
        keys = (len(texts) - places).astype(dtypes.HASH)
        _id_keys[data] = np.array(data.by_query(keys))
    return _id_keys[data]


def _values(
    judged: Judged, ranked: RankedDocuments, worth: np.ndarray, normalisers: np.ndarray, order: np.ndarray
) -> np.ndarray:
    result = np.empty(len(normalisers))
    measure, starts = judged.kernel_tuple, ranked.starts
    over_queries(starts, lambda a, b: query_values(measure, worth, order, normalisers, starts, a, b, result))
    return result


def _expected_values(judged: Judged, ranked: RankedDocuments, worth: np.ndarray, normalisers: np.ndarray) -> np.ndarray:
    result = np.empty(len(normalisers))
    measure, starts, order, scores = judged.kernel_tuple, ranked.starts, ranked.order, ranked.scores
    over_queries(
        starts,
        lambda a, b: query_expected_values(measure, worth, order, scores, normalisers, starts, a, b, result),
    )
    return result
