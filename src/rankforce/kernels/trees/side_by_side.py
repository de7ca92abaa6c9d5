"""Scores of few documents: eight trees are walked side by side, without a branch that depends on the document.

One walk is a chain of waits: for the node, for the value of its feature, for the comparison; and where it ends cannot
be foreseen. Eight walks share these waits, and a walk that has reached its leaf stays there until all have.

The trees are laid out for it as records of eight bytes, inner nodes and leaves alike: a threshold, and a *link*, the
row of values to compare (upper 16 bits) and how much further the left child stands (lower 16). The right child follows
the left one. A leaf is a record whose left child is itself and whose threshold nothing exceeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.kernels.trees.set_tests import PLACES, SetTable, fill_values

ABREAST = 8  # trees that are walked at once
LINK_LIMIT = 1 << 16  # rows of values, and records of a tree, that a link can tell apart
_DISTANCE = np.uint32(0xFFFF)
_ROW = np.uint32(16)
_TWICE = np.uint64(1)
_NEXT = np.uint64(1)


@subroutine
def _below(place: Any, links: Any, thresholds: Any, values: Any) -> Any:
    """The child that a walk goes to from a record; a leaf's is the leaf."""
    link = links[place << _TWICE]
    exceeds = values[link >> _ROW] > thresholds[(place << _TWICE) + _NEXT]
    return place + np.uint64(link & _DISTANCE) + np.uint64(exceeds)


@kernel
def score_side_by_side(
    features: Any,
    row_features: Any,
    row_fills: Any,
    record_starts: Any,
    links: Any,
    thresholds: Any,
    record_values: Any,
    sets: Any,
    first_tree: Any,
    last_tree: Any,
    scores: Any,
) -> Any:
    """Add trees to the scores of all documents, in tree order; whether no feature is infinite.

    features float32 (documents, features). Row r of a document's values is feature ``row_features[r]`` with
    ``row_fills[r]`` in place of a missing value: -inf for tests that send it left, inf for those that send it right.
    record_starts int64: where each tree's records begin. links uint32 and thresholds float32 are two views of the
    same records: entries 2k and 2k + 1. record_values float64: the value of a leaf, 0 elsewhere. sets: a SetTable
    as a plain tuple, whose places are further rows, 1 where a test fails and -1 where not, or None. ``first_tree`` to
    ``last_tree`` are walked. Where the result is false, the scores mean nothing.
    """
    if sets is None:
        values = np.empty(row_features.shape[0], dtype=np.float32)
    else:
        table = SetTable(sets[0], sets[1], sets[2], sets[3], sets[4], sets[5])
        values = np.empty(row_features.shape[0] + PLACES * table.word_starts[-1], dtype=np.float32)
    infinity = np.float32(np.inf)
    for document in range(features.shape[0]):
        finite = True
        for k in range(features.shape[1]):
            finite &= np.abs(features[document, k]) != infinity
        if not finite:
            return False
        for r in range(row_features.shape[0]):
            value = features[document, row_features[r]]
            values[r] = value if value == value else row_fills[r]
        if sets is not None:
            fill_values(features, document, table, row_features.shape[0], values)
        score = scores[document]
        for tree in range(first_tree, last_tree, ABREAST):
            # what is beyond the last tree walks the last tree once more, and is not added
            end = last_tree - 1
            a = np.uint64(record_starts[tree])
            b = np.uint64(record_starts[min(tree + 1, end)])
            c = np.uint64(record_starts[min(tree + 2, end)])
            d = np.uint64(record_starts[min(tree + 3, end)])
            e = np.uint64(record_starts[min(tree + 4, end)])
            f = np.uint64(record_starts[min(tree + 5, end)])
            g = np.uint64(record_starts[min(tree + 6, end)])
            h = np.uint64(record_starts[min(tree + 7, end)])
            walking = True
            while walking:
                before = a + b + c + d + e + f + g + h
                a = _below(a, links, thresholds, values)
                b = _below(b, links, thresholds, values)
                c = _below(c, links, thresholds, values)
                d = _below(d, links, thresholds, values)
                e = _below(e, links, thresholds, values)
                f = _below(f, links, thresholds, values)
                g = _below(g, links, thresholds, values)
                h = _below(h, links, thresholds, values)
                walking = a + b + c + d + e + f + g + h != before  # places only grow
            score += record_values[a]
            if tree + 1 < last_tree:
                score += record_values[b]
            if tree + 2 < last_tree:
                score += record_values[c]
            if tree + 3 < last_tree:
                score += record_values[d]
            if tree + 4 < last_tree:
                score += record_values[e]
            if tree + 5 < last_tree:
                score += record_values[f]
            if tree + 6 < last_tree:
                score += record_values[g]
            if tree + 7 < last_tree:
                score += record_values[h]
        scores[document] = score
    return True
