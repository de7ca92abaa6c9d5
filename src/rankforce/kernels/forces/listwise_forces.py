"""Forces of listwise λ-functions: one call per query, which sees the whole ranking.

``RankedList`` is what such a function is told besides scores, grades and order, and what the functions below take.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.kernels.forces.bundles import longest_query, rank_documents
from rankforce.kernels.ranking.swaps import prepare_swaps, value_change


class RankedList(NamedTuple):
    """A query under a measure, ranked by its scores. Ranks count from 0; the value of the measure is ``value``."""

    ranked: Any  # float64 (ranks): the worth of the document at each rank
    rank: Any  # int64 (documents): the rank of each document
    normaliser: Any  # the measure's; the value times this is the measure without its division
    value: Any
    columns: Any  # float64: what the measure needs for its swaps


@subroutine
def value_if_moved(measure: Any, state: Any, a: Any, b: Any) -> Any:
    """The measure's value if the document at rank a moved to rank b, those between shifting by one. O(n)."""
    ranked = state.ranked
    worth = ranked[a if a >= 0 and b >= 0 else ranked.shape[0]]  # a rank below 0 is refused as one beyond the end
    step = 1 if b > a else -1
    for r in range(a, b, step):
        ranked[r] = ranked[r + step]
    ranked[b] = worth
    value = measure.value(ranked, state.normaliser)
    for r in range(b, a, -step):
        ranked[r] = ranked[r - step]
    ranked[a] = worth
    return value


@subroutine
def change_if_swapped(measure: Any, state: Any, a: Any, b: Any) -> Any:
    """The change of the measure's value if the documents at ranks a and b swapped. O(1) for most measures."""
    upper = min(a, b)
    lower = max(a, b) if upper >= 0 else state.ranked.shape[0]
    return value_change(measure, state.columns, state.ranked, state.normaliser, state.value, upper, lower)


@subroutine
def centre(grades: Any, out: Any) -> Any:
    """Subtract the mean over the labelled documents from their entries: their sum becomes 0."""
    total = 0.0
    count = 0
    for d in range(out.shape[0]):
        if not np.isnan(grades[d]):
            total += out[d]
            count += 1
    for d in range(out.shape[0]):
        if not np.isnan(grades[d]):
            out[d] -= total / count


@kernel
def add_listwise_forces(
    measure: Any,
    lambda_function: Any,
    column_count: Any,
    worth: Any,  # float64 (documents)
    grades: Any,  # float64 (documents): NaN = unlabelled
    scores: Any,  # float64 (documents)
    order: Any,  # int32 (documents): ranked, by query
    starts: Any,  # int64 (queries + 1)
    normalisers: Any,  # float64 (queries)
    document_weights: Any,  # float64 (documents)
    scales: Any,  # float64 (queries): share of the term × query weight
    first: Any,
    last: Any,
    pulls: Any,  # float64 (queries): half the sum of the absolute forces is added to
    forces: Any,  # float64 (documents): added to
) -> None:
    """scale × document weight × the forces that ``lambda_function.forces`` writes, query by query."""
    longest = longest_query(starts, first, last)
    ranked = np.empty(longest)
    rank = np.empty(longest, dtype=np.int64)
    own_order = np.empty(longest, dtype=np.int64)
    columns = np.empty((max(column_count, 1), longest))
    out = np.empty(longest)
    for q in range(first, last):
        start = starts[q]
        end = starts[q + 1]
        size = end - start
        if normalisers[q] == 0.0 or scales[q] == 0.0 or size < 2:
            continue
        rank_documents(worth, order, start, size, ranked, rank)
        prepare_swaps(measure, ranked[:size], normalisers[q], columns[:, :size])
        value = measure.value(ranked[:size], normalisers[q])
        state = RankedList(ranked[:size], rank[:size], normalisers[q], value, columns[:, :size])
        for r in range(size):
            own_order[r] = order[start + r] - start
            out[r] = 0.0
        lambda_function.forces(scores[start:end], grades[start:end], own_order[:size], measure, state, out[:size])
        for d in range(size):
            force = scales[q] * document_weights[start + d] * out[d]
            forces[start + d] += force
            pulls[q] += 0.5 * abs(force)
