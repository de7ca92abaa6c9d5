"""Values of a measure along a straight line in the space of a model's weights.

At step t the weights are w + t·d. Scores of linear models and of trees with fixed splits (their weights are the leaf
values) are straight lines, too; of a net with a hidden layer only what enters the hidden units is. Nothing is scored
twice: what is linear is computed once for w and once for d, and each ranking is sorted from that of the step before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine, vector_subroutine
from rankforce.dtypes import Array, Number
from rankforce.kernels.forces.bundles import longest_query
from rankforce.kernels.nets.network import squash
from rankforce.kernels.ranking.ordering import merge_sort


@subroutine
def _ranked_value(
    measure: Any,
    scores: Array,
    tie_keys: Array,
    worth: Array,
    normaliser: Number,
    order: Array,
    scratch: Array,
    ranked: Array,
) -> Number:
    """The value of one query; its arrays begin with its documents, ``order`` is that of the step before."""
    size = worth.shape[0]
    merge_sort(order, scratch, 0, size, scores, tie_keys)
    for r in range(size):
        ranked[r] = worth[order[r]]
    return measure.value(ranked[:size], normaliser)


@kernel
def linear_values(
    measure: Any, scores: Array, slopes: Array, steps: Array, worth: Array, tie_keys: Array, base_order: Array,
    normalisers: Array, starts: Array, first: Number, last: Number, out: Array,
) -> None:  # fmt: skip
    """Values where scores are ``scores + t·slopes``; ``out[k, q]`` is that of query q at ``steps[k]``.

    All arrays of documents are in ``by_query`` order; ``base_order`` is the ranking by ``scores``. 0 for blank queries.
    """
    longest = longest_query(starts, first, last)
    moved = np.empty(longest)
    order = np.empty(longest, dtype=base_order.dtype)
    scratch = np.empty(longest, dtype=base_order.dtype)
    ranked = np.empty(longest)
    for q in range(first, last):
        start = starts[q]
        end = starts[q + 1]
        size = end - start
        for i in range(size):
            order[i] = base_order[start + i] - start
        still = True
        for i in range(size):
            still &= slopes[start + i] == 0.0
        for k in range(steps.shape[0]):
            if normalisers[q] == 0.0:
                out[k, q] = 0.0
            elif still and k > 0:
                out[k, q] = out[0, q]
            else:
                for i in range(size):
                    moved[i] = scores[start + i] + steps[k] * slopes[start + i]
                out[k, q] = _ranked_value(
                    measure, moved, tie_keys[start:end], worth[start:end], normalisers[q], order, scratch, ranked
                )


@vector_subroutine
def _unit_slopes(
    inputs: Array, start: Number, size: Number, hidden: Number, direction: Array, units: Array, slopes: Array
) -> None:
    """``slopes[i·units + u]``: how fast what enters unit ``units[u]`` changes, for documents from ``start``."""
    features = inputs.shape[1]
    count = units.shape[0]
    for i in range(size):
        x = inputs[start + i]
        for u in range(count):
            d = direction[units[u] * features : (units[u] + 1) * features]
            total = 0.0
            for j in range(np.uint64(features)):
                total += d[j] * x[j]
            slopes[i * count + u] = total + direction[hidden * features + units[u]]


@vector_subroutine
def _net_scores(given: Array, size: Number, outputs: Array, fixed: Array, scores: Array) -> None:
    """fixed + Σ outputs × what the moving units give."""
    count = outputs.shape[0]
    for i in range(size):
        total = fixed[i]
        for u in range(count):
            total += outputs[u] * given[i * count + u]
        scores[i] = total


@kernel
def net_values(
    measure: Any, inputs: Array, entering: Array, leaving: Array, weights: Array, direction: Array, units: Array,
    steps: Array, worth: Array, tie_keys: Array, base_order: Array, normalisers: Array, starts: Array, first: Number,
    last: Number, out: Array,
) -> None:  # fmt: skip
    """Values of a net of two layers; see ``linear_values``.

    inputs float32 (documents, features); ``entering`` and ``leaving`` float64 (documents, hidden) are what enters and
    leaves each hidden unit at the weights; ``units`` are the numbers of the units that the direction moves: all others
    are not computed again. The bias of the output moves all documents alike and is left out.
    """
    longest = longest_query(starts, first, last)
    hidden = entering.shape[1]
    output = hidden * (inputs.shape[1] + 1)
    count = units.shape[0]
    slopes = np.empty(longest * count)
    given = np.empty(longest * count)
    words = np.empty(longest * count)
    bits = words.view(np.int64)
    outputs = np.empty(count)
    moving = np.zeros(hidden, dtype=np.bool_)
    for u in range(count):
        moving[units[u]] = True
    fixed = np.empty(longest)
    scores = np.empty(longest)
    order = np.empty(longest, dtype=base_order.dtype)
    scratch = np.empty(longest, dtype=base_order.dtype)
    ranked = np.empty(longest)
    for q in range(first, last):
        start = starts[q]
        end = starts[q + 1]
        size = end - start
        if normalisers[q] == 0.0:
            for k in range(steps.shape[0]):
                out[k, q] = 0.0
            continue
        for i in range(size):
            order[i] = base_order[start + i] - start
            total = 0.0
            for h in range(hidden):
                if not moving[h]:
                    total += weights[output + h] * leaving[start + i, h]
            fixed[i] = total
        _unit_slopes(inputs, start, size, hidden, direction, units, slopes)
        for k in range(steps.shape[0]):
            step = steps[k]
            for i in range(size):
                for u in range(count):
                    given[i * count + u] = entering[start + i, units[u]] + step * slopes[i * count + u]
            squash(given, words, bits, size * count)
            for u in range(count):
                outputs[u] = weights[output + units[u]] + step * direction[output + units[u]]
            _net_scores(given, size, outputs, fixed, scores)
            out[k, q] = _ranked_value(
                measure, scores, tie_keys[start:end], worth[start:end], normalisers[q], order, scratch, ranked
            )


@kernel
def leaf_slopes(leaves: Array, direction: Array, first: Number, last: Number, out: Array) -> None:
    """``out[i]`` = Σ over trees of ``direction`` at the leaf of document i: leaves int32 (documents, trees)."""
    for i in range(first, last):
        total = 0.0
        for t in range(leaves.shape[1]):
            total += direction[leaves[i, t]]
        out[i] = total


@kernel
def input_slopes(inputs: Array, direction: Array, first: Number, last: Number, out: Array) -> None:
    """``out[i]`` = Σ ``direction[j]``·``inputs[i, j]``."""
    for i in range(first, last):
        total = 0.0
        for j in range(inputs.shape[1]):
            total += direction[j] * inputs[i, j]
        out[i] = total
