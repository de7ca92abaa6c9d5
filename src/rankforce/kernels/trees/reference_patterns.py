"""Shapley values against many references at once: those that fail the same features of a path count together.

Along the path to a leaf, let K be the features whose splits a reference fails, and M those that the document passes. A
mixture of the two can come to the leaf only if K ⊆ M; then the document decides the a = |K| features of K, the
reference the b features outside M, and all others do not matter (``references`` has the weights of both). So a leaf
needs, of all references, the different sets K with their counts. They are bits of a word, and are found once per tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.intrinsics import trailing_zeros
from rankforce.compiling.jit import kernel, subroutine
from rankforce.kernels.trees.scoring import goes_left

MOST_FEATURES = 62  # of a path: bits of a word
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_NONE = np.uint64(0)


@subroutine
def _goes_left(nodes: Any, thresholds: Any, sets: Any, node: Any, value: Any) -> Any:
    """1 or 0."""
    if sets is not None:
        return np.uint64(goes_left(value, node, nodes, thresholds, sets))
    if value == value:
        return np.uint64(value <= thresholds[node])
    return np.uint64(nodes[node, 3])


@subroutine
def _find_paths(
    first: Any, last: Any, leaf: Any, nodes: Any, parents: Any, path_nodes: Any, sides: Any, bits: Any, slots: Any,
    sizes: Any,
) -> Any:  # fmt: skip
    """The path to each leaf of a tree, from its last split up: nodes from ``first`` on, 1 on the right side, the bit of
    the feature.

    sizes int64 (leaves, 2): splits, different features; slots: the features themselves.
    """
    for node in range(first, last):
        for side in range(2):
            child = nodes[node, 1 + side]
            if child >= 0:
                parents[child] = ~node if side == 1 else node
                continue
            place = ~child - leaf
            splits, different = 0, 0
            at = ~node if side == 1 else node
            while True:
                own = at if at >= 0 else ~at
                slot = 0
                while slot < different and slots[place, slot] != nodes[own, 0]:
                    slot += 1
                if slot == different:
                    slots[place, slot] = nodes[own, 0]
                    different += 1
                path_nodes[place, splits] = own - first
                sides[place, splits] = 1 if at < 0 else 0
                bits[place, splits] = slot
                splits += 1
                if own == first:
                    break
                at = parents[own]
            sizes[place, 0], sizes[place, 1] = splits, different


@subroutine
def _failed(path_nodes: Any, sides: Any, bits: Any, sizes: Any, leaf: Any, lefts: Any, row: Any) -> Any:
    """The features of a path of which a document fails a split, as bits; lefts: 1 where a row goes left at a node.

    Without a branch: half of them would go the other way.
    """
    failed = _NONE
    for k in range(sizes[leaf, 0]):
        fails = _ONE ^ sides[leaf, k] ^ lefts[row, path_nodes[leaf, k]]
        failed |= fails << bits[leaf, k]
    return failed


@kernel
def add_pattern_contributions(
    features: Any,
    references: Any,
    node_starts: Any,
    leaf_starts: Any,
    nodes: Any,
    thresholds: Any,
    sets: Any,
    leaf_values: Any,
    weights: Any,
    deepest: Any,
    bits: Any,
    first: Any,
    last: Any,
    out: Any,
) -> None:
    """As ``references.add_reference_contributions``, by patterns.

    node_starts, leaf_starts int64: where each tree's nodes and leaves begin; deepest: the most splits on a path; bits:
    2^bits is at least twice the number of references.
    """
    leaves = 1
    for tree in range(node_starts.shape[0] - 1):
        leaves = max(leaves, node_starts[tree + 1] - node_starts[tree] + 1)
    parents = np.empty(nodes.shape[0], dtype=np.int64)
    path_nodes = np.empty((leaves, deepest), dtype=np.int64)
    sides = np.empty((leaves, deepest), dtype=np.uint64)
    places = np.empty((leaves, deepest), dtype=np.uint64)
    slots = np.empty((leaves, deepest), dtype=np.int64)
    sizes = np.empty((leaves, 2), dtype=np.int64)
    count = references.shape[0]
    patterns = np.empty((leaves, count), dtype=np.uint64)
    members = np.empty((leaves, count), dtype=np.int64)
    widths = np.empty((leaves, count), dtype=np.int64)
    different = np.empty(leaves, dtype=np.int64)
    table = np.empty(1 << bits, dtype=np.int64)  # where a pattern stands, -1: nowhere
    lefts = np.empty((1, leaves), dtype=np.uint64)
    reference_lefts = np.empty((count, leaves), dtype=np.uint64)
    gained = np.zeros(MOST_FEATURES + 1)
    shift = np.uint64(64 - bits)
    for tree in range(node_starts.shape[0] - 1):
        begin, end, leaf = node_starts[tree], node_starts[tree + 1], leaf_starts[tree]
        if begin == end:
            continue
        _find_paths(begin, end, leaf, nodes, parents, path_nodes, sides, places, slots, sizes)
        for reference in range(count):
            for node in range(begin, end):
                value = references[reference, nodes[node, 0]]
                reference_lefts[reference, node - begin] = _goes_left(nodes, thresholds, sets, node, value)
        for k in range(end - begin + 1):
            table[:] = -1
            found = 0
            for reference in range(count):
                pattern = _failed(path_nodes, sides, places, sizes, k, reference_lefts, reference)
                place = np.int64((pattern * _MULTIPLIER) >> shift)
                while table[place] >= 0 and patterns[k, table[place]] != pattern:
                    place = (place + 1) & ((1 << bits) - 1)
                if table[place] < 0:
                    table[place] = found
                    patterns[k, found] = pattern
                    members[k, found] = 0
                    width = 0
                    rest = pattern
                    while rest != _NONE:
                        rest &= rest - _ONE
                        width += 1
                    widths[k, found] = width
                    found += 1
                members[k, table[place]] += 1
            different[k] = found
        for document in range(first, last):
            for node in range(begin, end):
                lefts[0, node - begin] = _goes_left(nodes, thresholds, sets, node, features[document, nodes[node, 0]])
            for k in range(end - begin + 1):
                failed = _failed(path_nodes, sides, places, sizes, k, lefts, 0)
                b = 0
                rest = failed
                while rest != _NONE:
                    rest &= rest - _ONE
                    b += 1
                lost = 0.0
                for p in range(different[k]):
                    pattern = patterns[k, p]
                    if pattern & failed != _NONE:
                        continue
                    a = widths[k, p]
                    share = weights[a, b] * members[k, p]
                    lost += weights[b, a] * members[k, p]
                    while pattern != _NONE:
                        gained[np.int64(trailing_zeros(pattern))] += share
                        pattern &= pattern - _ONE
                value = np.float64(leaf_values[leaf + k])
                for slot in range(sizes[k, 1]):
                    if gained[slot] != 0.0:
                        out[document, slots[k, slot]] += gained[slot] * value
                        gained[slot] = 0.0
                while failed != _NONE:
                    out[document, slots[k, np.int64(trailing_zeros(failed))]] -= lost * value
                    failed &= failed - _ONE
