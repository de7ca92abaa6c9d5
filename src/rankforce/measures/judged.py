"""A measure applied to the labels of a data set: everything about it that does not depend on scores."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset
from rankforce.kernels.ordering import order_documents
from rankforce.kernels.values import query_normalisers, query_values
from rankforce.measures.measure import Measure
from rankforce.threads import over_queries


class Judged:
    """Worth and normalisers of a data set under a measure.

    All arrays are in ``by_query`` order: the documents of a query adjacent. Where the measure leaves unlabelled
    documents out (``judged_only``), ``kept`` holds the places of the others and every array here is that much
    shorter; otherwise ``kept`` is None.
    """

    def __init__(self, data: Dataset, measure: Measure) -> None:
        self.measure = measure
        labels = data.by_query(measure.labels_of(data.labels))
        starts = data.query_starts
        self.kept: np.ndarray | None = None
        if measure.leaves_out_unlabelled and np.isnan(labels).any():
            self.kept = np.flatnonzero(~np.isnan(labels))
            starts = np.concatenate([[0], np.cumsum(~np.isnan(labels))])[starts].astype(dtypes.OFFSET)
            labels = labels[self.kept]
        self.labels = np.ascontiguousarray(labels)
        self.starts = np.ascontiguousarray(starts)
        self.worth = np.ascontiguousarray(measure.worth(self.labels), dtype=dtypes.WORTH)
        self.kernel_tuple = measure.kernel_tuple()

    @cached_property
    def normalisers(self) -> np.ndarray:
        """One per query; 0 marks a blank query: no labelled document can raise its value."""
        n_queries = len(self.starts) - 1
        missing = np.isnan(self.labels)
        keys = np.where(missing, -np.inf, self.worth)
        order = np.empty(len(keys), dtype=dtypes.INDEX)
        ties = np.zeros(len(keys), dtype=dtypes.HASH)
        over_queries(self.starts, lambda a, b: order_documents(keys, ties, self.starts, a, b, order))
        labelled = np.diff(np.concatenate([[0], np.cumsum(~missing)])[self.starts]).astype(dtypes.OFFSET)
        result = np.empty(n_queries)
        over_queries(
            self.starts,
            lambda a, b: query_normalisers(self.kernel_tuple, self.worth, order, labelled, self.starts, a, b, result),
        )
        return result

    def of_kept(self, values: np.ndarray) -> np.ndarray:
        """Values given for all documents (``by_query`` order), for those that the measure sees."""
        return values if self.kept is None else np.ascontiguousarray(values[self.kept])

    def values(self, order: np.ndarray) -> np.ndarray:
        """The value of each query when documents are ranked in ``order``; NaN for blank queries."""
        normalisers = self.normalisers
        result = np.empty(len(normalisers))
        over_queries(
            self.starts,
            lambda a, b: query_values(self.kernel_tuple, self.worth, order, normalisers, self.starts, a, b, result),
        )
        return result
