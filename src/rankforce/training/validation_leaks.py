"""Validation data that has queries of the training data: what is measured on them was learned by heart."""

from __future__ import annotations

import numpy as np

from rankforce.collective import alone
from rankforce.console.wording import counted
from rankforce.data.dataset import Dataset
from rankforce.errors import RankforceWarning, warn


class SharedQueriesWarning(RankforceWarning):
    """Validation data tells nothing about queries that were learned from."""


def warn_of_leaks(held_out: Dataset, data: Dataset) -> None:
    """Warn if validation queries are training queries, by their ids.

    Ids that count the queries of each data set, 0, 1, 2, ... or 1, 2, 3, ..., are no names: of these queries with the
    same documents are told. Several processes do not look: each has some of the queries.
    """
    if not alone():
        return
    shared = np.isin(held_out.query_hashes, data.query_hashes)
    if shared.any() and held_out is not data and _are_counted(held_out) and _are_counted(data):
        shared &= _have_same_documents(held_out, data)
    number = int(np.count_nonzero(shared))
    if number:
        which = "all" if number == len(shared) else f"{number:,} of"
        warn(
            SharedQueriesWarning(
                f"{which} {counted(len(shared), 'query')} of the validation data are in the training data: what is "
                "measured there, and when the training stops, says nothing about other queries; hold out whole queries "
                "(Dataset.split, rankforce split)"
            )
        )


def _are_counted(data: Dataset) -> bool:
    """Whether query ids are the numbers of the queries in their order, which a reader or ``group`` may have given."""
    ids = data.query_ids
    return ids.dtype.kind in "iu" and ids[0] in (0, 1) and bool((ids == ids[0] + np.arange(len(ids))).all())


def _have_same_documents(held_out: Dataset, data: Dataset) -> np.ndarray:
    """Which validation queries have the documents of the training query of their number; of stores nobody looks."""
    same = np.zeros(held_out.n_queries, dtype=bool)
    if held_out.bins is not None or data.bins is not None or held_out.query_ids[0] != data.query_ids[0]:
        return same
    if held_out.n_features != data.n_features:
        return same
    n = min(held_out.n_queries, data.n_queries)
    alike = held_out.query_sizes[:n] == data.query_sizes[:n]
    firsts = (one.features[one.rows[one.query_starts[:n]]] for one in (held_out, data))
    alike &= _equal_rows(*firsts)  # few are left, unless there is a leak
    for query in np.flatnonzero(alike).tolist():
        same[query] = np.array_equal(_documents(held_out, query), _documents(data, query), equal_nan=True)
    return same


def _equal_rows(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return ((one == other) | (np.isnan(one) & np.isnan(other))).all(axis=1)


def _documents(data: Dataset, query: int) -> np.ndarray:
    return data.features[data.rows[data.query_starts[query] : data.query_starts[query + 1]]]
