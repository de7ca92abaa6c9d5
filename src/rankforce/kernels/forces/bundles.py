"""What the loops over pairs hand to each other, under names: the data of a term, a query by rank, a query by place.

Arrays per document are in ``by_query`` order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankforce.compiling.jit import subroutine
from rankforce.dtypes import Array, Number

STRIDE = 8  # pairs that the compiled loop takes at a time, or half of them; a rest it would take one by one


class ScoredQueries(NamedTuple):
    """Queries as a measure judges them, and their ranking by the scores of this moment."""

    worth: Array  # float64 (documents)
    scores: Array  # float64 (documents)
    order: Array  # int32 (documents): ranked, by query
    document_weights: Array  # float64 (documents)
    starts: Array  # int64 (queries + 1)
    normalisers: Array  # float64 (queries)
    scales: Array  # float64 (queries): share of the term × query weight


class PairPlaces(NamedTuple):
    """Which documents are paired: see ``forces/pairs.py``."""

    members: Array  # int32 (documents): by place
    worse: Array  # int32 (documents, 2): by place
    better: Array  # int32 (documents, 2): by place; read only where pairs are drawn or chosen by rank


class ForceSums(NamedTuple):
    """What the loops add to."""

    pulls: Array  # float64 (queries): the sums of the pairs' forces
    forces: Array  # float64 (documents)
    curvatures: Array  # float64 (documents)


class RankedQuery(NamedTuple):
    """One query by rank, and what swaps of two ranks need."""

    worth: Array  # float64 (ranks)
    rank: Array  # int64 (documents of the query)
    columns: Array  # float64 (columns, ranks): what prepare wrote
    value: Number  # of the measure, where swaps are found by brute force
    normaliser: Number


class PlacedQuery(NamedTuple):
    """One query by place: scratch of the pair loop, with STRIDE places more than there are documents."""

    columns: Array  # float64 (columns, places)
    coordinates: Array  # float64 (places), as are all but run_ends
    scores: Array
    weights: Array
    forces: Array
    curvatures: Array
    changes: Array  # (2, places): the change of the measure with one document, where it is written for many at once
    run_ends: Array  # int64: the place after the last that is worth the same, without a gap


@subroutine
def empty_places(column_count: Number, longest: Number) -> PlacedQuery:
    """Places that hold no document yet: pairs with an empty one are finite and weigh nothing."""
    places = longest + STRIDE
    return PlacedQuery(
        np.zeros((column_count, places)),
        np.ones(places),
        np.zeros(places),
        np.zeros(places),
        np.zeros(places),
        np.zeros(places),
        np.zeros((2, places)),
        np.zeros(places, dtype=np.int64),
    )


@subroutine
def longest_query(starts: Array, first: Number, last: Number) -> Number:
    """The most documents of a query among ``first`` to ``last``."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, starts[q + 1] - starts[q])
    return longest


@subroutine
def rank_documents(worth: Array, order: Array, start: Number, size: Number, ranked: Array, rank: Array) -> None:
    """Write the worth by rank of a query, and the rank of its documents."""
    for r in range(size):
        document = order[start + r]
        ranked[r] = worth[document]
        rank[document - start] = r
