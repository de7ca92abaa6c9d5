"""The pair loop: forces and curvatures of all documents from all pairs of each query.

Per query: the measure's columns by rank, the λ-function's coordinate per document, both laid out by place (documents
sorted by label, see ``forces/pairs.py``), then one loop over contiguous ranges of partners. No matrix of pairs; memory
is linear in the longest query. Unsigned loop bounds and the flags in ``VECTOR`` let LLVM vectorise the loop.

``add_forces_by_columns`` is that loop. ``add_forces_by_rank`` is the general one: measures without columns, pairs
chosen by rank or drawn, and queries whose scores are too far apart for coordinates. Both add ``scale`` × force and
``scale`` × curvature to their last argument.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankforce.compiling.intrinsics import atomic_add
from rankforce.compiling.jit import VECTOR, kernel, subroutine, vector_subroutine
from rankforce.compiling.kernel_values import column_of
from rankforce.dtypes import Array, Number
from rankforce.kernels.forces.bundles import (
    STRIDE,
    ForceSums,
    PairPlaces,
    PlacedQuery,
    RankedQuery,
    ScoredQueries,
    empty_places,
    longest_query,
    rank_documents,
)
from rankforce.kernels.ranking.swaps import change_with, find_runs, prepare_swaps, swap_change, write_changes

LOG_OF_2 = math.log(2.0)
SMALL_PULL = 1e-3  # 1 + this still has 13 digits of it


@vector_subroutine
def add_pairs(
    measure: Any,
    lambda_function: Any,
    placed: PlacedQuery,
    worse: Array,
    first: Number,
    last_place: Number,
    normaliser: Number,
) -> Number:
    """Every pair whose better document has a place from ``first`` to ``last_place``, by coordinates and scores.

    Returns the sum of the pairs' forces.

    Two better documents at a time, if they have the same worse ones: what is read of those, and added to them, serves
    both. One alone is its own second, which weighs nothing. Ranges are rounded up to whole strides, and what lies
    beyond them weighs nothing: arrays by place (but ``worse``) have STRIDE places more than there are documents. A
    λ-function need not be finite for what is no pair; see ``all_finite``.
    """
    columns, x, s, weight = placed.columns, placed.coordinates, placed.scores, placed.weights
    f, c, changes, changes_of_next = placed.forces, placed.curvatures, placed.changes[0], placed.changes[1]
    pull = 0.0
    i = first
    while i < last_place:
        begin = worse[i, 0]
        end = worse[i, 1]
        two = i + 1 < last_place and worse[i + 1, 0] == begin and worse[i + 1, 1] == end
        k = i + 1 if two else i
        mine = column_of(measure, columns, i)
        of_next = column_of(measure, columns, k)
        x_i, s_i, w_i = x[i], s[i], weight[i]
        x_k, s_k, w_k = x[k], s[k], weight[k] if two else 0.0
        f_i = c_i = f_k = c_k = 0.0
        write_changes(measure, columns, placed.run_ends, i, begin, end, changes)
        write_changes(measure, columns, placed.run_ends, k, begin, end, changes_of_next)
        last = np.uint64(end)
        rest = (begin - end) % STRIDE
        for j in range(np.uint64(begin), np.uint64(end + rest)):
            x_j, s_j = x[j], s[j]
            w_j = weight[j] if j < last else 0.0
            change = abs(change_with(measure, mine, columns, changes, j))
            force, curvature = lambda_function.pair(x_i, x_j, s_i - s_j, change, normaliser)
            change = abs(change_with(measure, of_next, columns, changes_of_next, j))
            force_of_next, curvature_of_next = lambda_function.pair(x_k, x_j, s_k - s_j, change, normaliser)
            force *= w_i * w_j
            curvature *= w_i * w_j
            force_of_next *= w_k * w_j
            curvature_of_next *= w_k * w_j
            f_i += force
            c_i += curvature
            f_k += force_of_next
            c_k += curvature_of_next
            f[j] -= force + force_of_next
            c[j] += curvature + curvature_of_next
        f[i] += f_i
        c[i] += c_i
        f[k] += f_k
        c[k] += c_k
        pull += f_i + f_k
        i = k + 1
    return pull


@vector_subroutine
def all_finite(forces: Array, curvatures: Array, first: Number, last: Number) -> Number:
    """Whether what pairs added up to is finite. If not, perhaps only because 0 × ∞ was met beyond a range."""
    finite = True
    for p in range(first, last):
        finite &= np.isfinite(forces[p]) & np.isfinite(curvatures[p])
    return finite


@vector_subroutine
def place_documents(
    measure: Any,
    lambda_function: Any,
    queries: ScoredQueries,
    pairs: PairPlaces,
    ranked: RankedQuery,
    top: Number,  # the highest score of the query
    start: Number,
    size: Number,
    placed: PlacedQuery,  # written; its forces and curvatures become 0
) -> None:
    """A query by place."""
    by_rank, rank, columns = ranked.columns, ranked.rank, placed.columns
    for p in range(size):
        document = pairs.members[start + p]
        placed.coordinates[p] = lambda_function.coordinate(queries.scores[document], top)
        placed.scores[p] = queries.scores[document]
        placed.weights[p] = queries.document_weights[document]
        placed.forces[p] = 0.0
        placed.curvatures[p] = 0.0
        for k in range(by_rank.shape[0]):
            columns[k, p] = by_rank[k, rank[document - start]]
    for p in range(size, size + STRIDE):  # weighs nothing, and its pairs are as finite as any
        placed.coordinates[p] = placed.coordinates[size - 1]
        placed.scores[p] = placed.scores[size - 1]
        placed.weights[p] = 0.0
        for k in range(by_rank.shape[0]):
            columns[k, p] = columns[k, size - 1]
    find_runs(measure, columns, size, placed.run_ends)


@vector_subroutine
def pair_forces_of_query(
    measure: Any,
    lambda_function: Any,
    queries: ScoredQueries,
    pairs: PairPlaces,
    ranked: RankedQuery,
    top: Number,  # the highest score of the query
    start: Number,
    size: Number,
    placed: PlacedQuery,  # scratch; its forces and curvatures are written
) -> Number:
    """All pairs of one query, by coordinates. Returns the sum of the pairs' forces."""
    place_documents(measure, lambda_function, queries, pairs, ranked, top, start, size, placed)
    return add_pairs(measure, lambda_function, placed, pairs.worse[start : start + size], 0, size, ranked.normaliser)


@vector_subroutine
def add_forces_of_ranges(
    measure: Any,
    lambda_function: Any,
    column_count: Number,
    queries: ScoredQueries,
    pairs: PairPlaces,
    ranges: Array,  # int64 (ranges, 2): of queries
    cursor: Number,  # the place in ``taken`` that counts the ranges
    taken: Array,
    wide: Array,
    sums: ForceSums,
) -> None:
    """The queries of every range that no other thread has taken, range by range."""
    longest = longest_query(queries.starts, 0, len(queries.starts) - 1)
    worth = np.empty(longest)
    rank = np.empty(longest, dtype=np.int64)
    by_rank = np.empty((column_count, longest))
    placed = empty_places(column_count, longest)
    place = atomic_add(taken, cursor, 1)
    while place < len(ranges):
        for q in range(ranges[place, 0], ranges[place, 1]):
            start = queries.starts[q]
            size = queries.starts[q + 1] - start
            scale = queries.scales[q]
            normaliser = queries.normalisers[q]
            if normaliser == 0.0 or scale == 0.0 or size < 2:
                continue
            top = queries.scores[queries.order[start]]
            wide[q] = is_wide(lambda_function, queries, top, start, size)
            if wide[q]:
                continue
            rank_documents(queries.worth, queries.order, start, size, worth, rank)
            measure.prepare(worth[:size], normaliser, by_rank[:, :size])
            ranked = RankedQuery(worth, rank, by_rank, 0.0, normaliser)
            pull = pair_forces_of_query(measure, lambda_function, queries, pairs, ranked, top, start, size, placed)
            if not all_finite(placed.forces, placed.curvatures, 0, size):
                wide[q] = 1
                continue
            sums.pulls[q] += scale * pull
            for p in range(size):
                sums.forces[pairs.members[start + p]] += scale * placed.forces[p]
                sums.curvatures[pairs.members[start + p]] += scale * placed.curvatures[p]
        place = atomic_add(taken, cursor, 1)


@kernel(fastmath=VECTOR)
def add_forces_by_columns(
    measure: Any,
    lambda_function: Any,
    column_count: Number,  # rows that prepare fills
    queries: ScoredQueries,
    pairs: PairPlaces,
    ranges: Array,  # int64 (ranges, 2): of queries
    taken: Array,  # int64 (1): how many of the ranges are taken; all threads that run this at once count it up
    wide: Array,  # uint8 (queries): set to 1 for queries left out: too far apart for coordinates, or not finite
    sums: ForceSums,  # added to
) -> None:
    """All pairs, for a measure with columns, where coordinates serve; the other queries are marked in ``wide``."""
    add_forces_of_ranges(measure, lambda_function, column_count, queries, pairs, ranges, 0, taken, wide, sums)


@subroutine
def is_wide(lambda_function: Any, queries: ScoredQueries, top: Number, start: Number, size: Number) -> Number:
    """1 if the scores of a query are too far apart for coordinates, else 0."""
    return 1 if top - queries.scores[queries.order[start + size - 1]] > lambda_function.widest() else 0


@subroutine
def next_word(word: Any) -> Any:
    """The next of a sequence of random words: a multiplicative congruential step and a mix of its high bits."""
    word = word * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return word ^ (word >> np.uint64(33))


@subroutine
def add_pair(
    measure: Any,
    lambda_function: Any,
    queries: ScoredQueries,
    ranked: RankedQuery,
    scale: Number,
    start: Number,
    i: Number,
    j: Number,
    sums: ForceSums,
) -> Number:
    """One pair, document i better than j, for any measure. Returns its force."""
    upper = min(ranked.rank[i - start], ranked.rank[j - start])
    lower = max(ranked.rank[i - start], ranked.rank[j - start])
    change = abs(
        swap_change(measure, ranked.columns, ranked.worth, ranked.normaliser, ranked.value, upper, lower)
    )  # fmt: skip
    force, curvature = lambda_function.pair_of_gap(queries.scores[i] - queries.scores[j], change, ranked.normaliser)
    scale *= queries.document_weights[i] * queries.document_weights[j]
    sums.forces[i] += scale * force
    sums.forces[j] -= scale * force
    sums.curvatures[i] += scale * curvature
    sums.curvatures[j] += scale * curvature
    return scale * force


@kernel
def add_forces_by_rank(
    measure: Any,
    lambda_function: Any,
    column_count: Number,
    queries: ScoredQueries,
    pairs: PairPlaces,
    top: Number,  # only pairs with a document among the first ``top`` ranks
    sample: Number,  # 0: every pair; else this many partners are drawn for each document
    draws: Array,  # uint64 (documents): where each document's draws begin
    first: Number,
    last: Number,
    sums: ForceSums,
) -> None:
    """Any measure, and pairs chosen by rank or drawn.

    Every pair counts once; a drawn one as often as it stands for others, so that the sum is right on average.
    """
    starts, members, worse, better = queries.starts, pairs.members, pairs.worse, pairs.better
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
        ranked = RankedQuery(worth[:size], rank, columns[:, :size], value, normaliser)
        for p in range(size):
            i = members[start + p]
            if sample > 0:
                n_worse = worse[start + p, 1] - worse[start + p, 0]
                n_better = better[start + p, 1] - better[start + p, 0]
                if n_worse + n_better == 0:
                    continue
                # A pair is drawn from both its ends, hence the half.
                scale = 0.5 * queries.scales[q] * (n_worse + n_better) / sample
                word = draws[i]
                for _ in range(sample):
                    word = next_word(word)
                    o = int(word % np.uint64(n_worse + n_better))
                    if o < n_worse:
                        j = members[start + worse[start + p, 0] + o]
                        sums.pulls[q] += add_pair(measure, lambda_function, queries, ranked, scale, start, i, j, sums)
                    else:
                        j = members[start + better[start + p, 0] + o - n_worse]
                        sums.pulls[q] += add_pair(measure, lambda_function, queries, ranked, scale, start, j, i, sums)
            elif top >= size or rank[i - start] < top:
                scale = queries.scales[q]
                for o in range(worse[start + p, 0], worse[start + p, 1]):
                    j = members[start + o]
                    sums.pulls[q] += add_pair(measure, lambda_function, queries, ranked, scale, start, i, j, sums)
                if top < size:
                    for o in range(better[start + p, 0], better[start + p, 1]):
                        j = members[start + o]
                        if rank[j - start] >= top:  # else the pair was met from the other end
                            sums.pulls[q] += add_pair(
                                measure, lambda_function, queries, ranked, scale, start, j, i, sums
                            )


@kernel
def scale_by_log(starts: Any, pulls: Any, first: Any, last: Any, forces: Any, curvatures: Any) -> None:
    """Multiply forces and curvatures of each query by log2(1 + P)/P, P twice the sum of its pairs' forces.

    Queries that pull hard (many pairs, far from their ideal order) count more than others, but not in proportion.
    Weak ones (of small weights) keep their forces: 1 + P rounds to 1 there, and the logarithm would be 0.
    """
    for q in range(first, last):
        if pulls[q] <= 0.0:
            continue
        twice = 2.0 * pulls[q]
        if twice < SMALL_PULL:
            factor = np.log1p(twice) / twice / LOG_OF_2
        else:
            factor = np.log2(1.0 + twice) / twice
        for k in range(starts[q], starts[q + 1]):
            forces[k] *= factor
            curvatures[k] *= factor


@kernel
def divide_by_deviation(starts: Any, scales: Any, first: Any, last: Any, forces: Any) -> None:
    """Divide the forces of each query by their standard deviation (all its documents, divisor n); zeros stay.

    Then they are multiplied by the scale of the query, which the division took away.
    """
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
                forces[k] = forces[k] / deviation * scales[q]
