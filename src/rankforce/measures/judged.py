"""A measure applied to the labels of a data set: everything about it that does not depend on scores.

``judged(data, measure)`` keeps what it makes for as long as the data set lives: whoever evaluates again on the same
data (early stopping, a second ranker) pays for labels, ideal orders and normalisers once. A function or class of the
user's is looked at anew each time: what it reads may have changed.
"""

from __future__ import annotations

import weakref
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from rankforce import dtypes
from rankforce.cached_properties import cached_property
from rankforce.collective import anybody, collective, union
from rankforce.compiling.kernel_values import is_foreign
from rankforce.data.dataset import Dataset
from rankforce.data.dataset_columns import label_remedy
from rankforce.displayed_text import displayed
from rankforce.errors import MeasureError
from rankforce.kernels.forces.kept_documents import order_of_kept
from rankforce.kernels.ranking.ordering import reorder_documents
from rankforce.kernels.ranking.values import query_normalisers, query_values
from rankforce.kinds import Whole
from rankforce.measures.measure import Measure
from rankforce.threads import FEW, FEW_IN_A_PASS, over_queries
from rankforce.user_code.code_identity import CodeIdentity, NoIdentityError

MOST_KEPT = 32  # measures remembered per data set: each holds one float64 per document

_sources: WeakKeyDictionary[Dataset, dict[tuple[Any, ...], LabelSource]] = WeakKeyDictionary()
_judged: WeakKeyDictionary[Dataset, dict[tuple[Measure, tuple[Any, ...]], JudgedMeasure]] = WeakKeyDictionary()


class LabelSource:
    """One label source in ``by_query`` order, with or without its unlabelled documents; shared by all measures on it.

    ``kept`` holds the places of the documents that are left, or is None if all are, those of other members of a
    training included: forces of documents that are kept are added up apart, which rounds in another way.
    """

    def __init__(self, labels: np.ndarray, starts: np.ndarray, leave_out_unlabelled: bool) -> None:
        self.kept: np.ndarray | None = None
        self.n_documents = len(labels)  # of the data set, those left out included
        self.all_starts = starts
        missing = np.isnan(labels)
        if leave_out_unlabelled and anybody(bool(missing.any())):
            self.kept = np.flatnonzero(~missing)
            starts = np.concatenate([[0], np.cumsum(~missing)])[starts].astype(dtypes.OFFSET)
            labels = labels[self.kept]
            missing = np.zeros(len(labels), dtype=bool)
        self.labels = np.ascontiguousarray(labels)
        self.starts = np.ascontiguousarray(starts)
        self.starts.setflags(write=False)  # as those of a Dataset: kernels are compiled for one kind of array
        self.missing = missing
        self.any_missing = bool(missing.any())

    @cached_property
    def labelled(self) -> np.ndarray:
        """How many labelled documents each query has."""
        if not self.any_missing:
            return np.diff(self.starts).astype(dtypes.OFFSET)
        return np.diff(np.concatenate([[0], np.cumsum(~self.missing)])[self.starts]).astype(dtypes.OFFSET)

    @cached_property
    def label_order(self) -> np.ndarray:
        """The documents of each query by falling label, the unlabelled ones last."""
        return self.falling(self.labels)

    def falling(self, keys: np.ndarray) -> np.ndarray:
        """The documents of each query by falling ``keys``, the unlabelled ones last."""
        keys = np.where(self.missing, -np.inf, keys)
        order = np.arange(len(keys), dtype=dtypes.INDEX)
        ties = np.zeros(len(keys), dtype=dtypes.HASH)
        # Once per data set: training needs this kernel anyway, and the faster one takes seconds to compile.
        over_queries(self.starts, lambda a, b: reorder_documents(keys, ties, self.starts, a, b, order))
        return order

    def ideal_order(self, worth: np.ndarray) -> np.ndarray:
        """The documents of each query by falling worth. Nearly always that is the order by label, which is shared."""
        ranked = worth[self.label_order]
        rises = np.flatnonzero(ranked[1:] > ranked[:-1]) + 1  # places whose document is worth more than the one above
        within = ~np.isin(rises, self.starts)
        if self.any_missing:
            within &= ~self.missing[self.label_order[rises]]
        return self.falling(worth) if within.any() else self.label_order


class JudgedMeasure:
    """Worth and normalisers of a data set under a measure.

    All arrays are in ``by_query`` order: the documents of a query adjacent. Where the measure leaves unlabelled
    documents out (``judged_only``), ``kept`` holds the places of the others and every array here is that much
    shorter; otherwise ``kept`` is None.
    """

    def __init__(self, data: Dataset, measure: Measure) -> None:
        self.measure = measure
        self.source = _label_source(data, measure)
        self.kept = self.source.kept
        self.labels = self.source.labels
        self.starts = self.source.starts
        self.worth = np.array(measure.worth(self.labels), dtype=dtypes.WORTH)
        if self.worth.shape != self.labels.shape:
            raise MeasureError(
                f"{measure}: worth gives an array of shape {self.worth.shape} for {len(self.labels)} labels; it must "
                "give a number for each label"
            )
        if collective().size > 1 and _has_own_code(measure):
            self._check_worth_of_everybody()
        self.kernel_tuple = measure.kernel_tuple()
        self._query_ids = data.query_ids

    def _check_worth_of_everybody(self) -> None:
        """Members see different labels: refuse a worth that depends on what stands beside a label."""
        labels = union(self.labels)
        expected = np.asarray(self.measure.worth(labels), dtype=dtypes.WORTH)
        mine = expected[np.searchsorted(labels, self.labels)]
        if anybody(not np.array_equal(mine, self.worth, equal_nan=True)):
            raise MeasureError(
                f"{self.measure}: what a label is worth depends on the other labels; where several train together it "
                "must be a function of the label alone"
            )

    @cached_property
    def _ideal_order(self) -> np.ndarray:
        return self.source.ideal_order(self.worth)

    @cached_property
    def normalisers(self) -> np.ndarray:
        """One per query; 0 marks a blank query: no labelled document can raise its value."""
        order = self._ideal_order
        labelled = self.source.labelled
        result = np.empty(len(self.starts) - 1)
        over_queries(
            self.starts,
            lambda a, b: query_normalisers(self.kernel_tuple, self.worth, order, labelled, self.starts, a, b, result),
        )
        self._check_numbers(result, np.isfinite(result), "normaliser")
        return result

    def standing(self) -> np.ndarray:
        """Numbers in the order of what documents are worth, of equal worth by label; NaN for unlabelled ones.

        The labels themselves, where what they are worth rises with them. Members ask for it together.
        """
        if not anybody(self._ideal_order is not self.source.label_order):
            return self.labels
        labelled = ~self.source.missing
        both = np.empty(int(labelled.sum()), dtype=np.complex128)  # which are sorted by the first part, then the second
        both.real, both.imag = self.worth[labelled], self.labels[labelled]
        standing = np.full(len(self.labels), np.nan)
        standing[labelled] = np.searchsorted(union(both), both)
        return standing

    @cached_property
    def column_count(self) -> int:
        """How many rows the measure's ``prepare`` fills; kernels read as many as ``COLUMNS`` says."""
        count = self.measure.column_count(self.worth)
        least = self.measure.COLUMNS if self.measure.swap_kind == "columns" else 0
        if not Whole(least).holds(count):
            raise MeasureError(
                f"{self.measure}: column_count gives {count!r}; it must be a whole number"
                + (f" of at least COLUMNS, {least}" if least else " of at least 0")
            )
        return int(count)

    def of_kept(self, values: np.ndarray) -> np.ndarray:
        """Values given for all documents (``by_query`` order), for those that the measure sees."""
        return values if self.kept is None else np.ascontiguousarray(values[self.kept])

    @cached_property
    def _places(self) -> np.ndarray:
        """Where each document of the data set is among those that the measure sees; −1 if it is not."""
        assert self.kept is not None
        places = np.full(self.source.n_documents, -1, dtype=dtypes.INDEX)
        places[self.kept] = np.arange(len(self.kept), dtype=dtypes.INDEX)
        return places

    def order_of_kept(self, order: np.ndarray) -> np.ndarray:
        """A ranking of all documents, for those that the measure sees."""
        if self.kept is None:
            return order
        result = np.empty(len(self.kept), dtype=dtypes.INDEX)
        starts, places = self.source.all_starts, self._places
        over_queries(
            starts, lambda a, b: order_of_kept(order, places, starts, self.starts, a, b, result), FEW_IN_A_PASS
        )
        return result

    def values(self, order: np.ndarray) -> np.ndarray:
        """The value of each query when documents are ranked in ``order``; NaN for blank queries."""
        normalisers = self.normalisers
        result = np.empty(len(normalisers))
        over_queries(
            self.starts,
            lambda a, b: query_values(self.kernel_tuple, self.worth, order, normalisers, self.starts, a, b, result),
            FEW_IN_A_PASS if self.measure.swap_kind == "columns" else FEW,  # with columns it is a sum over documents
        )
        self.check_values(result)
        return result

    def check_values(self, values: np.ndarray, queries: np.ndarray | None = None) -> None:
        """Refuse values of the queries (of these, if not of all) that are no numbers, but for blank queries."""
        normalisers = self.normalisers if queries is None else self.normalisers[queries]
        self._check_numbers(values, np.isfinite(values) | (normalisers == 0.0), "value", queries)

    def _check_numbers(
        self, values: np.ndarray, fine: np.ndarray, method: str, queries: np.ndarray | None = None
    ) -> None:
        if fine.all():
            return
        first = int(np.argmin(fine))
        query = displayed(self._query_ids[first if queries is None else queries[first]])
        if np.isinf(values[first]) and not is_foreign(type(self.measure)):
            raise MeasureError(
                f"{self.measure}: the gains of query {query} add up beyond all numbers: its labels are too large for "
                "this gain; use a linear gain, NDCG(gain=linear), or a table, NDCG(gain=0/1/3)"
            )
        raise MeasureError(
            f"{self.measure}: {method} gives {values[first]:g} on query {query}; it must be a finite number on every "
            "query (a query that cannot score has the normaliser 0)"
        )


def judged(data: Dataset, measure: Measure) -> JudgedMeasure:
    """``Judged(data, measure)``, made once per data set and measure, as long as the measure's code is the same."""
    code: tuple[Any, ...] = (type(measure.kernel_tuple()),)  # another one after an edit of a user's class
    if _has_own_code(measure):
        try:
            identity = CodeIdentity.of(measure, type(measure).__name__)
        except NoIdentityError:
            return JudgedMeasure(data, measure)
        code += (identity.content, *identity.parts.items())
    code += (weakref.ref(collective()),)  # what a label is worth may depend on the labels that others have
    return _remembered(_judged, data, (measure, code), lambda: JudgedMeasure(data, measure))


def _has_own_code(measure: Measure) -> bool:
    return is_foreign(type(measure)) or any(map(callable, vars(measure).values()))


def _label_source(data: Dataset, measure: Measure) -> LabelSource:
    try:
        labels = measure.labels_of(data.labels)  # the error names the measure, so it comes before the memory
    except MeasureError as error:
        remedy = label_remedy(measure.label, data) if measure.label not in data.labels else []
        raise MeasureError(*error.args, *remedy) from None
    return _remembered(
        _sources,
        data,
        (measure.label, measure.leaves_out_unlabelled, type(measure).labels_of, weakref.ref(collective())),
        lambda: LabelSource(data.by_query(labels), data.query_starts, measure.leaves_out_unlabelled),
    )


def _remembered(memory: Any, data: Dataset, key: Any, make: Any) -> Any:
    kept = memory.setdefault(data, {})
    found = kept.get(key)
    if found is None:
        found = make()
        while len(kept) >= MOST_KEPT:
            kept.pop(next(iter(kept)), None)
        kept[key] = found
    return found
