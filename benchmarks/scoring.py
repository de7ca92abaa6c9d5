"""Scoring: microseconds per document, against LightGBM and XGBoost, in one run.

The ensemble is LightGBM's own, converted, so that both score the same trees; XGBoost trains its own of the same shape.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rankforce as rf
from rankforce.models import tree_walk
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.threads import default_threads, thread_count
from rankforce.trees.tree import Tree

FEATURES = 136


def make_features(documents: int, seed: int) -> np.ndarray:
    """A third sparse counts, a third with few values, a third dense: as search features are."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((documents, FEATURES)).astype(np.float32)
    counts, few = matrix[:, : FEATURES // 3], matrix[:, FEATURES // 3 : 2 * FEATURES // 3]
    counts[:] = rng.poisson(3.0, counts.shape) * (rng.random(counts.shape) < 0.2)
    few[:] = np.round(few * 4)
    return matrix


def train_lightgbm(features: np.ndarray, target: np.ndarray, trees: int, leaves: int) -> Any:
    import lightgbm

    settings = {
        "objective": "regression",
        "num_leaves": leaves,
        "learning_rate": 0.1,
        "min_data_in_leaf": 5,
        "num_threads": default_threads(),
        "verbosity": -1,
    }
    return lightgbm.train(settings, lightgbm.Dataset(features, target), num_boost_round=trees)


def train_xgboost(features: np.ndarray, target: np.ndarray, trees: int, leaves: int) -> Any:
    import xgboost

    settings = {
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": leaves,
        "max_depth": 0,
        "learning_rate": 0.1,
        "min_child_weight": 5,
        "nthread": default_threads(),
    }
    return xgboost.train(settings, xgboost.DMatrix(features, target), num_boost_round=trees)


def convert(booster: Any) -> TreeEnsemble:
    """A LightGBM model as ours. Thresholds are rounded down to float32: float32 values then go the same way."""
    return TreeEnsemble.from_trees(
        [_convert_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]], booster.feature_name()
    )


def _convert_tree(root: dict[str, Any]) -> Tree:
    nodes: dict[int, dict[str, Any]] = {}
    leaves: dict[int, dict[str, Any]] = {}

    def collect(place: dict[str, Any]) -> int:
        if "split_index" not in place:
            number = place.get("leaf_index", 0)
            leaves[number] = place
            return ~int(number)
        nodes[place["split_index"]] = place
        place["left"], place["right"] = collect(place["left_child"]), collect(place["right_child"])
        return int(place["split_index"])

    collect(root)
    inner = [nodes[number] for number in sorted(nodes)]
    ends = [leaves[number] for number in sorted(leaves)]
    exact = np.array([node["threshold"] for node in inner], dtype=np.float64)
    rounded = exact.astype(np.float32)
    thresholds = np.where(rounded > exact, np.nextafter(rounded, np.float32("-inf")), rounded)
    return Tree(
        feature=np.array([node["split_feature"] for node in inner], dtype=np.int32),
        threshold=thresholds.astype(np.float32),
        missing_left=np.array([node["default_left"] for node in inner], dtype=bool),
        left=np.array([node["left"] for node in inner], dtype=np.int32),
        right=np.array([node["right"] for node in inner], dtype=np.int32),
        gain=np.array([node["split_gain"] for node in inner], dtype=np.float64),
        leaf_value=np.array([leaf["leaf_value"] for leaf in ends], dtype=np.float32),
        leaf_documents=np.array([leaf.get("leaf_count", 0) for leaf in ends], dtype=np.int64),
    )


def fastest(runs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Seconds of the fastest of several calls, the candidates taking turns."""
    best = dict.fromkeys(runs, np.inf)
    for turn in range(repeats + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if turn:  # the first one compiles and warms up
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def table(title: str, micros: dict[str, float]) -> None:
    print(f"  {title}")
    for name, value in micros.items():
        print(f"    {name:<28}{value:>10.2f} µs   {value / micros['rankforce']:>6.1f}x")


def benchmark(trees: int, leaves: int, documents: int, training: int) -> None:
    train, test = make_features(training, 1), make_features(documents, 2)
    rng = np.random.default_rng(3)
    target = np.tanh(train @ rng.standard_normal(FEATURES) / 8) + train[:, 100] * train[:, 101] + rng.random(training)
    lightgbm = train_lightgbm(train, target, trees, leaves)
    xgboost = train_xgboost(train, target, trees, leaves)
    model = convert(lightgbm)
    np.testing.assert_array_equal(model.leaf_indices(test[:2000]), lightgbm.predict(test[:2000], pred_leaf=True))
    print(f"\n{model.n_trees} trees, {leaves} leaves ({model.tree_leaves.mean():.0f} on average), {FEATURES} features")

    runs = {
        "rankforce": lambda: model.predict(test),
        "LightGBM": lambda: lightgbm.predict(test),
        "XGBoost": lambda: xgboost.inplace_predict(test),
    }
    table(
        f"per document, {documents:,} at once, {thread_count()} threads",
        {name: 1e6 * seconds / documents for name, seconds in fastest(runs, 5).items()},
    )
    few = test[:2000]
    roots, nodes, thresholds = model.walk
    sums = np.zeros(len(few))
    slow = fastest({"": lambda: tree_walk.add_scores(few, roots, nodes, thresholds, model.leaf_value, sums)}, 1)
    print(f"    {'rankforce, NumPy alone':<28}{1e6 * slow[''] / len(few):>10.2f} µs")
    for count in (1, 10, 100):
        part = test[:count]
        runs = {
            "rankforce": lambda part=part: model.predict(part),
            "LightGBM": lambda part=part: lightgbm.predict(part),
            "XGBoost": lambda part=part: xgboost.inplace_predict(part),
        }
        table(f"one call with {count} document{'s' * (count > 1)}", {k: 1e6 * v for k, v in fastest(runs, 200).items()})
    loading(model, lightgbm, xgboost)


def loading(model: TreeEnsemble, lightgbm: Any, xgboost: Any) -> None:
    import lightgbm as lgb
    import xgboost as xgb

    with tempfile.TemporaryDirectory() as folder:
        paths = {name: str(Path(folder) / name) for name in ("ours.json", "ours.json.gz", "theirs.txt", "theirs.json")}
        model.save(paths["ours.json"])
        model.save(paths["ours.json.gz"])
        lightgbm.save_model(paths["theirs.txt"])
        xgboost.save_model(paths["theirs.json"])
        seconds = fastest(
            {
                "rankforce": lambda: rf.load(paths["ours.json"]),
                "rankforce, .gz": lambda: rf.load(paths["ours.json.gz"]),
                "LightGBM": lambda: lgb.Booster(model_file=paths["theirs.txt"]),
                "XGBoost": lambda: xgb.Booster(model_file=paths["theirs.json"]),
            },
            3,
        )
        sizes = [os.path.getsize(path) / 1e6 for path in paths.values()]
    print("  loading")
    for (name, value), size in zip(seconds.items(), sizes, strict=True):
        print(f"    {name:<28}{1e3 * value:>10.1f} ms   {value / seconds['rankforce']:>6.1f}x   {size:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--leaves", type=int, nargs="+", default=[31, 255])
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--training-documents", type=int, default=20_000)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    for leaves in arguments.leaves:
        benchmark(arguments.trees, leaves, arguments.documents, arguments.training_documents)


if __name__ == "__main__":
    main()
