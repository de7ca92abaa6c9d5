"""What the pairs of every two positions cost: from which the ratios of unbiased LambdaMART are made."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel
from rankforce.dtypes import Array, Number
from rankforce.kernels.forces.bundles import PairPlaces, ScoredQueries, longest_query, rank_documents
from rankforce.kernels.ranking.swaps import prepare_swaps, swap_change

# Costs are summed in whole numbers of these, so that no order of summation changes a sum.
LARGE = 2.0**-10
SMALL = 2.0**-42


@kernel
def add_pair_costs(
    measure: Any,
    column_count: Number,
    sigma: Number,
    queries: ScoredQueries,
    pairs: PairPlaces,
    position: Array,  # int64 (documents), from 0; −1: none, and then no cost
    first: Number,
    last: Number,
    sums: Array,  # int64 (2, positions, positions): added to, in units of LARGE and SMALL
) -> None:
    """Add scale × weights × |ΔZ| log(1 + e^{−σ·gap}) of every pair to the entry of its positions, the better first."""
    starts, members, worse, scores = queries.starts, pairs.members, pairs.worse, queries.scores
    longest = longest_query(starts, first, last)
    worth = np.empty(longest)
    rank = np.empty(longest, dtype=np.int64)
    columns = np.empty((max(column_count, 1), longest))
    for q in range(first, last):
        start = starts[q]
        size = starts[q + 1] - start
        normaliser = queries.normalisers[q]
        if normaliser == 0.0 or queries.scales[q] == 0.0 or size < 2:
            continue
        rank_documents(queries.worth, queries.order, start, size, worth, rank)
        value = prepare_swaps(measure, worth[:size], normaliser, columns[:, :size])
        for p in range(size):
            i = members[start + p]
            if position[i] < 0:
                continue
            for o in range(worse[start + p, 0], worse[start + p, 1]):
                j = members[start + o]
                if position[j] < 0:
                    continue
                upper = min(rank[i - start], rank[j - start])
                lower = max(rank[i - start], rank[j - start])
                change = abs(
                    swap_change(measure, columns[:, :size], worth[:size], normaliser, value, upper, lower)
                )  # fmt: skip
                x = sigma * (scores[i] - scores[j])
                cost = change * (np.log1p(np.exp(-abs(x))) + max(-x, 0.0))  # exp of a negative number: no overflow
                cost *= queries.scales[q] * queries.document_weights[i] * queries.document_weights[j]
                units = np.floor(cost / LARGE)
                sums[0, position[i], position[j]] += np.int64(units)
                sums[1, position[i], position[j]] += np.int64(np.rint((cost - units * LARGE) / SMALL))
