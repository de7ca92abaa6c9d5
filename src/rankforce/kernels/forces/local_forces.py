"""The pair loop for λ-functions that act between near ranks: forces and curvatures of the pairs at most k ranks apart.

O(nk) for a query of n documents. Documents are walked in ranked order; whether two of them are a pair, and which is
the better, is read from the ranges of ``forces/pairs.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel
from rankforce.dtypes import Number
from rankforce.kernels.forces.bundles import (
    ForceSums,
    PairPlaces,
    RankedQuery,
    ScoredQueries,
    longest_query,
    rank_documents,
)
from rankforce.kernels.forces.pair_forces import add_pair
from rankforce.kernels.ranking.swaps import prepare_swaps


@kernel
def add_forces_nearby(
    measure: Any,
    lambda_function: Any,
    column_count: Number,
    queries: ScoredQueries,
    pairs: PairPlaces,
    reach: Number,  # only pairs at most so many ranks apart
    top: Number,  # only pairs with a document among the first ``top`` ranks
    first: Number,
    last: Number,
    sums: ForceSums,  # added to
) -> None:
    """Pairs at most ``reach`` ranks apart, for any measure. Unlabelled documents hold their ranks, but are no pair."""
    starts, order, worse = queries.starts, queries.order, pairs.worse
    longest = longest_query(starts, first, last)
    worth = np.empty(longest)
    rank = np.empty(longest, dtype=np.int64)
    place = np.empty(longest, dtype=np.int64)
    columns = np.empty((max(column_count, 1), longest))
    for q in range(first, last):
        start = starts[q]
        size = starts[q + 1] - start
        scale = queries.scales[q]
        normaliser = queries.normalisers[q]
        if normaliser == 0.0 or scale == 0.0 or size < 2:
            continue
        rank_documents(queries.worth, order, start, size, worth, rank)
        value = prepare_swaps(measure, worth[:size], normaliser, columns[:, :size])
        ranked = RankedQuery(worth[:size], rank, columns[:, :size], value, normaliser)
        for p in range(size):
            place[pairs.members[start + p] - start] = p
        for upper in range(min(size, top)):
            i = order[start + upper]
            p = place[i - start]
            for lower in range(upper + 1, min(size, upper + reach + 1)):
                j = order[start + lower]
                o = place[j - start]
                if worse[start + p, 0] <= o < worse[start + p, 1]:
                    sums.pulls[q] += add_pair(measure, lambda_function, queries, ranked, scale, start, i, j, sums)
                elif worse[start + o, 0] <= p < worse[start + o, 1]:
                    sums.pulls[q] += add_pair(measure, lambda_function, queries, ranked, scale, start, j, i, sums)
