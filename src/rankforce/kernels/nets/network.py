"""Nets of one or two layers: scores, gradients and steps, and whole epochs of updates fused with the pair loop.

The weights are one vector: [v, c] for one layer, score = v·x + c; [W by rows, b, v, c] for two, score =
v·tanh(Wx + b) + c (``models/net_layout.py``). Gradients point uphill: Σ force × ∂score/∂weight over documents.

``update_by_query`` sums the forces on each document first and then goes back once per document ("V2");
``update_by_pair`` goes forward and back for both documents of every pair ("V1"), as RankNet was first published.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine, vector_subroutine
from rankforce.dtypes import Array, Number
from rankforce.kernels.forces.bundles import (
    ForceSums,
    PairPlaces,
    RankedQuery,
    ScoredQueries,
    empty_places,
    longest_query,
    rank_documents,
)
from rankforce.kernels.forces.pair_forces import add_pair, all_finite, pair_forces_of_query
from rankforce.kernels.ranking.ordering import merge_sort
from rankforce.kernels.ranking.swaps import prepare_swaps, swap_change

DOCUMENTS_AT_A_TIME = 256

# Adam: how long the means of gradients and of their squares remember, and what keeps the divisor from 0.
MEAN_DECAY = 0.9
SQUARE_DECAY = 0.999
SMALLEST = 1e-8

SATURATED = 20.0  # tanh is 1 beyond, in float64
_LOG2_E = 1.4426950408889634
_LN_2_HIGH = 0.693147180369123816490  # so few digits that its product with a small whole number is exact
_LN_2_LOW = 1.90821492927058770002e-10
_ROUNDING = 6755399441055744.0  # 1.5·2^52: adding it leaves a number rounded in the lowest bits of the sum
# The series of e^r, 1/k!; divisions in the loop would take most of its time.
_SERIES_3 = 1.0 / 6
_SERIES_4 = 1.0 / 24
_SERIES_5 = 1.0 / 120
_SERIES_6 = 1.0 / 720
_SERIES_7 = 1.0 / 5040
_SERIES_8 = 1.0 / 40320
_SERIES_9 = 1.0 / 362880
_SERIES_10 = 1.0 / 3628800
_SERIES_11 = 1.0 / 39916800
_SERIES_12 = 1.0 / 479001600
_SERIES_13 = 1.0 / 6227020800


@subroutine
def squash(z: Array, words: Array, bits: Array, count: Number) -> None:
    """tanh of the first ``count`` entries of z, in place, to about 10⁻¹⁶.

    (e^{2z} − 1)/(e^{2z} + 1), e^y = 2^n·e^r with |r| ≤ ½ ln 2 by its power series: the library's tanh is called number
    by number and would take longer than all the rest. ``bits`` are the bits of ``words`` as int64, both scratch. No
    fast-math flags here: rounding by ``_ROUNDING`` would be simplified away.
    """
    for i in range(np.uint64(count)):
        y = 2.0 * min(max(z[i], -SATURATED), SATURATED)
        shifted = y * _LOG2_E + _ROUNDING
        n = shifted - _ROUNDING
        r = (y - n * _LN_2_HIGH) - n * _LN_2_LOW
        words[i] = shifted
        e = _SERIES_12 + r * _SERIES_13
        e = _SERIES_10 + r * (_SERIES_11 + r * e)
        e = _SERIES_8 + r * (_SERIES_9 + r * e)
        e = _SERIES_6 + r * (_SERIES_7 + r * e)
        e = _SERIES_4 + r * (_SERIES_5 + r * e)
        e = 0.5 + r * (_SERIES_3 + r * e)
        z[i] = 1.0 + r * (1.0 + r * e)
    for i in range(np.uint64(count)):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(np.uint64(count)):
        e = z[i] * words[i]
        z[i] = (e - 1.0) / (e + 1.0)


@vector_subroutine
def forward(
    inputs: Array,
    start: Number,
    size: Number,
    hidden: Number,
    weights: Array,
    active: Array,
    words: Array,
    bits: Array,
    scores: Array,
) -> None:
    """Scores of documents start … start + size; ``active`` (size × hidden, flat) becomes what the hidden units give."""
    features = inputs.shape[1]
    if hidden == 0:
        for i in range(size):
            x = inputs[start + i]
            total = 0.0
            for j in range(np.uint64(features)):
                total += weights[j] * x[j]
            scores[start + i] = total + weights[features]
        return
    biases = hidden * features
    output = biases + hidden
    for i in range(size):
        x = inputs[start + i]
        for k in range(hidden):
            w = weights[k * features : (k + 1) * features]
            total = 0.0
            for j in range(np.uint64(features)):
                total += w[j] * x[j]
            active[i * hidden + k] = total + weights[biases + k]
    squash(active, words, bits, size * hidden)
    for i in range(size):
        total = weights[output + hidden]
        for k in range(hidden):
            total += weights[output + k] * active[i * hidden + k]
        scores[start + i] = total


@vector_subroutine
def backward(
    inputs: Array,
    start: Number,
    size: Number,
    hidden: Number,
    weights: Array,
    active: Array,
    forces: Array,
    gradient: Array,
) -> None:
    """Add Σ force × ∂score/∂weight over documents start … start + size; ``forces`` has one entry for each."""
    features = inputs.shape[1]
    if hidden == 0:
        for i in range(size):
            force = forces[i]
            if force != 0.0:
                x = inputs[start + i]
                for j in range(np.uint64(features)):
                    gradient[j] += force * x[j]
                gradient[features] += force
        return
    biases = hidden * features
    output = biases + hidden
    for i in range(size):
        force = forces[i]
        if force != 0.0:
            x = inputs[start + i]
            for k in range(hidden):
                a = active[i * hidden + k]
                gradient[output + k] += force * a
                delta = force * weights[output + k] * (1.0 - a * a)
                gradient[biases + k] += delta
                g = gradient[k * features : (k + 1) * features]
                for j in range(np.uint64(features)):
                    g[j] += delta * x[j]
            gradient[output + hidden] += force


@vector_subroutine
def step(gradient: Array, rate: Number, adam: Number, moments: Array, steps: Array, weights: Array) -> None:
    """One step uphill, after which the gradient is 0: rate × gradient, or Adam's.

    ``moments`` float64 (2, weights): Adam's means of gradients and of their squares; ``steps`` int64 (1): its steps.
    """
    if not adam:
        for w in range(np.uint64(weights.shape[0])):
            weights[w] += rate * gradient[w]
            gradient[w] = 0.0
        return
    steps[0] += 1
    mean = moments[0]
    square = moments[1]
    mean_share = 1.0 - MEAN_DECAY ** float(steps[0])
    square_share = 1.0 - SQUARE_DECAY ** float(steps[0])
    for w in range(np.uint64(weights.shape[0])):
        mean[w] = MEAN_DECAY * mean[w] + (1.0 - MEAN_DECAY) * gradient[w]
        square[w] = SQUARE_DECAY * square[w] + (1.0 - SQUARE_DECAY) * gradient[w] * gradient[w]
        weights[w] += rate * (mean[w] / mean_share) / (np.sqrt(square[w] / square_share) + SMALLEST)
        gradient[w] = 0.0


@kernel
def take_step(gradient: Array, rate: Number, adam: Number, moments: Array, steps: Array, weights: Array) -> None:
    """``step`` for Python."""
    step(gradient, rate, adam, moments, steps, weights)


@kernel
def score_documents(inputs: Array, first: Number, last: Number, hidden: Number, weights: Array, scores: Array) -> None:
    """Scores of the documents first … last, float64. inputs float32 (documents, features)."""
    block = min(DOCUMENTS_AT_A_TIME, last - first)
    active = np.empty(block * hidden)
    words = np.empty(block * hidden)
    bits = words.view(np.int64)
    for start in range(first, last, DOCUMENTS_AT_A_TIME):
        forward(inputs, start, min(block, last - start), hidden, weights, active, words, bits, scores)


@kernel
def add_gradient(
    inputs: Array,
    first: Number,
    last: Number,
    hidden: Number,
    weights: Array,
    forces: Array,
    scores: Array,
    gradient: Array,
) -> None:
    """Add Σ force × ∂score/∂weight over the documents first … last; ``scores`` are written, too."""
    block = min(DOCUMENTS_AT_A_TIME, last - first)
    active = np.empty(block * hidden)
    words = np.empty(block * hidden)
    bits = words.view(np.int64)
    for start in range(first, last, DOCUMENTS_AT_A_TIME):
        size = min(block, last - start)
        forward(inputs, start, size, hidden, weights, active, words, bits, scores)
        backward(inputs, start, size, hidden, weights, active, forces[start : start + size], gradient)


@kernel
def update_by_query(
    measure: Any,
    lambda_function: Any,
    column_count: Number,  # rows that prepare fills
    worth: Array,  # float64 (documents)
    members: Array,  # int32 (documents): by place
    worse: Array,  # int32 (documents, 2)
    starts: Array,  # int64 (queries + 1)
    normalisers: Array,  # float64 (queries)
    document_weights: Array,  # float64 (documents)
    scales: Array,  # float64 (queries)
    tie_keys: Array,  # uint64 (documents)
    inputs: Array,  # float32 (documents, features)
    sequence: Array,  # int64: the queries, in the order in which they are visited
    hidden: Number,
    rate: Number,
    adam: Number,
    order: Array,  # int32 (documents): the ranking when each query was last visited; kept up to date
    scores: Array,  # float64 (documents): scratch, as are the next two
    forces: Array,
    curvatures: Array,
    moments: Array,  # float64 (2, weights)
    steps: Array,  # int64 (1)
    weights: Array,  # float64 (weights): updated
) -> None:
    """For one query after the other: scores, ranking, forces of all pairs, one backward pass, one step."""
    longest = longest_query(starts, 0, starts.shape[0] - 1)
    ranked = np.empty(longest)
    rank = np.empty(longest, dtype=np.int64)
    by_rank = np.empty((column_count, longest))
    placed = empty_places(column_count, longest)
    queries = ScoredQueries(worth, scores, order, document_weights, starts, normalisers, scales)
    pairs = PairPlaces(members, worse, worse)
    pulls = np.empty(0)
    sums = ForceSums(pulls, forces, curvatures)
    sorting = np.empty(longest, dtype=order.dtype)
    active = np.empty(longest * hidden)
    words = np.empty(longest * hidden)
    bits = words.view(np.int64)
    gradient = np.zeros(weights.shape[0])
    for visit in range(sequence.shape[0]):
        q = sequence[visit]
        start = starts[q]
        size = starts[q + 1] - start
        if normalisers[q] == 0.0 or scales[q] == 0.0 or size < 2:
            continue
        forward(inputs, start, size, hidden, weights, active, words, bits, scores)
        merge_sort(order, sorting, start, start + size, scores, tie_keys)
        rank_documents(worth, order, start, size, ranked, rank)
        measure.prepare(ranked[:size], normalisers[q], by_rank[:, :size])
        query = RankedQuery(ranked[:size], rank, by_rank[:, :size], 0.0, normalisers[q])
        top = scores[order[start]]
        pull = 0.0
        by_coordinates = top - scores[order[start + size - 1]] <= lambda_function.widest()
        if by_coordinates:
            pull = pair_forces_of_query(measure, lambda_function, queries, pairs, query, top, start, size, placed)
            by_coordinates = all_finite(placed.forces, placed.curvatures, 0, size)
        if by_coordinates:
            for p in range(size):
                forces[members[start + p]] = scales[q] * placed.forces[p]
        else:
            pull = 0.0
            for i in range(start, start + size):
                forces[i] = 0.0
            for p in range(size):
                for o in range(worse[start + p, 0], worse[start + p, 1]):
                    i, j = members[start + p], members[start + o]
                    pull += add_pair(measure, lambda_function, queries, query, scales[q], start, i, j, sums)
        if pull != 0.0:
            backward(inputs, start, size, hidden, weights, active, forces[start : start + size], gradient)
            step(gradient, rate, adam, moments, steps, weights)


@kernel
def update_by_pair(
    measure: Any,
    lambda_function: Any,
    column_count: Number,
    worth: Array,
    members: Array,
    worse: Array,
    starts: Array,
    normalisers: Array,
    document_weights: Array,
    scales: Array,
    tie_keys: Array,
    inputs: Array,
    sequence: Array,
    hidden: Number,
    rate: Number,
    adam: Number,
    every_pair: Number,  # whether a step is taken after each pair, or after each query
    order: Array,
    scores: Array,
    moments: Array,
    steps: Array,
    weights: Array,
) -> None:
    """For every pair: both documents forward, the pair's force, both documents back. Any measure.

    Ranks, and with them the change of the measure if two documents swapped, are those at the beginning of the query.
    """
    longest = longest_query(starts, 0, starts.shape[0] - 1)
    ranked = np.empty(longest)
    rank = np.empty(longest, dtype=np.int64)
    by_rank = np.empty((max(column_count, 1), longest))
    sorting = np.empty(longest, dtype=order.dtype)
    active = np.empty(longest * hidden)
    words = np.empty(longest * hidden)
    bits = words.view(np.int64)
    better_active = np.empty(hidden)
    worse_active = np.empty(hidden)
    force = np.empty(1)
    gradient = np.zeros(weights.shape[0])
    for visit in range(sequence.shape[0]):
        q = sequence[visit]
        start = starts[q]
        size = starts[q + 1] - start
        if normalisers[q] == 0.0 or scales[q] == 0.0 or size < 2:
            continue
        forward(inputs, start, size, hidden, weights, active, words, bits, scores)
        merge_sort(order, sorting, start, start + size, scores, tie_keys)
        rank_documents(worth, order, start, size, ranked, rank)
        before = prepare_swaps(measure, ranked[:size], normalisers[q], by_rank[:, :size])
        pull = 0.0
        for p in range(size):
            i = members[start + p]
            for o in range(worse[start + p, 0], worse[start + p, 1]):
                j = members[start + o]
                forward(inputs, i, 1, hidden, weights, better_active, words, bits, scores)
                forward(inputs, j, 1, hidden, weights, worse_active, words, bits, scores)
                upper = min(rank[i - start], rank[j - start])
                lower = max(rank[i - start], rank[j - start])
                change = abs(
                    swap_change(measure, by_rank[:, :size], ranked[:size], normalisers[q], before, upper, lower)
                )
                size_of_force, _ = lambda_function.pair_of_gap(scores[i] - scores[j], change, normalisers[q])
                force[0] = scales[q] * document_weights[i] * document_weights[j] * size_of_force
                pull += force[0]
                backward(inputs, i, 1, hidden, weights, better_active, force, gradient)
                force[0] = -force[0]
                backward(inputs, j, 1, hidden, weights, worse_active, force, gradient)
                if every_pair:
                    step(gradient, rate, adam, moments, steps, weights)
        if pull != 0.0 and not every_pair:
            step(gradient, rate, adam, moments, steps, weights)


@kernel
def ranknet_costs(
    scores: Array,  # float64 (documents)
    members: Array,  # int32 (documents): by place
    worse: Array,  # int32 (documents, 2)
    starts: Array,  # int64 (queries + 1)
    document_weights: Array,  # float64 (documents)
    sigma: Number,
    first: Number,
    last: Number,
    out: Array,  # float64 (queries): written
) -> None:
    """RankNet's cost of each query: Σ log(1 + e^{−σ·gap}) over its pairs, times the weights of both documents."""
    for q in range(first, last):
        start = starts[q]
        total = 0.0
        for p in range(starts[q + 1] - start):
            i = members[start + p]
            for o in range(worse[start + p, 0], worse[start + p, 1]):
                j = members[start + o]
                x = sigma * (scores[i] - scores[j])
                cost = np.log1p(np.exp(-abs(x))) + max(-x, 0.0)  # exp of a negative number: it cannot overflow
                total += document_weights[i] * document_weights[j] * cost
        out[q] = total
