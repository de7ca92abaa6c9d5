"""Forces and curvatures as integers, once per tree.

With a scale 2^e, a force λ becomes q = ⌊λ·2^e + u⌋. Usually u = ½. Where that would wipe out too many small forces, u
is a hash of seed, tree, query and position in the query, so that q is right on average; the hash does not depend on
the order of queries or on threads. All reductions are maxima and sums of integers.

``documents`` rise: as many as there are values are all of them, and then their numbers are not read, but written where
entries are: they may hold anything before. Places are unsigned: a signed one may count from the end, and a loop that
allows for that is not vectorised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.intrinsics import whole_of
from rankforce.compiling.jit import kernel, subroutine, vector_subroutine
from rankforce.kernels.trees.leaves import MAGNITUDE

FINE_BITS = 37  # magnitudes are summed with this many bits each: room for 2^26 documents, and fewer bits beyond
BLOCK = 1 << (52 - FINE_BITS)  # whole numbers whose sums floats hold exactly, in any order
CHUNK = 1 << 10  # documents read several times in a row, while they are in the first cache
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


@subroutine
def _largest_of(bits: Any, documents: Any, first: Any, last: Any) -> Any:
    every = len(documents) == len(bits)
    top = np.int64(0)
    negative = np.int64(0)
    for k in range(np.uint64(first), np.uint64(last)):
        document = np.uint64(k) if every else np.uint64(documents[k])
        magnitude = bits[document] & MAGNITUDE
        top = max(top, magnitude)
        negative += np.int64((bits[document] < 0) & (magnitude != 0))
    return top, negative


@kernel
def largest_magnitude(bits: Any, documents: Any, first: Any, last: Any) -> Any:
    """(bits of the largest magnitude, how many are below 0) of the documents at places ``first`` to ``last``.

    ``bits`` int64 are those of float64, whose magnitudes are in the order of their bits, NaN above all.
    """
    return _largest_of(bits, documents, first, last)


@vector_subroutine
def _sum_of_block(values: Any, documents: Any, scale: Any, first: Any, last: Any) -> Any:
    every = len(documents) == len(values)
    total = 0.0
    for k in range(np.uint64(first), np.uint64(last)):
        document = np.uint64(k) if every else np.uint64(documents[k])
        total += np.ceil(abs(values[document]) * scale)
    return total


@kernel
def sum_of_magnitudes(values: Any, documents: Any, scale: Any, first: Any, last: Any) -> Any:
    """Σ ⌈|value|·scale⌉ of the documents at places ``first`` to ``last``, in int64; each below 2^FINE_BITS."""
    total = np.int64(0)
    for begin in range(first, last, BLOCK):
        total += np.int64(_sum_of_block(values, documents, scale, begin, min(begin + BLOCK, last)))
    return total


@subroutine
def _pack(
    forces: Any,
    curvatures: Any,
    documents: Any,
    force_scale: Any,
    curvature_scale: Any,
    shift: Any,
    counting: Any,
    first: Any,
    last: Any,
    entries: Any,
) -> Any:
    every = len(documents) == len(forces)
    nonzero = np.int64(0)
    vanished = np.int64(0)
    for k in range(np.uint64(first), np.uint64(last)):
        document = np.uint64(k) if every else np.uint64(documents[k])
        force = forces[document]
        q = whole_of(np.floor(force * force_scale + 0.5))
        r = np.int64(1) if counting else whole_of(np.floor(curvatures[document] * curvature_scale + 0.5))
        entries[document] = (q << shift) + r
        if every:
            documents[k] = k
        nonzero += np.int64(force != 0.0)
        vanished += np.int64((force != 0.0) & (q == 0))
    return nonzero, vanished


@kernel
def pack_entries(
    forces: Any,
    curvatures: Any,
    documents: Any,
    force_scale: Any,
    curvature_scale: Any,
    shift: Any,
    counting: Any,
    first: Any,
    last: Any,
    entries: Any,
) -> Any:
    """Write ``q·2^shift + r`` for the documents at places ``first`` to ``last``, rounding half up.

    Where ``counting``, r is 1. Returns how many forces are not zero, and how many of those became q = 0.
    """
    return _pack(
        forces, curvatures, documents, force_scale, curvature_scale, shift, counting, first, last, entries
    )  # fmt: skip


@kernel
def pack_as_guessed(
    forces: Any,
    curvatures: Any,
    force_bits: Any,
    curvature_bits: Any,
    documents: Any,
    fine_scales: Any,
    force_scale: Any,
    curvature_scale: Any,
    shift: Any,
    counting: Any,
    first: Any,
    last: Any,
    entries: Any,
) -> Any:
    """As ``pack_entries``, with what tells whether the scales are right: what ``largest_magnitude`` and
    ``sum_of_magnitudes`` find, too, in one pass.

    ``fine_scales`` float64: for the sums of forces, and of curvatures unless ``counting``. Returns (largest force,
    largest curvature, negative curvatures, sum of forces, sum of curvatures, nonzero, vanished); of curvatures zeros
    where ``counting``.
    """
    largest_force = largest_curvature = negative = nonzero = vanished = np.int64(0)
    force_sum = curvature_sum = np.int64(0)
    for begin in range(first, last, CHUNK):
        end = min(begin + CHUNK, last)
        top, _ = _largest_of(force_bits, documents, begin, end)
        largest_force = max(largest_force, top)
        force_sum += np.int64(_sum_of_block(forces, documents, fine_scales[0], begin, end))
        if not counting:
            top, below = _largest_of(curvature_bits, documents, begin, end)
            largest_curvature = max(largest_curvature, top)
            negative += below
            curvature_sum += np.int64(_sum_of_block(curvatures, documents, fine_scales[1], begin, end))
        moving, still = _pack(
            forces, curvatures, documents, force_scale, curvature_scale, shift, counting, begin, end, entries
        )  # fmt: skip
        nonzero += moving
        vanished += still
    return largest_force, largest_curvature, negative, force_sum, curvature_sum, nonzero, vanished


@subroutine
def mix(word: Any) -> Any:
    """As ``rankforce.data.hashing.mix``."""
    word = word + GOLDEN
    word = (word ^ (word >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return word ^ (word >> np.uint64(31))


@kernel
def redraw_forces(
    forces: Any,
    force_scale: Any,
    shift: Any,
    query_starts: Any,
    query_words: Any,
    tree_word: Any,
    first: Any,
    last: Any,
    entries: Any,
) -> None:
    """Replace q in the entries of queries ``first`` to ``last`` by ⌊λ·2^e + u⌋.

    u in [0, 1) is the hash of (seed, tree, query, position): ``tree_word`` uint64 combines seed and tree,
    ``query_words`` hold the hashes of the query ids.
    """
    mask = (np.int64(1) << np.int64(shift)) - np.int64(1)
    for query in range(first, last):
        word = mix(tree_word * GOLDEN + mix(query_words[query]))
        for document in range(query_starts[query], query_starts[query + 1]):
            position = np.uint64(document - query_starts[query])
            drawn = mix(word * GOLDEN + mix(position))
            u = np.float64(drawn >> np.uint64(11)) * 2.0**-53
            q = np.int64(np.floor(forces[document] * force_scale + u))
            entries[document] = (q << shift) + (entries[document] & mask)
