"""The pair loop: forces and curvatures of all documents from all pairs of each query.

Per query: the measure's columns by rank, the λ-function's coordinate per document, both laid out by place (documents
sorted by label, see ``forces/pairs.py``), then one loop over contiguous ranges of partners. No matrix of pairs; memory
is linear in the longest query. Unsigned loop bounds and the flags in ``VECTOR`` let LLVM vectorise the loop.

``add_forces_by_columns`` is that loop. ``add_forces_by_rank`` is the general one: measures without columns, pairs
chosen by rank or drawn, and queries whose scores are too far apart for coordinates. Both add ``scale`` × force and
``scale`` × curvature to their last two arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import VECTOR, kernel, subroutine, vector_subroutine
from rankforce.compiling.kernel_values import column_of
from rankforce.kernels.ranking.swaps import prepare_swaps, swap_change

STRIDE = 16  # pairs that the compiled loop takes at a time; a rest it would take one by one, four times as slowly


@vector_subroutine
def _all_pairs(
    measure: Any,
    lambda_function: Any,
    columns: Any,
    x: Any,
    s: Any,
    weight: Any,
    worse: Any,
    normaliser: Any,
    f: Any,
    c: Any,
) -> Any:
    """Every pair, by coordinates x and scores s. Returns the sum of the pairs' forces.

    Ranges are rounded up to whole strides, and what lies beyond them counts 0: arrays by place (but ``worse``) have
    STRIDE places more than there are documents.
    """
    pull = 0.0
    for i in range(worse.shape[0]):
        mine = column_of(measure, columns, i)
        x_i = x[i]
        s_i = s[i]
        w_i = weight[i]
        f_i = 0.0
        c_i = 0.0
        last = np.uint64(worse[i, 1])
        rest = (worse[i, 0] - worse[i, 1]) % STRIDE
        for j in range(np.uint64(worse[i, 0]), np.uint64(worse[i, 1] + rest)):
            change = abs(measure.swap_delta(mine, column_of(measure, columns, j)))
            force, curvature = lambda_function.pair(x_i, x[j], s_i - s[j], change, normaliser)
            force = force * (w_i * weight[j]) if j < last else 0.0
            curvature = curvature * (w_i * weight[j]) if j < last else 0.0
            f_i += force
            c_i += curvature
            f[j] -= force
            c[j] += curvature
        f[i] += f_i
        c[i] += c_i
        pull += f_i
    return pull


@subroutine
def rank_documents(worth: Any, order: Any, start: Any, size: Any, ranked: Any, rank: Any) -> Any:
    for r in range(size):
        document = order[start + r]
        ranked[r] = worth[document]
        rank[document - start] = r


@subroutine
def next_word(word: Any) -> Any:
    """The next of a sequence of random words: a multiplicative congruential step and a mix of its high bits."""
    word = word * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return word ^ (word >> np.uint64(33))


@subroutine
def longest_query(starts: Any, first: Any, last: Any) -> Any:
    longest = 0
    for q in range(first, last):
        longest = max(longest, starts[q + 1] - starts[q])
    return longest


@vector_subroutine
def pair_forces_of_query(
    measure: Any,
    lambda_function: Any,
    by_rank: Any,  # float64 (columns, ranks): what prepare wrote
    rank: Any,  # int64 (documents of the query)
    scores: Any,
    members: Any,
    worse: Any,
    document_weights: Any,
    normaliser: Any,
    top: Any,  # the highest score of the query
    start: Any,
    size: Any,
    columns: Any,  # scratch, by place (STRIDE more than there are documents), as are the next three
    x: Any,
    s: Any,
    weight: Any,
    f: Any,  # float64 (documents of the query + STRIDE): forces by place, written
    c: Any,  # float64 (documents of the query + STRIDE): curvatures by place, written
) -> Any:
    """All pairs of one query, by coordinates. Returns the sum of the pairs' forces."""
    for p in range(size):
        document = members[start + p]
        x[p] = lambda_function.coordinate(scores[document], top)
        s[p] = scores[document]
        weight[p] = document_weights[document]
        f[p] = 0.0
        c[p] = 0.0
        for k in range(by_rank.shape[0]):
            columns[k, p] = by_rank[k, rank[document - start]]
    return _all_pairs(measure, lambda_function, columns, x, s, weight, worse[start : start + size], normaliser, f, c)


@subroutine
def leave_places_empty(columns: Any, x: Any, s: Any, weight: Any) -> Any:
    """Let no place hold a document yet: pairs with an empty one are finite and weigh nothing."""
    for p in range(len(x)):
        x[p] = 1.0
        s[p] = 0.0
        weight[p] = 0.0
        for k in range(columns.shape[0]):
            columns[k, p] = 0.0


@kernel(fastmath=VECTOR)
def add_forces_by_columns(
    measure: Any,
    lambda_function: Any,
    column_count: Any,  # rows that prepare fills
    worth: Any,  # float64 (documents)
    scores: Any,  # float64 (documents)
    order: Any,  # int32 (documents): ranked, by query
    members: Any,  # int32 (documents): by place
    worse: Any,  # int32 (documents, 2)
    starts: Any,  # int64 (queries + 1)
    normalisers: Any,  # float64 (queries)
    document_weights: Any,  # float64 (documents)
    scales: Any,  # float64 (queries): share of the term × query weight
    first: Any,
    last: Any,
    wide: Any,  # uint8 (queries): set to 1 for queries left out because their scores are too far apart
    pulls: Any,  # float64 (queries): the sum of the pairs' forces is added to
    forces: Any,  # float64 (documents): added to
    curvatures: Any,  # float64 (documents): added to
) -> None:
    """All pairs, for a measure with columns, where coordinates serve; the other queries are marked in ``wide``."""
    longest = longest_query(starts, first, last)
    ranked = np.empty(longest)
    rank = np.empty(longest, dtype=np.int64)
    by_rank = np.empty((column_count, longest))
    places = longest + STRIDE
    columns = np.empty((column_count, places))
    x = np.empty(places)
    s = np.empty(places)
    weight = np.empty(places)
    f = np.empty(places)
    c = np.empty(places)
    leave_places_empty(columns, x, s, weight)
    for q in range(first, last):
        start = starts[q]
        size = starts[q + 1] - start
        if normalisers[q] == 0.0 or scales[q] == 0.0 or size < 2:
            continue
        top = scores[order[start]]
        wide[q] = 1 if top - scores[order[start + size - 1]] > lambda_function.widest() else 0
        if wide[q]:
            continue
        rank_documents(worth, order, start, size, ranked, rank)
        measure.prepare(ranked[:size], normalisers[q], by_rank[:, :size])
        pulls[q] += scales[q] * pair_forces_of_query(
            measure, lambda_function, by_rank, rank, scores, members, worse, document_weights, normalisers[q], top,
            start, size, columns, x, s, weight, f, c,
        )  # fmt: skip
        for p in range(size):
            forces[members[start + p]] += scales[q] * f[p]
            curvatures[members[start + p]] += scales[q] * c[p]


@subroutine
def add_pair(
    measure: Any,
    lambda_function: Any,
    columns: Any,
    ranked: Any,
    rank: Any,
    before: Any,
    normaliser: Any,
    scores: Any,
    document_weights: Any,
    scale: Any,
    start: Any,
    i: Any,
    j: Any,
    forces: Any,
    curvatures: Any,
) -> Any:
    """One pair, document i better than j, for any measure. Returns its force."""
    upper = min(rank[i - start], rank[j - start])
    lower = max(rank[i - start], rank[j - start])
    change = abs(swap_change(measure, columns, ranked, normaliser, before, upper, lower))
    force, curvature = lambda_function.pair_of_gap(scores[i] - scores[j], change, normaliser)
    scale *= document_weights[i] * document_weights[j]
    forces[i] += scale * force
    forces[j] -= scale * force
    curvatures[i] += scale * curvature
    curvatures[j] += scale * curvature
    return scale * force


@kernel
def add_forces_by_rank(
    measure: Any,
    lambda_function: Any,
    column_count: Any,
    worth: Any,
    scores: Any,
    order: Any,
    members: Any,
    worse: Any,
    better: Any,  # int32 (documents, 2); read only where pairs are drawn or chosen by rank
    starts: Any,
    normalisers: Any,
    document_weights: Any,
    scales: Any,
    top: Any,  # only pairs with a document among the first ``top`` ranks
    sample: Any,  # 0: every pair; else this many partners are drawn for each document
    draws: Any,  # uint64 (documents): where each document's draws begin
    first: Any,
    last: Any,
    pulls: Any,
    forces: Any,
    curvatures: Any,
) -> None:
    """Any measure, and pairs chosen by rank or drawn.

    Every pair counts once; a drawn one as often as it stands for others, so that the sum is right on average.
    """
    longest = longest_query(starts, first, last)
    ranked = np.empty(longest)
    rank = np.empty(longest, dtype=np.int64)
    columns = np.empty((max(column_count, 1), longest))
    for q in range(first, last):
        start = starts[q]
        size = starts[q + 1] - start
        if normalisers[q] == 0.0 or scales[q] == 0.0 or size < 2:
            continue
        normaliser = normalisers[q]
        rank_documents(worth, order, start, size, ranked, rank)
        before = prepare_swaps(measure, ranked[:size], normaliser, columns[:, :size])
        for p in range(size):
            i = members[start + p]
            if sample > 0:
                n_worse = worse[start + p, 1] - worse[start + p, 0]
                n_better = better[start + p, 1] - better[start + p, 0]
                if n_worse + n_better == 0:
                    continue
                # A pair is drawn from both its ends, hence the half.
                scale = 0.5 * scales[q] * (n_worse + n_better) / sample
                word = draws[i]
                for _ in range(sample):
                    word = next_word(word)
                    o = int(word % np.uint64(n_worse + n_better))
                    if o < n_worse:
                        j = members[start + worse[start + p, 0] + o]
                        pulls[q] += add_pair(
                            measure, lambda_function, columns[:, :size], ranked[:size], rank, before, normaliser,
                            scores, document_weights, scale, start, i, j, forces, curvatures,
                        )  # fmt: skip
                    else:
                        j = members[start + better[start + p, 0] + o - n_worse]
                        pulls[q] += add_pair(
                            measure, lambda_function, columns[:, :size], ranked[:size], rank, before, normaliser,
                            scores, document_weights, scale, start, j, i, forces, curvatures,
                        )  # fmt: skip
            elif top >= size or rank[i - start] < top:
                for o in range(worse[start + p, 0], worse[start + p, 1]):
                    pulls[q] += add_pair(
                        measure, lambda_function, columns[:, :size], ranked[:size], rank, before, normaliser, scores,
                        document_weights, scales[q], start, i, members[start + o], forces, curvatures,
                    )  # fmt: skip
                if top < size:
                    for o in range(better[start + p, 0], better[start + p, 1]):
                        j = members[start + o]
                        if rank[j - start] >= top:  # else the pair was met from the other end
                            pulls[q] += add_pair(
                                measure, lambda_function, columns[:, :size], ranked[:size], rank, before, normaliser,
                                scores, document_weights, scales[q], start, j, i, forces, curvatures,
                            )  # fmt: skip


@kernel
def scale_by_log(starts: Any, pulls: Any, first: Any, last: Any, forces: Any, curvatures: Any) -> None:
    """Multiply forces and curvatures of each query by log2(1 + P)/P, P twice the sum of its pairs' forces.

    Queries that pull hard (many pairs, far from their ideal order) count more than others, but not in proportion.
    """
    for q in range(first, last):
        if pulls[q] <= 0.0:
            continue
        factor = np.log2(1.0 + 2.0 * pulls[q]) / (2.0 * pulls[q])
        for k in range(starts[q], starts[q + 1]):
            forces[k] *= factor
            curvatures[k] *= factor


@kernel
def divide_by_deviation(starts: Any, first: Any, last: Any, forces: Any) -> None:
    """Divide the forces of each query by their standard deviation (all its documents, divisor n); zeros stay."""
    for q in range(first, last):
        size = starts[q + 1] - starts[q]
        mean = 0.0
        for k in range(starts[q], starts[q + 1]):
            mean += forces[k]
        mean /= max(size, 1)
        square = 0.0
        for k in range(starts[q], starts[q + 1]):
            square += (forces[k] - mean) ** 2
        deviation = np.sqrt(square / max(size, 1))
        if deviation > 0.0:
            for k in range(starts[q], starts[q + 1]):
                forces[k] /= deviation
