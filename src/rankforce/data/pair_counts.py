"""How many pairs of documents a query has: their number grows with the square of the documents."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset

MANY_PAIRS = 100_000_000  # of one query: every round of training takes a tenth of a second and more for it


class ManyPairs(NamedTuple):
    """The query with the most pairs of different labels, where these are more than ``MANY_PAIRS``."""

    query: str
    documents: int
    pairs: int


def count_pairs(labels: np.ndarray, *, ties: bool = False) -> int:
    """The pairs of labelled documents of one query that have different labels, or with ``ties`` any."""
    labelled = labels[~np.isnan(labels)]
    n = len(labelled)
    if ties:
        return n * (n - 1) // 2
    _, counts = np.unique(labelled, return_counts=True)
    return (n * n - int((counts.astype(np.int64) ** 2).sum())) // 2


def many_pairs(data: Dataset, label: str) -> ManyPairs | None:
    """The query of ``data`` with too many pairs for every one of them to be looked at, or None."""
    least = math.isqrt(2 * MANY_PAIRS)  # documents, without which a query has fewer
    labels = data.label(label)
    most: ManyPairs | None = None
    for query in np.flatnonzero(data.query_sizes > least):
        rows = data.rows[data.query_starts[query] : data.query_starts[query + 1]]
        pairs = count_pairs(labels[rows])
        if pairs > (MANY_PAIRS if most is None else most.pairs):
            most = ManyPairs(str(data.query_ids[query]), len(rows), pairs)
    return most
