"""Trees as ONNX has them: ``TreeEnsemble`` of ai.onnx.ml 5 in double, before it ``TreeEnsembleRegressor``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rankforce.export.emulation import EmulatedTree
from rankforce.export.feature_sets import FeatureSet
from rankforce.export.forms import ScaledTree
from rankforce.export.thresholds import for_less_or_equal_in_double

LESS_OR_EQUAL, MEMBER = 0, 6  # of nodes_modes
SUM = 1  # of aggregate_function


def tree_attributes(trees: Sequence[ScaledTree], features: FeatureSet) -> dict[str, Any]:
    """Attributes of TreeEnsemble. A tree of one leaf is a node both of whose sides are that leaf."""
    from onnx import numpy_helper

    columns: dict[str, list[np.ndarray]] = {name: [] for name in (*_NODE_FIELDS, "splits", "leaves", "modes")}
    members: list[float] = []  # the codes of each set, with NaN behind them
    roots, nodes, leaves = [], 0, 0
    for tree in trees:
        roots.append(nodes)
        if tree.n_nodes:
            left, right = tree.left.astype(np.int64), tree.right.astype(np.int64)
            feature, missing = features.places[tree.feature], tree.missing_left
            splits = for_less_or_equal_in_double(tree.threshold)
        else:
            left = right = np.array([~0])
            feature, missing, splits = np.array([0]), np.array([False]), np.array([0.0])
        columns["nodes_featureids"].append(feature)
        columns["nodes_missing_value_tracks_true"].append(missing)
        for side, child in (("true", left), ("false", right)):
            columns[f"nodes_{side}leafs"].append(child < 0)
            columns[f"nodes_{side}nodeids"].append(np.where(child < 0, ~child + leaves, child + nodes))
        for codes in tree.listed:
            members += [] if codes is None else [*map(float, codes.tolist()), float("nan")]
        columns["modes"].append(np.where(tree.asks_set, MEMBER, LESS_OR_EQUAL) if tree.n_nodes else np.array([0]))
        columns["splits"].append(splits)
        columns["leaves"].append(tree.leaf_value)
        nodes += len(feature)
        leaves += tree.n_leaves
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    sets = {"membership_values": numpy_helper.from_array(np.array(members), "membership_values")} if members else {}
    return {name: joined[name].astype(int).tolist() for name in _NODE_FIELDS} | {
        "tree_roots": roots,
        "nodes_splits": numpy_helper.from_array(joined["splits"].astype(np.float64), "nodes_splits"),
        "nodes_modes": numpy_helper.from_array(joined["modes"].astype(np.uint8), "nodes_modes"),
        **sets,
        "leaf_weights": numpy_helper.from_array(joined["leaves"].astype(np.float64), "leaf_weights"),
        "leaf_targetids": [0] * leaves,
        "n_targets": 1,
        "aggregate_function": SUM,
        "post_transform": 0,
    }


_NODE_FIELDS = (
    "nodes_featureids",
    "nodes_missing_value_tracks_true",
    "nodes_trueleafs",
    "nodes_truenodeids",
    "nodes_falseleafs",
    "nodes_falsenodeids",
)


def parsed_ensemble(given: dict[str, Any], column_of: dict[int, int]) -> list[EmulatedTree]:
    """The trees of a TreeEnsemble's attributes; ``column_of``: the model's feature for each of the graph's."""
    from onnx import numpy_helper

    splits, modes = (numpy_helper.to_array(given[name]) for name in ("nodes_splits", "nodes_modes"))
    weights = numpy_helper.to_array(given["leaf_weights"])
    constants = given["n_targets"], given["aggregate_function"], given["post_transform"]
    assert np.isin(modes, (LESS_OR_EQUAL, MEMBER)).all(), "comparisons are <=, or sets"
    sets = _sets_of_nodes(given, modes)
    assert constants == (1, SUM, 0), constants
    trees = []
    for root in given["tree_roots"]:
        if given["nodes_trueleafs"][root] and given["nodes_falseleafs"][root]:
            both = given["nodes_truenodeids"][root], given["nodes_falsenodeids"][root]
            if both[0] == both[1]:
                trees.append(EmulatedTree.of([], [float(weights[both[0]])], np.float64))
                continue
        nodes: list[list[Any]] = []
        listed: list[np.ndarray | None] = []
        values: list[float] = []
        waiting: list[tuple[bool, int, int, int]] = [(False, root, -1, 0)]
        while waiting:
            is_leaf, at, parent, side = waiting.pop()
            if is_leaf:
                number = ~len(values)
                values.append(float(weights[at]))
            else:
                number = len(nodes)
                tracks = bool(given["nodes_missing_value_tracks_true"][at])
                nodes.append([column_of[given["nodes_featureids"][at]], float(splits[at]), tracks, 0, 0])
                listed.append(sets.get(at))
                for field, place in (("false", 4), ("true", 3)):
                    leaf, child = given[f"nodes_{field}leafs"][at], given[f"nodes_{field}nodeids"][at]
                    waiting.append((bool(leaf), child, number, place))
            if parent >= 0:
                nodes[parent][side] = number
        trees.append(EmulatedTree.of([tuple(node) for node in nodes], values, np.float64, listed=listed))
    return trees


def _sets_of_nodes(given: dict[str, Any], modes: np.ndarray) -> dict[int, np.ndarray]:
    """The codes of each node that asks for a set: sets follow the order of these nodes, with NaN behind each."""
    from onnx import numpy_helper

    asking = np.flatnonzero(modes == MEMBER)
    values = numpy_helper.to_array(given["membership_values"]) if len(asking) else np.empty(0)
    ends = np.flatnonzero(np.isnan(values))
    assert len(ends) == len(asking), "a set for every node that asks for one"
    starts = np.append(0, ends[:-1] + 1)
    return {int(at): values[first:last] for at, first, last in zip(asking, starts, ends, strict=False)}


def tree_attributes_of_regressor(trees: Sequence[ScaledTree], features: FeatureSet) -> dict[str, Any]:
    """Attributes of TreeEnsembleRegressor, float32: per tree, its nodes and then its leaves."""
    rows = [row for number, tree in enumerate(trees) for row in _regressor_rows(number, tree, features)]
    names = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
    attributes: dict[str, Any] = {
        f"nodes_{name}": list(column)
        for name, column in zip(names, zip(*(row[:7] for row in rows), strict=True), strict=True)
    }
    attributes["nodes_missing_value_tracks_true"] = [row[7] for row in rows]
    leaves = [row for row in rows if row[4] == "LEAF"]
    return attributes | {
        "target_treeids": [row[0] for row in leaves],
        "target_nodeids": [row[1] for row in leaves],
        "target_ids": [0] * len(leaves),
        "target_weights": [row[8] for row in leaves],
        "n_targets": 1,
        "aggregate_function": "SUM",
        "post_transform": "NONE",
    }


def _regressor_rows(number: int, tree: ScaledTree, features: FeatureSet) -> Iterator[tuple[Any, ...]]:
    def id_of(child: int) -> int:
        return child if child >= 0 else tree.n_nodes + ~child

    for node in range(tree.n_nodes):
        yield (
            number, node, int(features.places[tree.feature[node]]), float(tree.threshold[node]), "BRANCH_LEQ",
            id_of(int(tree.left[node])), id_of(int(tree.right[node])), int(tree.missing_left[node]), 0.0,
        )  # fmt: skip
    for leaf in range(tree.n_leaves):
        value = float(np.float32(tree.leaf_value[leaf]))
        yield number, id_of(~leaf), 0, 0.0, "LEAF", 0, 0, 0, value


def parsed_regressor(given: dict[str, Any], column_of: dict[int, int]) -> list[EmulatedTree]:
    """The trees of a TreeEnsembleRegressor's attributes."""
    assert set(given["nodes_modes"]) <= {b"BRANCH_LEQ", b"LEAF"}, "all comparisons are <="
    weights = dict(
        zip(zip(given["target_treeids"], given["target_nodeids"], strict=True), given["target_weights"], strict=True)
    )
    at = {place: row for row, place in enumerate(zip(given["nodes_treeids"], given["nodes_nodeids"], strict=True))}
    trees = []
    for number in dict.fromkeys(given["nodes_treeids"]):
        nodes: list[list[Any]] = []
        values: list[float] = []
        waiting = [(0, -1, 0)]
        while waiting:
            name, parent, side = waiting.pop()
            row = at[number, name]
            if given["nodes_modes"][row] == b"LEAF":
                place = ~len(values)
                values.append(weights[number, name])
            else:
                place = len(nodes)
                tracks = bool(given["nodes_missing_value_tracks_true"][row])
                nodes.append([column_of[given["nodes_featureids"][row]], given["nodes_values"][row], tracks, 0, 0])
                waiting += [
                    (given["nodes_falsenodeids"][row], place, 4), (given["nodes_truenodeids"][row], place, 3)
                ]  # fmt: skip
            if parent >= 0:
                nodes[parent][side] = place
        trees.append(EmulatedTree.of([tuple(node) for node in nodes], values, np.float32))
    return trees
