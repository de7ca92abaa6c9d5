"""Exact sums per leaf, and what a tree adds to scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine

MAGNITUDE = np.int64(2**63 - 1)  # the bits of a float64 without its sign


@kernel
def largest(bits: Any, first: Any, last: Any) -> Any:
    """The bits of the largest magnitude of the documents ``first`` to ``last``, from the ``bits`` int64 of float64.

    Magnitudes are in the order of their bits, NaN above all.
    """
    top = np.int64(0)
    for document in range(np.uint64(first), np.uint64(last)):
        top = max(top, bits[document] & MAGNITUDE)
    return top


@kernel
def sums_by_leaf(values: Any, leaf_of: Any, scale: Any, first: Any, last: Any, sums: Any) -> None:
    """Add Σ ⌊value·scale + ½⌋ over the documents ``first`` to ``last`` of every leaf to ``sums`` int64.

    A negative ``leaf_of`` leaves a document out.
    """
    for document in range(np.uint64(first), np.uint64(last)):
        if leaf_of[document] >= 0:
            sums[np.uint64(leaf_of[document])] += np.int64(np.floor(values[document] * scale + 0.5))


@subroutine
def _first_from(documents: Any, begin: Any, end: Any, least: Any) -> Any:
    """The first of the rising ``documents[begin:end]`` that is not below ``least``: its place, or ``end``."""
    while begin < end:
        middle = (begin + end) // 2
        if documents[middle] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def mark_leaves(documents: Any, leaf_start: Any, leaf_size: Any, first: Any, last: Any, leaf_of: Any) -> None:
    """Write the leaf of the documents ``first`` to ``last``; ``documents`` are sorted by leaf and rise in each.

    By documents, not by places: two threads that write all over ``leaf_of`` would take each cache line from each other.
    """
    for leaf in range(len(leaf_start)):
        end = leaf_start[leaf] + leaf_size[leaf]
        begin = _first_from(documents, leaf_start[leaf], end, first)
        end = _first_from(documents, begin, end, last)
        for k in range(np.uint64(begin), np.uint64(end)):
            leaf_of[np.uint64(documents[k])] = leaf


@kernel
def add_leaf_values(leaf_value: Any, leaf_of: Any, first: Any, last: Any, scores: Any) -> None:
    """Add to ``scores`` float64 of documents ``first`` to ``last`` the value of their leaf, ``leaf_value`` float32."""
    for document in range(np.uint64(first), np.uint64(last)):
        scores[document] += leaf_value[np.uint64(leaf_of[document])]
