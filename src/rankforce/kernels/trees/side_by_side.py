"""Scores of few documents: twelve trees are walked side by side, without a branch that depends on the document.

One walk is a chain of waits: for the node, for the value of its feature, for the comparison; and where it ends cannot
be foreseen. Twelve walks share these waits, and a walk that has reached its leaf stays there until all have.

The trees are laid out for it as records of eight bytes, inner nodes and leaves alike: a threshold, and a *link*, the
row of values to compare (upper 16 bits) and how much further the left child stands (lower 16). The right child follows
the left one. A leaf is a record whose left child is itself and whose threshold nothing exceeds.

Values and thresholds are compared as integers in the order of the floats (``ordered``): the processor waits less for
the answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.kernels.packed_arrays import part_of
from rankforce.kernels.trees.set_tests import PLACES, SetTable, fill_values

ABREAST = 12  # trees that are walked at once
LINK_LIMIT = 1 << 16  # rows of values, and records of a tree, that a link can tell apart
FEATURES, FILLS, STARTS, RECORDS, VALUES = 0, 1, 2, 3, 4  # parts of the packed trees
_DISTANCE = np.uint32(0xFFFF)
_ROW = np.uint32(16)
_TWICE = np.uint64(1)
_NEXT = np.uint64(1)
_SIGN = np.int32(31)
_BELOW_SIGN = np.int32(0x7FFFFFFF)


@subroutine
def ordered(bits: Any) -> Any:
    """The bits of float32 numbers, as int32, made numbers in the order of the floats; −0 must have been made 0."""
    return bits ^ ((bits >> _SIGN) & _BELOW_SIGN)


@subroutine
def _below(place: Any, links: Any, thresholds: Any, values: Any) -> Any:
    """The child that a walk goes to from a record; a leaf's is the leaf."""
    link = links[place << _TWICE]
    exceeds = values[link >> _ROW] > thresholds[(place << _TWICE) + _NEXT]
    return place + np.uint64(link & _DISTANCE) + np.uint64(exceeds)


@kernel
def score_side_by_side(features: Any, trees: Any, sets: Any, first_tree: Any, last_tree: Any, scores: Any) -> Any:
    """Add trees to the scores of all documents, in tree order; whether no feature is infinite.

    features float32 (documents, features); trees: ``packed``, in the order of the constants above. Row r of a
    document's values is feature ``row_features[r]`` (int32) with ``row_fills[r]`` (float32) in place of a missing
    value: -inf for tests that send it left, inf for those that send it right. record_starts int64: where each tree's
    records begin. links uint32 and thresholds int32 are two views of the same records: entries 2k and 2k + 1.
    record_values float64: the value of a leaf, 0 elsewhere. sets: a SetTable as a plain tuple, whose places are further
    rows, 1 where a test fails and -1 where not, or None. ``first_tree`` to ``last_tree`` are walked. Where the result
    is false, the scores mean nothing.
    """
    row_features, row_fills = part_of(trees, FEATURES, np.int32), part_of(trees, FILLS, np.float32)
    record_starts, record_values = part_of(trees, STARTS, np.int64), part_of(trees, VALUES, np.float64)
    links, thresholds = part_of(trees, RECORDS, np.uint32), part_of(trees, RECORDS, np.int32)
    rows = row_features.shape[0]
    if sets is not None:
        table = SetTable(sets[0], sets[1], sets[2], sets[3], sets[4], sets[5])
        rows += PLACES * table.word_starts[-1]
    floats = np.empty(rows, dtype=np.float32)
    values = floats.view(np.int32)
    infinity, zero = np.float32(np.inf), np.float32(0.0)
    for document in range(features.shape[0]):
        finite = True
        for k in range(features.shape[1]):
            finite &= np.abs(features[document, k]) != infinity
        if not finite:
            return False
        for r in range(row_features.shape[0]):
            value = features[document, row_features[r]]
            floats[r] = (value if value == value else row_fills[r]) + zero
        if sets is not None:
            fill_values(features, document, table, row_features.shape[0], floats)
        for r in range(rows):
            values[r] = ordered(values[r])
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
            m = np.uint64(record_starts[min(tree + 8, end)])
            n = np.uint64(record_starts[min(tree + 9, end)])
            p = np.uint64(record_starts[min(tree + 10, end)])
            q = np.uint64(record_starts[min(tree + 11, end)])
            walking = True
            while walking:
                before = a + b + c + d + e + f + g + h + m + n + p + q
                a = _below(a, links, thresholds, values)
                b = _below(b, links, thresholds, values)
                c = _below(c, links, thresholds, values)
                d = _below(d, links, thresholds, values)
                e = _below(e, links, thresholds, values)
                f = _below(f, links, thresholds, values)
                g = _below(g, links, thresholds, values)
                h = _below(h, links, thresholds, values)
                m = _below(m, links, thresholds, values)
                n = _below(n, links, thresholds, values)
                p = _below(p, links, thresholds, values)
                q = _below(q, links, thresholds, values)
                walking = a + b + c + d + e + f + g + h + m + n + p + q != before  # places only grow
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
            if tree + 8 < last_tree:
                score += record_values[m]
            if tree + 9 < last_tree:
                score += record_values[n]
            if tree + 10 < last_tree:
                score += record_values[p]
            if tree + 11 < last_tree:
                score += record_values[q]
        scores[document] = score
    return True
