"""Values of a measure, query by query."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.dtypes import Array, Number


@subroutine
def _longest(starts: Array, first: Number, last: Number) -> Number:
    longest = 0
    for q in range(first, last):
        longest = max(longest, starts[q + 1] - starts[q])
    return longest


@kernel
def query_normalisers(
    measure: Any,
    worth: Array,
    ideal_order: Array,
    labelled: Array,
    starts: Array,
    first: Number,
    last: Number,
    out: Array,
) -> None:
    """The normaliser of each query.

    ``ideal_order`` holds the documents of each query by falling worth, the unlabelled ones last; ``labelled[q]`` is
    the number of labelled ones; ``out[q]`` float64 is written.
    """
    ideal = np.empty(_longest(starts, first, last))
    for q in range(first, last):
        count = labelled[q]
        for r in range(count):
            ideal[r] = worth[ideal_order[starts[q] + r]]
        out[q] = measure.normaliser(ideal[:count])


@kernel
def query_values(
    measure: Any, worth: Array, order: Array, normalisers: Array, starts: Array, first: Number, last: Number, out: Array
) -> None:
    """The value of each query under the ranking ``order``; NaN for blank queries (normaliser 0)."""
    ranked = np.empty(_longest(starts, first, last))
    for q in range(first, last):
        if normalisers[q] == 0.0:
            out[q] = np.nan
            continue
        size = starts[q + 1] - starts[q]
        for r in range(size):
            ranked[r] = worth[order[starts[q] + r]]
        out[q] = measure.value(ranked[:size], normalisers[q])


@kernel
def query_expected_values(
    measure: Any,
    worth: Array,
    order: Array,
    scores: Array,
    normalisers: Array,
    starts: Array,
    first: Number,
    last: Number,
    out: Array,
) -> None:
    """The mean value of each query over all orders of documents with equal scores; NaN for blank queries."""
    longest = _longest(starts, first, last)
    ranked = np.empty(longest)
    tie_ends = np.empty(longest, dtype=np.int64)
    for q in range(first, last):
        if normalisers[q] == 0.0:
            out[q] = np.nan
            continue
        start = starts[q]
        size = starts[q + 1] - start
        for r in range(size):
            ranked[r] = worth[order[start + r]]
        end = size
        for r in range(size - 1, -1, -1):
            if r + 1 < size and scores[order[start + r]] != scores[order[start + r + 1]]:
                end = r + 1
            tie_ends[r] = end
        out[q] = measure.expected_value(ranked[:size], tie_ends[:size], normalisers[q])
