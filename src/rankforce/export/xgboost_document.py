"""XGBoost's own model: trees in its arrays, and the document around them; and both read back.

Left if x < split_condition, in float32. The right child of a node is the one after its left child, which XGBoost takes
for granted when it explains scores; node counts are ``sum_hessian`` and node means ``base_weights``, which explanations
weigh by. Leaves are split conditions of nodes without children, and base weights, too: the plugins read them there.

Of a node with a set of categories, those that are listed go right and all else left: its children change places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.export.emulation import EmulatedTree
from rankforce.export.feature_sets import FeatureSet
from rankforce.export.forms import ScaledTree
from rankforce.export.thresholds import for_less, written

OBJECTIVE = "rank:pairwise"
VERSION = (2, 1, 0)  # of XGBoost, whose files all later ones read
NO_PARENT = 2**31 - 1


def document_of(
    trees: tuple[ScaledTree, ...], features: FeatureSet, base_score: float, types: list[str] | None = None
) -> dict[str, Any]:
    """The model as ``Booster.save_model`` has it; arrays are NumPy's. ``types`` of features; None: all are numbers."""
    count = len(features.names)
    return {
        "learner": {
            "attributes": {},
            "feature_names": list(features.names),
            "feature_types": types or ["float"] * count,
            "gradient_booster": {
                "model": {
                    "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
                    "iteration_indptr": list(range(len(trees) + 1)),
                    "tree_info": [0] * len(trees),
                    "trees": [_tree(tree, number, features) for number, tree in enumerate(trees)],
                },
                "name": "gbtree",
            },
            "learner_model_param": {
                "base_score": written(np.float32(base_score)),
                "boost_from_average": "0",
                "num_class": "0",
                "num_feature": str(count),
                "num_target": "1",
            },
            "objective": {"lambdarank_param": {}, "name": OBJECTIVE},
        },
        "version": list(VERSION),
    }


def _tree(tree: ScaledTree, number: int, features: FeatureSet) -> dict[str, Any]:
    children, parents = _numbered(tree)
    size = len(children)
    inner = children >= 0
    nodes, leaves = children[inner], ~children[~inner]
    place_of = np.empty(tree.n_nodes, dtype=np.int64)
    place_of[nodes] = np.flatnonzero(inner)
    documents, means = tree.node_documents()
    left, right = np.full((2, size), -1, dtype=np.int32)
    first = np.zeros(tree.n_nodes, dtype=np.int32)
    first[children[parents[1::2]]] = np.arange(1, size, 2)  # children stand in pairs behind the root
    left[inner], right[inner] = first[nodes], first[nodes] + 1
    conditions, weights, counts, gains = np.zeros((4, size), dtype=np.float32)
    conditions[inner], conditions[~inner] = for_less(tree.threshold)[nodes], tree.leaf_value[leaves]
    weights[inner], weights[~inner] = means[nodes], tree.leaf_value[leaves]
    counts[inner], counts[~inner] = documents[nodes], tree.leaf_documents[leaves]
    gains[inner] = tree.gain[nodes]
    indices, default_left = np.zeros(size, dtype=np.int32), np.zeros(size, dtype=np.uint8)
    indices[inner] = features.places[tree.feature[nodes]]
    default_left[inner] = (tree.missing_left ^ tree.asks_set)[nodes]
    types = np.zeros(size, dtype=np.uint8)
    types[inner] = tree.asks_set[nodes]
    asking = np.flatnonzero(types)
    sets = [codes for codes in (tree.codes(int(children[place])) for place in asking) if codes is not None]
    sizes = np.array([len(codes) for codes in sets], dtype=np.int64)
    return {
        "base_weights": weights,
        "categories": np.concatenate([np.empty(0), *sets]).astype(np.int32),
        "categories_nodes": asking.astype(np.int32),
        "categories_segments": np.cumsum(sizes) - sizes,
        "categories_sizes": sizes,
        "default_left": default_left,
        "id": number,
        "left_children": left,
        "loss_changes": gains,
        "parents": np.where(parents < 0, NO_PARENT, parents).astype(np.int32),
        "right_children": right,
        "split_conditions": conditions,
        "split_indices": indices,
        "split_type": types,
        "sum_hessian": counts,
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(len(features.names)),
            "num_nodes": str(size),
            "size_leaf_vector": "1",
        },
    }


def _numbered(tree: ScaledTree) -> tuple[np.ndarray, np.ndarray]:
    """(child, place of the parent) of every place of XGBoost's, level by level: the two children of a node adjacent."""
    children, parents = [tree.root], [-1]
    asks_set = tree.asks_set
    for place, child in enumerate(children):  # grows while it is walked
        if child >= 0:
            sides = [int(tree.left[child]), int(tree.right[child])]
            children += sides[::-1] if asks_set[child] else sides
            parents += [place, place]
    return np.array(children), np.array(parents)


def parsed_trees(document: Any, features: FeatureSet, leaves_in: str) -> tuple[EmulatedTree, ...]:
    """The trees of a document, checked; ``leaves_in``: "split_conditions" (XGBoost) or "base_weights" (the plugins)."""
    learner = document["learner"]
    names = learner["feature_names"]
    types = learner["feature_types"]
    if learner["objective"]["name"] != OBJECTIVE or len(types) != len(names) or not {"float", "c"}.issuperset(types):
        raise ModelFileError("the objective or the types of features are not what was to be written")
    columns = features.columns()
    trees = learner["gradient_booster"]["model"]["trees"]
    return tuple(_parsed(tree, number, names, columns, leaves_in) for number, tree in enumerate(trees))


def _parsed(tree: Any, number: int, names: list[str], columns: dict[str, int], leaves_in: str) -> EmulatedTree:
    size = int(tree["tree_param"]["num_nodes"])
    arrays = {key: np.asarray(value) for key, value in tree.items() if key not in ("id", "tree_param")}
    wrong = [key for key, value in arrays.items() if not key.startswith("categories") and len(value) != size]
    left, right = arrays["left_children"], arrays["right_children"]
    inner = left >= 0
    if wrong or tree["id"] != number or (right[inner] != left[inner] + 1).any() or (right[~inner] != -1).any():
        raise ModelFileError(f"tree {number}: its arrays do not fit each other")
    place = np.where(inner, np.cumsum(inner) - 1, ~(np.cumsum(~inner) - 1))
    ends = arrays["categories_segments"] + arrays["categories_sizes"]
    sets = {
        int(at): arrays["categories"][first:last]
        for at, first, last in zip(arrays["categories_nodes"], arrays["categories_segments"], ends, strict=True)
    }
    if sorted(sets) != np.flatnonzero(arrays["split_type"]).tolist():
        raise ModelFileError(f"tree {number}: its sets of categories do not fit its nodes")
    nodes, listed = [], []
    for at in np.flatnonzero(inner).tolist():
        asks_set = at in sets
        first, second = (right, left) if asks_set else (left, right)
        nodes.append((
            columns[names[arrays["split_indices"][at]]], arrays["split_conditions"][at],
            bool(arrays["default_left"][at]) ^ asks_set, int(place[first[at]]), int(place[second[at]]),
        ))  # fmt: skip
        listed.append(sets.get(at))
    return EmulatedTree.of(nodes, arrays[leaves_in][~inner].tolist(), np.float32, listed=listed)
