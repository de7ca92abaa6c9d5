"""Forces on some of the documents, and rankings of them: where a measure leaves the unlabelled ones out."""

from __future__ import annotations

from rankforce.compiling.jit import kernel
from rankforce.dtypes import Array, Number


@kernel
def scores_of_kept(
    kept: Array,  # int64 (documents kept): which they are
    scores: Array,  # float64 (documents)
    first: Number,
    last: Number,
    own_scores: Array,  # float64 (documents kept): written
    own_forces: Array,  # float64 (documents kept): set to 0, as are the curvatures
    own_curvatures: Array,
) -> None:
    """What the documents kept from ``first`` to ``last`` begin with: their scores, and no force."""
    for k in range(first, last):
        own_scores[k] = scores[kept[k]]
        own_forces[k] = 0.0
        own_curvatures[k] = 0.0


@kernel
def add_of_kept(
    kept: Array,
    own_forces: Array,
    own_curvatures: Array,
    first: Number,
    last: Number,
    forces: Array,  # float64 (documents): added to
    curvatures: Array,
) -> None:
    """Add the forces and curvatures of the documents kept to those of all."""
    for k in range(first, last):
        forces[kept[k]] += own_forces[k]
        curvatures[kept[k]] += own_curvatures[k]


@kernel
def order_of_kept(
    order: Array,  # int32 (documents): ranked, by query
    places: Array,  # int32 (documents): where each is among those kept, or −1
    starts: Array,  # int64 (queries + 1): of all documents
    kept_starts: Array,  # int64 (queries + 1): of those kept
    first: Number,
    last: Number,
    out: Array,  # int32 (documents kept): written
) -> None:
    """The ranking of all documents of some queries, for those kept."""
    for q in range(first, last):
        p = kept_starts[q]
        for r in range(starts[q], starts[q + 1]):
            place = places[order[r]]
            if place >= 0:
                out[p] = place
                p += 1
