"""Scores of tree ensembles: the float64 sum of the leaves in tree order, added to what stands in ``scores``.

Three ways, equal to the last bit. Documents by the block: QuickScorer (Lucchese et al., SIGIR 2015), over 64 documents
(or 16, if there are no more) at once. Few documents: ``side_by_side.py``. Very large trees: walk down.

QuickScorer numbers the leaves of a tree from left to right. A node whose test ``x <= threshold`` fails rules out the
leaves of its left side; the leaf reached is the leftmost that no failed test has ruled out:

    leaves    0 1 2 3 4        node over {0 1 | 2 3 4} fails:  ruled out  1 1 0 0 0
                               node over {2 | 3 4}     fails:             0 0 1 0 0     -> leaf 3

No branch and no dependence between tests, so all of them are computed. The leaves are held in words of 32 bits: a
node has one *test* (row of values, threshold, mask) per word that its left side touches.

A node that asks for a set of categories has tests (place of the set, mask) instead; ``set_tests.py`` says of all places
at once which documents of a block fail. Kernels take None in place of sets where an ensemble has none: Numba then
compiles them without.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankforce.compiling.intrinsics import trailing_zeros
from rankforce.compiling.jit import kernel, subroutine
from rankforce.compiling.vector_intrinsics import (
    DOCUMENT_BLOCK,
    GROUP,
    SMALL_BLOCK,
    failed_set_tests,
    failed_set_tests_of_few,
    failed_tests,
    failed_tests_of_few,
)
from rankforce.kernels.packed_arrays import part_of
from rankforce.kernels.trees.set_tests import PLACES, SetTable, fill_failing, is_in_set

WORD = 32  # leaves per word
# Parts of the packed tests of an ensemble.
FEATURES, FILLS, WORD_STARTS, TEST_STARTS, ROWS, THRESHOLDS, MASKS, LEAF_STARTS, LEAF_VALUES = range(9)
NOTHING = np.uint32(0)


class SetTests(NamedTuple):
    """The tests of nodes that ask for sets, by word of leaves."""

    table: Any  # a SetTable
    starts: Any  # int64: where each word's tests begin
    places: Any  # int32: of the set, in the table
    masks: Any  # uint32


@kernel
def count_tests(node_starts: Any, left: Any, right: Any, word_starts: Any, out: Any) -> None:
    """How many tests each word of leaves has.

    node_starts, word_starts int64: where each tree's nodes and words begin; left, right int32:
    a node of the same tree that comes later, or ~leaf. out int64, one entry per word, zero on entry.
    """
    spans = np.empty((2, left.shape[0]), dtype=np.int64)
    for tree in range(node_starts.shape[0] - 1):
        first, last = node_starts[tree], node_starts[tree + 1]
        _left_sides(first, last, left, right, spans)
        for node in range(first, last):
            low, high = spans[0, node], spans[1, node]
            for word in range(low // WORD, (high - 1) // WORD + 1):
                out[word_starts[tree] + word] += 1


@kernel
def write_tests(
    node_starts: Any,
    left: Any,
    right: Any,
    node_rows: Any,
    node_thresholds: Any,
    node_leaf_values: Any,
    leaf_starts: Any,
    word_starts: Any,
    test_starts: Any,
    rows: Any,
    thresholds: Any,
    masks: Any,
    leaf_values: Any,
) -> None:
    """Tests by word of leaves, and leaf values from left to right.

    node_rows int32, node_thresholds float32 per node, node_leaf_values float64 per leaf as the tree numbers them;
    test_starts int64: where each word's tests begin. Written: rows int32, thresholds float32, masks uint32 per test,
    leaf_values float64.
    """
    spans = np.empty((2, left.shape[0]), dtype=np.int64)
    filled = np.zeros(test_starts.shape[0] - 1, dtype=np.int64)
    for tree in range(node_starts.shape[0] - 1):
        first, last = node_starts[tree], node_starts[tree + 1]
        leaf = leaf_starts[tree]
        if first == last:
            leaf_values[leaf] = node_leaf_values[leaf]
        _left_sides(first, last, left, right, spans)
        for node in range(first, last):
            low, high = spans[0, node], spans[1, node]
            for word in range(low // WORD, (high - 1) // WORD + 1):
                start = max(low - WORD * word, 0)
                end = min(high - WORD * word, WORD)
                place = test_starts[word_starts[tree] + word] + filled[word_starts[tree] + word]
                filled[word_starts[tree] + word] += 1
                rows[place] = node_rows[node]
                thresholds[place] = node_thresholds[node]
                masks[place] = np.uint32((np.int64(1) << end) - (np.int64(1) << start))
            if left[node] < 0:
                leaf_values[leaf + low] = node_leaf_values[leaf + ~left[node]]
            if right[node] < 0:
                leaf_values[leaf + high] = node_leaf_values[leaf + ~right[node]]


@subroutine
def _left_sides(first: Any, last: Any, left: Any, right: Any, spans: Any) -> Any:
    """For each node of a tree, the leaves [spans[0], spans[1]) of its left side, counted from left to right.

    Children come after their parents: sizes are gathered from the last node up, places handed out from the root down.
    """
    for node in range(last - 1, first - 1, -1):
        on_left = 1 if left[node] < 0 else spans[1, first + left[node]]
        on_right = 1 if right[node] < 0 else spans[1, first + right[node]]
        spans[0, node] = on_left
        spans[1, node] = on_left + on_right
    if first < last:
        spans[1, first] = 0  # from here on: where the node's leaves begin
    for node in range(first, last):
        low = spans[1, node]
        high = low + spans[0, node]
        if left[node] >= 0:
            spans[1, first + left[node]] = low
        if right[node] >= 0:
            spans[1, first + right[node]] = high
        spans[0, node] = low
        spans[1, node] = high


@kernel
def score_by_blocks(features: Any, tests: Any, bundles: Any, sets: Any, first: Any, last: Any, scores: Any) -> Any:
    """Add the trees of all bundles to the scores of documents ``first`` to ``last``; whether no feature is infinite.

    That is looked at where there are at most GROUP documents, which nobody may have looked at before; where it is
    false, the scores mean nothing.

    features float32 (documents, features); tests: ``packed``, in the order of the constants above, arrays as in
    ``write_tests``. Row r of a block holds feature ``row_features[r]`` (int32) with ``row_fills[r]`` (float32) in place
    of missing values: -inf for tests that send them left, inf for those that send them right. bundles int64:
    ``bundles[b]`` is the first tree of bundle b; a bundle's tests fit into the cache. sets: None, or SetTests and their
    table as plain tuples, which Numba recognises much faster than named ones.
    """
    row_features, row_fills = part_of(tests, FEATURES, np.int32), part_of(tests, FILLS, np.float32)
    word_starts, test_starts = part_of(tests, WORD_STARTS, np.int64), part_of(tests, TEST_STARTS, np.int64)
    rows, thresholds = part_of(tests, ROWS, np.int32), part_of(tests, THRESHOLDS, np.float32)
    masks, leaf_starts = part_of(tests, MASKS, np.uint32), part_of(tests, LEAF_STARTS, np.int64)
    leaf_values = part_of(tests, LEAF_VALUES, np.float64)
    infinity = np.float32(np.inf)
    for document in range(first, last if last - first <= GROUP else first):
        finite = True
        for k in range(features.shape[1]):
            finite &= np.abs(features[document, k]) != infinity
        if not finite:
            return False
    height = row_features.shape[0]
    width = SMALL_BLOCK if last - first <= SMALL_BLOCK else DOCUMENT_BLOCK
    group = min(GROUP, width * ((last - first + width - 1) // width))
    values = _aligned(group * height).reshape((group // width, height, width))
    columns = _aligned(features.shape[1] * width).reshape((features.shape[1], width))
    sums = np.empty(group)
    ruled_out = _aligned(width).view(np.uint32)
    open_leaves = np.empty(width, dtype=np.uint32)
    word_leaf = np.empty(width, dtype=np.int32)
    if sets is not None:
        parts, set_starts, set_places, set_masks = sets
        table = SetTable(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5])
        failing = np.empty((group // width, PLACES * table.word_starts[-1]), dtype=np.uint64)
        table_rows = np.empty(PLACES, dtype=np.int64)
        square = np.empty(PLACES, dtype=np.uint64)
    for start in range(first, last, group):
        count = min(group, last - start)
        blocks = (count + width - 1) // width
        for place in range(count):
            sums[place] = scores[start + place]
        for block in range(blocks):
            begin = start + block * width
            _fill_block(features, begin, min(begin + width, last), row_features, row_fills, columns, values[block])
        if sets is not None:
            for block in range(blocks):
                fill_failing(
                    features, start + block * width, count - block * width, width, table, table_rows, square,
                    failing[block],
                )  # fmt: skip
        for bundle in range(bundles.shape[0] - 1):
            for block in range(blocks):
                of_block = values[block]
                for tree in range(bundles[bundle], bundles[bundle + 1]):
                    first_word, last_word = word_starts[tree], word_starts[tree + 1] - 1
                    several = first_word != last_word
                    for word in range(last_word, first_word - 1, -1):
                        begin, end = test_starts[word], test_starts[word + 1]
                        leaf = np.int32(leaf_starts[tree] + WORD * (word - word_starts[tree]))
                        if width == SMALL_BLOCK:  # called with constants, the loops over documents are vectorised
                            failed_tests_of_few(of_block, rows, thresholds, masks, begin, end, ruled_out)
                            if sets is not None:
                                failed_set_tests_of_few(
                                    failing[block], set_places, set_masks, set_starts[word], set_starts[word + 1],
                                    ruled_out,
                                )  # fmt: skip
                            if several:
                                _note_open(SMALL_BLOCK, ruled_out, leaf, word == last_word, open_leaves, word_leaf)
                        else:
                            failed_tests(of_block, rows, thresholds, masks, begin, end, ruled_out)
                            if sets is not None:
                                failed_set_tests(
                                    failing[block], set_places, set_masks, set_starts[word], set_starts[word + 1],
                                    ruled_out,
                                )  # fmt: skip
                            if several:
                                _note_open(DOCUMENT_BLOCK, ruled_out, leaf, word == last_word, open_leaves, word_leaf)
                    place = block * width
                    in_block = min(width, count - place)
                    if several:
                        _add_leaves(open_leaves, word_leaf, leaf_values, sums, place, in_block)
                    else:
                        _add_leaves_of_word(ruled_out, leaf_starts[tree], leaf_values, sums, place, in_block)
        for place in range(count):
            scores[start + place] = sums[place]
    return True


@subroutine
def _aligned(size: Any) -> Any:
    """So many float32 that begin with a cache line: no vector lies in two."""
    lanes = 16
    room = np.empty(size + lanes, dtype=np.float32)
    begin = -(room.ctypes.data // 4) % lanes
    return room[begin : begin + size]


@subroutine
def _fill_block(
    features: Any, first: Any, last: Any, row_features: Any, row_fills: Any, columns: Any, values: Any
) -> Any:
    """The rows of a block for documents ``first`` to ``last``; what is beyond them is the last one again.

    columns: scratch, the features of the block.
    """
    width = columns.shape[1]
    for d in range(width):
        document = min(first + d, last - 1)
        for f in range(columns.shape[0]):
            columns[f, d] = features[document, f]
    for r in range(row_features.shape[0]):
        fill = row_fills[r]
        feature = row_features[r]
        for d in range(np.uint64(width)):
            value = columns[feature, d]
            values[r, d] = value if value == value else fill


@subroutine
def _note_open(width: Any, ruled_out: Any, leaf: Any, is_last: Any, open_leaves: Any, word_leaf: Any) -> Any:
    """Keep the leaves of a word that are not ruled out, and its first leaf, for documents that have some there."""
    if is_last:
        for d in range(width):
            open_leaves[d] = ~ruled_out[d]
            word_leaf[d] = leaf
    else:  # an earlier word with an open leaf holds the leftmost one
        for d in range(width):
            here = ~ruled_out[d]
            if here != NOTHING:
                open_leaves[d] = here
                word_leaf[d] = leaf


@subroutine
def _add_leaves(open_leaves: Any, word_leaf: Any, leaf_values: Any, sums: Any, place: Any, documents: Any) -> Any:
    """Add the value of its leftmost open leaf to the sum of each document of a block, whose sums begin at ``place``."""
    for d in range(np.uint64(documents)):
        leftmost = np.int64(trailing_zeros(np.uint64(open_leaves[d])))
        sums[np.uint64(place) + d] += leaf_values[word_leaf[d] + leftmost]


@subroutine
def _add_leaves_of_word(ruled_out: Any, leaf: Any, leaf_values: Any, sums: Any, place: Any, documents: Any) -> Any:
    """The same for a tree of one word, whose leaves begin at ``leaf``."""
    for d in range(np.uint64(documents)):
        leftmost = trailing_zeros(np.uint64(~ruled_out[d]))
        sums[np.uint64(place) + d] += leaf_values[np.uint64(leaf) + leftmost]


@subroutine
def goes_left(value: Any, node: Any, nodes: Any, thresholds: Any, sets: Any) -> Any:
    """Whether a value goes left at a node; sets: SetBits or None.

    The last column of nodes: 1 if missing values go left, + 2·(s + 1) if the node asks for set s.
    """
    if sets is None:
        return value <= thresholds[node] if value == value else nodes[node, 3] != 0
    asked = nodes[node, 3]
    if value != value:
        return asked & 1 != 0
    return value <= thresholds[node] if asked < 2 else is_in_set(value, (asked >> 1) - 1, sets)


@subroutine
def _walk(features: Any, document: Any, root: Any, nodes: Any, thresholds: Any, sets: Any) -> Any:
    """The leaf that a document reaches from a node (or from ~leaf itself).

    nodes int32 (nodes, 4): feature, left, right, see ``goes_left``; left and right count over all trees.
    """
    node = root
    while node >= 0:
        value = features[document, nodes[node, 0]]
        if sets is not None:
            node = nodes[node, 1 if goes_left(value, node, nodes, thresholds, sets) else 2]
        elif value == value:
            node = nodes[node, 1 + (value > thresholds[node])]
        else:
            node = nodes[node, 2 - nodes[node, 3]]
    return ~node


@kernel
def score_by_walking(
    features: Any,
    roots: Any,
    nodes: Any,
    thresholds: Any,
    leaf_values: Any,
    sets: Any,
    first: Any,
    last: Any,
    scores: Any,
) -> None:
    """Add the trees with these roots to the scores of documents ``first`` to ``last``.

    roots int32: a node, or ~leaf for a tree of one leaf; leaf_values, scores float64; sets: SetBits or None.
    """
    for start in range(first, last, DOCUMENT_BLOCK):  # a tree stays in the cache for a block of documents
        for tree in range(roots.shape[0]):
            for document in range(start, min(start + DOCUMENT_BLOCK, last)):
                scores[document] += leaf_values[_walk(features, document, roots[tree], nodes, thresholds, sets)]


@kernel
def leaves_by_walking(
    features: Any, roots: Any, nodes: Any, thresholds: Any, sets: Any, first: Any, last: Any, out: Any
) -> None:
    """The leaf of documents ``first`` to ``last`` in each tree, counted over all trees.

    out int32 (documents, trees).
    """
    for start in range(first, last, DOCUMENT_BLOCK):
        for tree in range(roots.shape[0]):
            for document in range(start, min(start + DOCUMENT_BLOCK, last)):
                out[document, tree] = _walk(features, document, roots[tree], nodes, thresholds, sets)
