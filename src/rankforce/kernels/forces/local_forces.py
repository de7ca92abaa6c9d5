"""The pair loop for λ-functions that act between near ranks: forces and curvatures of the pairs at most k ranks apart.

O(nk) for a query of n documents. Documents are walked in ranked order; whether two of them are a pair, and which is
the better, is read from the ranges of ``forces/pairs.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel
from rankforce.kernels.forces.pair_forces import add_pair, longest_query, rank_documents
from rankforce.kernels.ranking.swaps import prepare_swaps


@kernel
def add_forces_nearby(
    measure: Any,
    lambda_function: Any,
    column_count: Any,
    worth: Any,  # float64 (documents)
    scores: Any,  # float64 (documents)
    order: Any,  # int32 (documents): ranked, by query
    members: Any,  # int32 (documents): by place
    worse: Any,  # int32 (documents, 2)
    starts: Any,  # int64 (queries + 1)
    normalisers: Any,  # float64 (queries)
    document_weights: Any,  # float64 (documents)
    scales: Any,  # float64 (queries): share of the term × query weight
    reach: Any,  # only pairs at most so many ranks apart
    top: Any,  # only pairs with a document among the first ``top`` ranks
    first: Any,
    last: Any,
    pulls: Any,  # float64 (queries): the sum of the pairs' forces is added to
    forces: Any,  # float64 (documents): added to
    curvatures: Any,  # float64 (documents): added to
) -> None:
    """Pairs at most ``reach`` ranks apart, for any measure. Unlabelled documents hold their ranks, but are no pair."""
    longest = longest_query(starts, first, last)
    ranked = np.empty(longest)
    rank = np.empty(longest, dtype=np.int64)
    place = np.empty(longest, dtype=np.int64)
    columns = np.empty((max(column_count, 1), longest))
    for q in range(first, last):
        start = starts[q]
        size = starts[q + 1] - start
        if normalisers[q] == 0.0 or scales[q] == 0.0 or size < 2:
            continue
        rank_documents(worth, order, start, size, ranked, rank)
        before = prepare_swaps(measure, ranked[:size], normalisers[q], columns[:, :size])
        for p in range(size):
            place[members[start + p] - start] = p
        for upper in range(min(size, top)):
            i = order[start + upper]
            p = place[i - start]
            for lower in range(upper + 1, min(size, upper + reach + 1)):
                j = order[start + lower]
                o = place[j - start]
                if worse[start + p, 0] <= o < worse[start + p, 1]:
                    pulls[q] += add_pair(
                        measure, lambda_function, columns[:, :size], ranked[:size], rank, before, normalisers[q],
                        scores, document_weights, scales[q], start, i, j, forces, curvatures,
                    )  # fmt: skip
                elif worse[start + o, 0] <= p < worse[start + o, 1]:
                    pulls[q] += add_pair(
                        measure, lambda_function, columns[:, :size], ranked[:size], rank, before, normalisers[q],
                        scores, document_weights, scales[q], start, j, i, forces, curvatures,
                    )  # fmt: skip
