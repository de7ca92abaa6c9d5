"""The pair loop where some queries are too large for one thread: those are cut into tiles.

The other queries come first, while somebody lays the large ones out by place. A tile is all pairs whose better document
has one of some places; it adds to forces and curvatures of its own. What the tiles of a query found is added up in
their order. Tiles follow from the query alone, so that neither do the sums depend on threads, which take one tile after
the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankforce.compiling.intrinsics import atomic_add
from rankforce.compiling.jit import VECTOR, kernel, subroutine, vector_subroutine
from rankforce.dtypes import Array, Number
from rankforce.kernels.forces.bundles import (
    STRIDE,
    ForceSums,
    PairPlaces,
    PlacedQuery,
    RankedQuery,
    ScoredQueries,
    rank_documents,
)
from rankforce.kernels.forces.pair_forces import add_forces_of_ranges, add_pairs, all_finite, is_wide, place_documents
from rankforce.kernels.trees.barrier import meet

# Places in ``taken``, a cache line each: how many giants were placed, ranges of other queries done, tiles done, pieces
# of documents added up.
PLACED, RANGED, TILED, ADDED = 0, 8, 16, 24
TAKEN_SIZE = 32
PIECES = 32  # of the documents of a query, when tiles are added up


class Tiles(NamedTuple):
    """Some queries, called giants here, and how they are cut."""

    queries: Array  # int64 (giants)
    starts: Array  # int64 (giants + 1): where the places of each begin, STRIDE more than it has documents
    first: Array  # int64 (tiles): the first place of a tile
    last: Array  # int64 (tiles)
    giant: Array  # int64 (tiles): whose it is
    tile_starts: Array  # int64 (giants + 1): where the tiles of each begin
    sum_starts: Array  # int64 (tiles): where what a tile adds to begins in ``forces`` and ``curvatures`` of TileSums


class TileSums(NamedTuple):
    """What tiles read and add to; work space."""

    columns: Array  # float64 (columns × places)
    by_place: Array  # float64 (3, places): coordinates, scores, weights
    run_ends: Array  # int64 (places)
    counts: Array  # uint8 (giants): whether it has forces, and coordinates serve
    forces: Array  # float64 (places of the giant of every tile)
    curvatures: Array  # float64 (the same)
    pulls: Array  # float64 (tiles)


@subroutine
def _placed(column_count: Number, first: Number, last: Number, space: TileSums, own: Any) -> PlacedQuery:
    """A giant by place; ``own``: forces, curvatures and changes."""
    return PlacedQuery(
        space.columns[first * column_count : last * column_count].reshape((column_count, last - first)),
        space.by_place[0, first:last],
        space.by_place[1, first:last],
        space.by_place[2, first:last],
        own[0],
        own[1],
        own[2:],
        space.run_ends[first:last],
    )


@subroutine
def _add_tiles_up(giant: Number, piece: Number, queries: Any, pairs: Any, tiles: Any, space: Any, sums: Any) -> None:
    """Add up what all tiles found of a piece of a giant's documents."""
    q = tiles.queries[giant]
    start = queries.starts[q]
    size = queries.starts[q + 1] - start
    begin, end = size * piece // PIECES, size * (piece + 1) // PIECES
    total = tiles.sum_starts[tiles.tile_starts[giant]]
    for tile in range(tiles.tile_starts[giant] + 1, tiles.tile_starts[giant + 1]):
        found = tiles.sum_starts[tile]
        for p in range(max(begin, tiles.first[tile]), end):  # of what is placed before its first it knows nothing
            space.forces[total + p] += space.forces[found + p]
            space.curvatures[total + p] += space.curvatures[found + p]
    for p in range(begin, end):
        document = pairs.members[start + p]
        sums.forces[document] += queries.scales[q] * space.forces[total + p]
        sums.curvatures[document] += queries.scales[q] * space.curvatures[total + p]
    if piece == 0:
        pull = 0.0
        for tile in range(tiles.tile_starts[giant], tiles.tile_starts[giant + 1]):
            pull += space.pulls[tile]
        sums.pulls[q] += queries.scales[q] * pull


@vector_subroutine
def _place_giants(
    taken: Array, measure: Any, lambda_function: Any, column_count: Number, queries: Any, pairs: Any, tiles: Any,
    space: Any, wide: Array, own: Array,
) -> None:  # fmt: skip
    """Lay out by place every giant that no other thread has taken."""
    longest = own.shape[1]
    worth = np.empty(longest)
    rank = np.empty(longest, dtype=np.int64)
    by_rank = np.empty((column_count, longest))
    g = atomic_add(taken, PLACED, 1)
    while g < len(tiles.queries):
        q = tiles.queries[g]
        start = queries.starts[q]
        size = queries.starts[q + 1] - start
        normaliser = queries.normalisers[q]
        space.counts[g] = 0
        if normaliser != 0.0 and queries.scales[q] != 0.0:
            top = queries.scores[queries.order[start]]
            wide[q] = is_wide(lambda_function, queries, top, start, size)
            space.counts[g] = 1 - wide[q]
        if space.counts[g] == 1:
            rank_documents(queries.worth, queries.order, start, size, worth, rank)
            measure.prepare(worth[:size], normaliser, by_rank[:, :size])
            ranked = RankedQuery(worth, rank, by_rank, 0.0, normaliser)
            placed = _placed(column_count, tiles.starts[g], tiles.starts[g + 1], space, own)
            place_documents(measure, lambda_function, queries, pairs, ranked, top, start, size, placed)
        g = atomic_add(taken, PLACED, 1)


@vector_subroutine
def _add_tile(
    tile: Number, measure: Any, lambda_function: Any, column_count: Number, queries: Any, pairs: Any, tiles: Any,
    space: Any, wide: Array, own: Array,
) -> None:  # fmt: skip
    g = tiles.giant[tile]
    start = queries.starts[tiles.queries[g]]
    size = queries.starts[tiles.queries[g] + 1] - start
    placed = _placed(column_count, tiles.starts[g], tiles.starts[g + 1], space, own)
    # Those of the thread itself, which are in its cache: a tile reads and writes them for every document.
    for p in range(tiles.first[tile], size + STRIDE):
        own[0, p] = 0.0
        own[1, p] = 0.0
    space.pulls[tile] = add_pairs(
        measure, lambda_function, placed, pairs.worse[start : start + size], tiles.first[tile], tiles.last[tile],
        queries.normalisers[tiles.queries[g]],
    )  # fmt: skip
    found = tiles.sum_starts[tile]
    for p in range(tiles.first[tile], size):
        space.forces[found + p] = own[0, p]
        space.curvatures[found + p] = own[1, p]
    if not all_finite(own[0], own[1], tiles.first[tile], size):
        wide[tiles.queries[g]] = 1


@kernel(fastmath=VECTOR)
def add_forces_with_giants(
    thread: Number,
    threads: Number,
    meeting: Array,
    taken: Array,  # int64 (TAKEN_SIZE), 0 at first
    measure: Any,
    lambda_function: Any,
    column_count: Number,
    queries: ScoredQueries,
    pairs: PairPlaces,
    ranges: Array,  # int64 (ranges, 2): of queries, also of giants
    scales: Array,  # float64 (queries): those of ``queries``, 0 of giants
    tiles: Tiles,
    space: TileSums,
    wide: Array,  # uint8 (queries): set to 1 for queries left out: too far apart for coordinates, or not finite
    sums: ForceSums,  # added to
) -> Any:
    """As ``add_forces_by_columns`` for queries of which ``tiles`` has the giants, by all threads; whether all came."""
    n_giants = len(tiles.queries)
    longest = 0
    for g in range(n_giants):
        longest = max(longest, tiles.starts[g + 1] - tiles.starts[g])
    own = np.zeros((4, longest))
    _place_giants(taken, measure, lambda_function, column_count, queries, pairs, tiles, space, wide, own)
    others = ScoredQueries(
        queries.worth, queries.scores, queries.order, queries.document_weights, queries.starts, queries.normalisers,
        scales,
    )  # fmt: skip
    add_forces_of_ranges(measure, lambda_function, column_count, others, pairs, ranges, RANGED, taken, wide, sums)
    if not meet(meeting, threads):
        return False
    tile = atomic_add(taken, TILED, 1)
    while tile < len(tiles.first):
        if space.counts[tiles.giant[tile]] == 1:
            _add_tile(tile, measure, lambda_function, column_count, queries, pairs, tiles, space, wide, own)
        tile = atomic_add(taken, TILED, 1)
    if not meet(meeting, threads):
        return False
    piece = atomic_add(taken, ADDED, 1)
    while piece < n_giants * PIECES:
        if space.counts[piece // PIECES] == 1 and wide[tiles.queries[piece // PIECES]] == 0:
            _add_tiles_up(piece // PIECES, piece % PIECES, queries, pairs, tiles, space, sums)
        piece = atomic_add(taken, ADDED, 1)
    return True
