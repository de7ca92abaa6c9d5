"""Which pairs take part in training: counted, not added up."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel
from rankforce.kernels.forces.bundles import longest_query, rank_documents
from rankforce.kernels.ranking.swaps import prepare_swaps, swap_change

NO_CHANGE = 1e-12  # smaller changes of a measure are rounding errors


@kernel
def count_effective_pairs(
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
    reach: Any,  # only pairs at most so many ranks apart are pulled, ...
    top: Any,  # ... and with a document among the first so many
    first: Any,
    last: Any,
    counts: Any,  # int64 (queries, 3), written: pairs whose swap changes the measure, that are pulled, both
    pulled: Any,  # uint8 (documents): set to 1 where a pair pulls
) -> None:
    """Of all pairs of each query: how many change the measure by a swap, feel a force, and both."""
    longest = longest_query(starts, first, last)
    ranked = np.empty(longest)
    rank = np.empty(longest, dtype=np.int64)
    columns = np.empty((max(column_count, 1), longest))
    for q in range(first, last):
        start = starts[q]
        size = starts[q + 1] - start
        for k in range(3):
            counts[q, k] = 0
        if normalisers[q] == 0.0 or size < 2:
            continue
        rank_documents(worth, order, start, size, ranked, rank)
        before = prepare_swaps(measure, ranked[:size], normalisers[q], columns[:, :size])
        for p in range(size):
            i = members[start + p]
            for o in range(worse[start + p, 0], worse[start + p, 1]):
                j = members[start + o]
                upper = min(rank[i - start], rank[j - start])
                lower = max(rank[i - start], rank[j - start])
                change = abs(
                    swap_change(measure, columns[:, :size], ranked[:size], normalisers[q], before, upper, lower)
                )
                if change < NO_CHANGE:
                    change = 0.0
                force = 0.0
                if lower - upper <= reach and upper < top:
                    force, _ = lambda_function.pair_of_gap(scores[i] - scores[j], change, normalisers[q])
                if change > 0.0:
                    counts[q, 0] += 1
                if force != 0.0:
                    counts[q, 1] += 1
                    pulled[i] = 1
                    pulled[j] = 1
                    if change > 0.0:
                        counts[q, 2] += 1
