"""Tree scoring with NumPy alone: all documents of a block and all trees go down one level at a time.

Gives the same bits as the compiled kernels: a score is a float64 sum in tree order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from rankforce.data import category_sets

Sets: TypeAlias = tuple[np.ndarray, np.ndarray] | None

BLOCK = 1 << 17  # (document, tree) pairs on their way down at once


def find_leaves(
    features: np.ndarray, roots: np.ndarray, nodes: np.ndarray, thresholds: np.ndarray, sets: Sets, out: np.ndarray
) -> None:
    """The leaf of each document in each tree, counted over all trees: out int32 (documents, trees).

    roots int32: a node, or ~leaf for a tree of one leaf; nodes int32 (nodes, 4): feature, left, right, and 1 if missing
    values go left, + 2·(s + 1) if the node asks for set s; a child is a node, or ~leaf. sets: where each begins, and
    their words (``data/category_sets.py``), or None.
    """
    for part in _blocks(len(features), len(roots)):
        out[part] = _leaves_of_block(features[part], roots, nodes, thresholds, sets).T


def add_scores(
    features: np.ndarray,
    roots: np.ndarray,
    nodes: np.ndarray,
    thresholds: np.ndarray,
    sets: Sets,
    leaf_values: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Add the trees to the scores, in tree order."""
    for part in _blocks(len(features), len(roots)):
        sums = scores[part]
        for leaves in _leaves_of_block(features[part], roots, nodes, thresholds, sets):
            sums += leaf_values[leaves].astype(np.float64)


def _blocks(documents: int, trees: int) -> Iterator[slice]:
    step = max(1, BLOCK // max(1, trees))
    for start in range(0, documents, step):
        yield slice(start, min(start + step, documents))


def _leaves_of_block(
    features: np.ndarray, roots: np.ndarray, nodes: np.ndarray, thresholds: np.ndarray, sets: Sets
) -> np.ndarray:
    """Leaves of shape (trees, documents)."""
    documents = len(features)
    place = np.repeat(roots, documents)
    pending = np.flatnonzero(place >= 0)
    document = pending % documents
    while len(pending):
        node = place[pending]
        value = features[document, nodes[node, 0]]
        to_right = value > thresholds[node]
        if sets is not None:
            asked = nodes[node, 3] // 2 - 1
            outside = ~category_sets.are_in(value, np.maximum(asked, 0), *sets)
            to_right = np.where(asked >= 0, outside, to_right)
        to_right = np.where(np.isnan(value), nodes[node, 3] % 2 == 0, to_right)
        child = np.where(to_right, nodes[node, 2], nodes[node, 1])
        place[pending] = child
        inside = child >= 0
        pending, document = pending[inside], document[inside]
    return (~place).reshape(len(roots), documents)
