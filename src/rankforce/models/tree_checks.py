"""Whether the arrays of an ensemble are trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce.data.categories import MOST_CATEGORIES
from rankforce.data.category_sets import BITS
from rankforce.errors import RankforceError

if TYPE_CHECKING:
    from rankforce.models.tree_ensemble import TreeEnsemble


def check_trees(model: TreeEnsemble, node_fields: Any, leaf_fields: Any) -> None:
    """Raise unless the arrays are trees that a kernel can walk without leaving them.

    Children come after their parents and every node but the roots has one parent: hence no cycle, and every walk
    ends in a leaf of its tree.
    """
    starts = model.node_starts
    if starts.ndim != 1 or len(starts) == 0 or starts[0] != 0 or (np.diff(starts) < 0).any():
        raise RankforceError("node_starts must begin with 0 and not fall")
    nodes = int(starts[-1])
    leaves = nodes + model.n_trees
    if leaves >= 2**31:
        raise RankforceError(f"an ensemble of {leaves:,} leaves is beyond the limit of {2**31 - 1:,}")
    for name in (*node_fields, *leaf_fields):
        wanted = nodes if name in node_fields else leaves
        if getattr(model, name).shape != (wanted,):
            raise RankforceError(f"{name} must have {wanted} entries, not shape {getattr(model, name).shape}")
    sizes = np.diff(starts)
    tree = np.repeat(np.arange(model.n_trees), sizes)
    first = np.repeat(starts[:-1], sizes)  # node of the tree
    local = np.arange(nodes) - first
    size = np.repeat(sizes, sizes)

    def refuse(wrong: np.ndarray, problem: str) -> None:
        if wrong.any():
            node = int(np.flatnonzero(wrong)[0]) % nodes  # of the left children, then of the right ones
            raise RankforceError(f"tree {tree[node]}, node {local[node]}: {problem}")

    refuse((model.feature < 0) | (model.feature >= model.n_features), f"the model has {model.n_features} features only")
    refuse(~np.isfinite(model.threshold), "the threshold is not finite")
    refuse(~np.isfinite(model.gain), "the gain is not finite")
    child = np.stack([model.left, model.right]).astype(np.int64)
    inner = child >= 0
    refuse(inner & (child <= local), "a child that does not come after its parent")
    refuse(child >= size, "a child outside the tree")
    refuse(child < ~size, "a leaf outside the tree")
    # Nodes are counted, and behind them leaves, of which the trees before had one more each.
    parents = np.bincount(
        np.where(inner, first + child, nodes + first + tree + ~child).ravel(), minlength=nodes + leaves
    )
    refuse(parents[:nodes] != (local > 0), "a node that does not have one parent")
    if (parents[nodes:] != np.repeat(sizes > 0, sizes + 1)).any():
        raise RankforceError("a leaf that does not have one parent")
    if not np.isfinite(model.leaf_value).all():
        raise RankforceError("a leaf value is not finite")
    if (model.leaf_documents < 0).any():
        raise RankforceError("a leaf with a negative number of documents")
    _check_sets(model, refuse)


def _check_sets(model: TreeEnsemble, refuse: Any) -> None:
    """Raise unless each node with a set has one of its own, in the order of the nodes, of categories that there are."""
    subset, starts, words = model.subset, model.subset_starts, model.subset_words
    if subset.shape != model.feature.shape:
        raise RankforceError(f"subset must have {len(model.feature)} entries, not shape {subset.shape}")
    asking = subset >= 0
    sets = int(asking.sum())
    if starts.shape != (sets + 1,) or starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] != len(words):
        raise RankforceError(f"the words of {sets} sets of categories must be given by where each set begins")
    if not sets and words.shape == (0,):
        return
    refuse(subset != np.where(asking, np.cumsum(asking) - 1, -1), "sets of categories must follow the order of nodes")
    refuse(asking & (model.threshold != 0), "a node that asks for a set of categories has no threshold")
    ends = np.append(words, np.uint32(0))[starts[1:] - 1]  # 0 for a set without words that comes first
    sizes = np.diff(starts)
    refuse(_of_nodes(asking, (sizes > 0) & (ends == 0)), "a set of categories that ends with a word of zeros")
    # frexp gives the exponent e with 2^(e-1) <= word < 2^e: the highest bit is e - 1
    highest = np.where(sizes > 0, BITS * (sizes - 1) + np.frexp(ends.astype(np.float64))[1] - 1, -1)
    refuse(_of_nodes(asking, highest >= MOST_CATEGORIES), f"a category is beyond the limit of {MOST_CATEGORIES:,}")
    limits = np.array([len(model.categories.get(name, range(MOST_CATEGORIES))) for name in model.feature_names])
    refuse(_of_nodes(asking, highest >= limits[model.feature[asking]]), "a category that its feature does not have")


def _of_nodes(asking: np.ndarray, of_sets: np.ndarray) -> np.ndarray:
    found = np.zeros(len(asking), dtype=bool)
    found[asking] = of_sets
    return found
