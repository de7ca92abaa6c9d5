"""Contributions of features against shap, LightGBM and XGBoost, which compute the same numbers in other ways."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.models.random_trees import random_ensemble, random_features

from rankforce.explaining.tree_contributions import against_references, path_dependent
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.trees.tree import Tree

pytestmark = pytest.mark.compiled_only


def as_shap_tree(tree: Tree) -> dict[str, Any]:
    """Internal nodes first, then leaves, as shap's arrays have them."""
    inner = len(tree.feature)

    def place(child: np.ndarray) -> np.ndarray:
        return np.where(child >= 0, child, inner + ~child)

    none = np.full(len(tree.leaf_value), -1)
    documents = np.concatenate([np.zeros(inner), tree.leaf_documents.astype(float)])
    left, right = place(tree.left), place(tree.right)
    for node in range(inner - 1, -1, -1):
        documents[node] = documents[left[node]] + documents[right[node]]
    return {
        "children_left": np.concatenate([left, none]),
        "children_right": np.concatenate([right, none]),
        "children_default": np.concatenate([np.where(tree.missing_left, left, right), none]),
        "features": np.concatenate([tree.feature, none]),
        "thresholds": np.concatenate([tree.threshold.astype(float), np.zeros(len(none))]),
        "values": np.concatenate([np.zeros(inner), tree.leaf_value.astype(float)])[:, None],
        "node_sample_weight": documents,
    }


@pytest.fixture(scope="module")
def shap():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("shap")


MODEL = random_ensemble(0, [31] * 12 + [2, 60], 20)
ROWS = random_features(1, 80, 20)


def test_path_dependent_as_shap(shap):
    explainer = shap.TreeExplainer({"trees": [as_shap_tree(tree) for tree in MODEL.trees]})
    expected, found = path_dependent(MODEL, ROWS)
    theirs = explainer.shap_values(ROWS.astype(float), check_additivity=False)
    np.testing.assert_allclose(found, theirs, atol=1e-10)
    assert expected == pytest.approx(float(np.squeeze(explainer.expected_value)), abs=1e-10)


@pytest.mark.parametrize("references", [1, 10])
def test_against_references_as_shap(shap, references):
    background = random_features(2, references, 20)
    explainer = shap.TreeExplainer(
        {"trees": [as_shap_tree(tree) for tree in MODEL.trees]},
        background.astype(float),
        feature_perturbation="interventional",
    )
    theirs = explainer.shap_values(ROWS.astype(float), check_additivity=False)
    np.testing.assert_allclose(against_references(MODEL, ROWS, background), theirs, atol=1e-6)  # float32 weights there


def training_data() -> tuple[np.ndarray, np.ndarray]:
    X = random_features(3, 2000, 12)
    known = np.nan_to_num(X)
    return X, known[:, 0] * known[:, 1] + np.sin(3 * known[:, 2]) + known[:, 3]


def from_lightgbm(booster: Any) -> TreeEnsemble:
    """LightGBM's trees, with leaves rounded to float32; thresholds rounded down send float32 numbers the same way."""
    trees = []
    for told in booster.dump_model()["tree_info"]:
        inner: dict[int, dict[str, Any]] = {}
        leaves: dict[int, dict[str, Any]] = {}

        def visit(node: dict[str, Any], inner: Any = inner, leaves: Any = leaves) -> int:
            if "leaf_index" in node:
                leaves[node["leaf_index"]] = node
                return ~node["leaf_index"]
            inner[node["split_index"]] = node
            node["sides"] = [visit(node["left_child"]), visit(node["right_child"])]
            return node["split_index"]

        visit(told["tree_structure"])
        nodes = [inner[number] for number in sorted(inner)]
        exact = np.array([node["threshold"] for node in nodes])
        rounded = exact.astype(np.float32)
        rounded = np.where(rounded > exact, np.nextafter(rounded, np.float32("-inf")), rounded)
        trees.append(
            Tree(
                feature=np.array([node["split_feature"] for node in nodes], dtype=np.int32),
                threshold=rounded,
                missing_left=np.array([node["default_left"] for node in nodes]),
                left=np.array([node["sides"][0] for node in nodes], dtype=np.int32),
                right=np.array([node["sides"][1] for node in nodes], dtype=np.int32),
                gain=np.ones(len(nodes)),
                leaf_value=np.array([leaves[k]["leaf_value"] for k in sorted(leaves)], dtype=np.float32),
                leaf_documents=np.array([leaves[k]["leaf_count"] for k in sorted(leaves)]),
            )
        )
    return TreeEnsemble.from_trees(trees, booster.feature_name())


def test_path_dependent_as_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = training_data()
    settings = {"num_leaves": 31, "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5}
    booster = lightgbm.train(settings, lightgbm.Dataset(X, y), 20)
    theirs = booster.predict(ROWS[:, :12], pred_contrib=True)
    expected, found = path_dependent(from_lightgbm(booster), np.ascontiguousarray(ROWS[:, :12]))
    np.testing.assert_allclose(found, theirs[:, :-1], atol=1e-6)
    np.testing.assert_allclose(expected, theirs[:, -1], atol=1e-6)


def from_xgboost(booster: Any, base: float) -> TreeEnsemble:
    """XGBoost's trees: x < t goes left, hence the float32 before t; covers of squared errors are counts."""
    trees = []
    for text in booster.get_dump(dump_format="json", with_stats=True):
        inner: list[dict[str, Any]] = []
        leaves: list[dict[str, Any]] = []

        def visit(node: dict[str, Any], inner: Any = inner, leaves: Any = leaves) -> int:
            if "leaf" in node:
                leaves.append(node)
                return ~(len(leaves) - 1)
            number = len(inner)
            inner.append(node)
            children = {child["nodeid"]: child for child in node["children"]}
            node["sides"] = [visit(children[node["yes"]]), visit(children[node["no"]])]
            return number

        visit(json.loads(text))
        conditions = np.array([node["split_condition"] for node in inner], dtype=np.float32)
        trees.append(
            Tree(
                feature=np.array([int(node["split"].removeprefix("f")) for node in inner], dtype=np.int32),
                threshold=np.nextafter(conditions, np.float32("-inf")),
                missing_left=np.array([node["missing"] == node["yes"] for node in inner]),
                left=np.array([node["sides"][0] for node in inner], dtype=np.int32),
                right=np.array([node["sides"][1] for node in inner], dtype=np.int32),
                gain=np.ones(len(inner)),
                leaf_value=np.array([leaf["leaf"] for leaf in leaves], dtype=np.float32),
                leaf_documents=np.array([leaf["cover"] for leaf in leaves]).astype(np.int64),
            )
        )
    return TreeEnsemble.from_trees(trees, [str(k) for k in range(12)], base_score=base)


def test_path_dependent_as_xgboost():
    xgboost = pytest.importorskip("xgboost")
    X, y = training_data()
    settings = {"max_depth": 5, "base_score": 0.5, "nthread": 1, "tree_method": "hist"}
    booster = xgboost.train(settings, xgboost.DMatrix(X, y), 20)
    rows = np.ascontiguousarray(ROWS[:, :12])
    theirs = booster.predict(xgboost.DMatrix(rows), pred_contribs=True)
    model = from_xgboost(booster, 0.5)
    np.testing.assert_allclose(model._scores(rows), booster.predict(xgboost.DMatrix(rows)), atol=1e-5)
    expected, found = path_dependent(model, rows)
    np.testing.assert_allclose(found, theirs[:, :-1], atol=2e-5)
    np.testing.assert_allclose(expected + 0.5, theirs[:, -1], atol=2e-5)
