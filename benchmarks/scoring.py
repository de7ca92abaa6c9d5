"""Scoring: the same trees by rankforce, by who made them, and by what compiles or serves them, in one run.

    python benchmarks/scoring.py [--models FOLDER] [--shapes 500x31 1000x63] [--categories | --few]

LightGBM and XGBoost train; rankforce imports both files (``rf.load``) and scores each against its maker. LightGBM's
trees are also scored by tl2cgen (C compiled with gcc), by treelite's GTIL and by ONNX Runtime, each with all threads
and with its input prepared beforehand. Candidates take turns; best and median of the rounds. ``--models`` keeps what
was trained and compiled (minutes for large models), so that a quiet machine only has to score. ``--categories`` scores
trees of LightGBM of which many nodes ask for sets of categories, instead, and says how many. ``--few`` is about calls
with few documents, beside LightGBM alone: threads of XGBoost and ONNX Runtime wait busily, and who calls next in their
process waits for a processor.
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

FEATURES = 136
ROUNDS = 7
APART = 17  # every so many-th feature has categories, if any
CATEGORIES = 60


def make_features(documents: int, seed: int) -> np.ndarray:
    """A third sparse counts, a third with few values, a third dense: as search features are."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((documents, FEATURES)).astype(np.float32)
    counts, few = matrix[:, : FEATURES // 3], matrix[:, FEATURES // 3 : 2 * FEATURES // 3]
    counts[:] = rng.poisson(3.0, counts.shape) * (rng.random(counts.shape) < 0.2)
    few[:] = np.round(few * 4)
    return matrix


def training_data(documents: int) -> tuple[np.ndarray, np.ndarray]:
    features = make_features(documents, 1)
    rng = np.random.default_rng(3)
    target = np.tanh(features @ rng.standard_normal(FEATURES) / 8) + features[:, 100] * features[:, 101]
    return features, target + rng.random(documents)


def train_lightgbm(path: Path, trees: int, leaves: int, documents: int) -> None:
    import lightgbm

    settings = {"objective": "regression", "num_leaves": leaves, "learning_rate": 0.1, "min_data_in_leaf": 5}
    settings |= {"num_threads": default_threads(), "verbosity": -1}
    features, target = training_data(documents)
    lightgbm.train(settings, lightgbm.Dataset(features, target), num_boost_round=trees).save_model(path)


def train_xgboost(path: Path, trees: int, leaves: int, documents: int) -> None:
    import xgboost

    settings = {"tree_method": "hist", "grow_policy": "lossguide", "max_leaves": leaves, "max_depth": 0}
    settings |= {"learning_rate": 0.1, "min_child_weight": 5, "nthread": default_threads()}
    features, target = training_data(documents)
    xgboost.train(settings, xgboost.DMatrix(features, target), num_boost_round=trees).save_model(path)


def with_categories(features: np.ndarray) -> np.ndarray:
    """The features with codes of up to 60 categories in every column whose number is a multiple of ``APART``."""
    features = features.copy()
    rng = np.random.default_rng(len(features))
    features[:, ::APART] = rng.zipf(1.5, features[:, ::APART].shape) % CATEGORIES
    return features


def train_with_categories(path: Path, trees: int, leaves: int, documents: int) -> None:
    import lightgbm

    settings = {"objective": "regression", "num_leaves": leaves, "learning_rate": 0.1, "min_data_in_leaf": 5}
    settings |= {"num_threads": default_threads(), "verbosity": -1, "min_data_per_group": 5, "cat_smooth": 1.0}
    features, target = training_data(documents)
    features = with_categories(features)
    effects = np.random.default_rng(4).standard_normal(CATEGORIES)
    target = target + 0.1 * effects[features[:, ::APART].astype(int)].sum(axis=1)
    data = lightgbm.Dataset(features, target, categorical_feature=list(range(0, FEATURES, APART)))
    lightgbm.train(settings, data, num_boost_round=trees).save_model(path)


def benchmark_categories(folder: Path, trees: int, leaves: int, documents: int, training: int) -> None:
    """Trees that ask for sets of categories, by LightGBM and by rankforce."""
    import lightgbm

    path = folder / f"{trees}x{leaves}-categories.txt"
    if not path.exists():
        train_with_categories(path, trees, leaves, training)
    model, booster = rf.load(path), lightgbm.Booster(model_file=path)
    assert isinstance(model, TreeEnsemble)
    test = with_categories(make_features(documents, 2))
    np.testing.assert_array_equal(model.predict(test[:2000]), booster.predict(test[:2000]))
    asking = 100.0 * np.mean(model.subset >= 0)
    print(f"\n{trees} trees of {leaves} leaves, {asking:.0f} % of the nodes ask for sets, {thread_count()} threads")
    runs = {"rankforce": lambda: model.predict(test), "LightGBM": lambda: booster.predict(test)}
    show(f"per document, {documents:,} at once", in_turns(runs, ROUNDS), documents)
    for count in (1, 10, 100):
        part = test[:count]
        few = {"rankforce": lambda part=part: model.predict(part), "LightGBM": lambda part=part: booster.predict(part)}
        show(f"one call with {count} document{'s' * (count > 1)}", in_turns(few, 100))


def benchmark_few(folder: Path, trees: int, leaves: int, documents: int, training: int) -> None:
    """Calls with few documents, of trees that have learned a signal and of trees that have learned noise."""
    import lightgbm

    noise = folder / f"{trees}x{leaves}-noise.txt"
    if not noise.exists():
        features = make_features(training, 1)
        settings = {"objective": "regression", "num_leaves": leaves, "learning_rate": 0.1, "min_data_in_leaf": 5}
        settings |= {"num_threads": default_threads(), "verbosity": -1}
        target = np.random.default_rng(5).random(training)
        lightgbm.train(settings, lightgbm.Dataset(features, target), num_boost_round=trees).save_model(noise)
    signal = folder / f"{trees}x{leaves}-lightgbm.txt"
    if not signal.exists():
        train_lightgbm(signal, trees, leaves, training)
    test = make_features(documents, 2)
    for what, path in (("a signal", signal), ("noise", noise)):
        model, booster = rf.load(path), lightgbm.Booster(model_file=path)
        np.testing.assert_array_equal(model.predict(test[:2000]), booster.predict(test[:2000]))
        print(f"\n{trees} trees of {leaves} leaves that learned {what}, {FEATURES} features, {thread_count()} threads")
        for count in (1, 10, 100):
            score_few(count, test, model, booster, None)


def compile_with_gcc(path: Path, lightgbm_file: Path) -> None:
    import tl2cgen
    import treelite

    model = treelite.frontend.load_lightgbm_model(str(lightgbm_file))
    tl2cgen.export_lib(
        model, toolchain="gcc", libpath=str(path), params={"parallel_comp": 32}, nthread=default_threads()
    )


def write_onnx(path: Path, model: TreeEnsemble) -> None:
    """LightGBM's trees, as rankforce read them, as a TreeEnsembleRegressor in float32."""
    import onnx
    from onnx import TensorProto, helper

    columns: dict[str, list[Any]] = {
        name: [] for name in ("tree", "node", "feature", "mode", "cut", "yes", "no", "nan")
    }
    targets: dict[str, list[Any]] = {"tree": [], "node": [], "weight": []}
    for number, tree in enumerate(model.trees):
        inner = tree.n_nodes
        for node in range(inner + tree.n_leaves):
            leaf = node - inner
            sides = (0, 0) if leaf >= 0 else (int(tree.left[node]), int(tree.right[node]))
            yes, no = (child if child >= 0 else inner + ~child for child in sides)
            row = (number, node, 0, "LEAF", 0.0, 0, 0, 0)
            if leaf < 0:
                cut = float(tree.threshold[node])
                row = (number, node, int(tree.feature[node]), "BRANCH_LEQ", cut, yes, no, int(tree.missing_left[node]))
            else:
                for name, value in zip(targets, (number, node, float(tree.leaf_value[leaf])), strict=True):
                    targets[name].append(value)
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
    ensemble = helper.make_node(
        "TreeEnsembleRegressor", ["X"], ["scores"], domain="ai.onnx.ml", n_targets=1,
        nodes_treeids=columns["tree"], nodes_nodeids=columns["node"], nodes_featureids=columns["feature"],
        nodes_modes=columns["mode"], nodes_values=columns["cut"], nodes_truenodeids=columns["yes"],
        nodes_falsenodeids=columns["no"], nodes_missing_value_tracks_true=columns["nan"],
        target_treeids=targets["tree"], target_nodeids=targets["node"], target_weights=targets["weight"],
        target_ids=[0] * len(targets["tree"]),
    )  # fmt: skip
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [None, w]) for n, w in (("X", FEATURES), ("scores", 1))]
    graph = helper.make_graph([ensemble], "trees", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def prepare(folder: Path, trees: int, leaves: int, documents: int) -> dict[str, Path]:
    """The files of a shape, made where they are not there yet."""
    kinds = {"LightGBM": "lightgbm.txt", "XGBoost": "xgboost.json", "tl2cgen": "tl2cgen.so", "ONNX": "model.onnx"}
    paths = {kind: folder / f"{trees}x{leaves}-{name}" for kind, name in kinds.items()}
    makers: dict[str, Callable[[Path], None]] = {
        "LightGBM": lambda path: train_lightgbm(path, trees, leaves, documents),
        "XGBoost": lambda path: train_xgboost(path, trees, leaves, documents),
        "tl2cgen": lambda path: compile_with_gcc(path, paths["LightGBM"]),
        "ONNX": lambda path: write_onnx(path, rf.load(paths["LightGBM"])),  # type: ignore[arg-type]
    }
    for kind, path in paths.items():
        if not path.exists():
            try:
                makers[kind](path)
            except ImportError as error:
                print(f"{kind} is left out: {error} (pip install '.[bench]')")
    return paths


def in_turns(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, float]]:
    """Seconds of several calls, best and median, the candidates taking turns."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if turn:  # the first one compiles and warms up
                seconds[name].append(time.perf_counter() - start)
    return {name: (min(values), float(np.median(values))) for name, values in seconds.items()}


def show(title: str, seconds: dict[str, tuple[float, float]], per: int = 1) -> None:
    """A table of microseconds; ratios are to the line of rankforce on the same trees."""
    print(f"  {title:<46}{'best':>10}{'median':>12}{'best / ours':>14}")
    ours = {name: value for name, value in seconds.items() if name.startswith("rankforce")}
    for name, (best, median) in seconds.items():
        twin = "rankforce, XGBoost's trees" if name.startswith("XGBoost") else "rankforce"
        against = ours.get(twin, next(iter(ours.values())))[0]
        print(f"    {name:<44}{1e6 * best / per:>8.2f} µs{1e6 * median / per:>9.2f} µs{best / against:>13.1f}x")


def peers_of(paths: dict[str, Path], matrix: np.ndarray) -> dict[str, Callable[[], Any]]:
    """What else scores LightGBM's trees, on this matrix, as far as it is installed."""
    threads = default_threads()
    runs: dict[str, Callable[[], Any]] = {}
    if paths["tl2cgen"].exists():
        import tl2cgen
        import treelite

        predictor = tl2cgen.Predictor(str(paths["tl2cgen"]), nthread=threads)
        wrapped = tl2cgen.DMatrix(matrix)
        runs["tl2cgen, gcc"] = lambda: predictor.predict(wrapped)
        loaded = treelite.frontend.load_lightgbm_model(str(paths["LightGBM"]))
        doubles = matrix.astype(np.float64)  # as its thresholds are
        runs["treelite GTIL"] = lambda: treelite.gtil.predict(loaded, doubles, nthread=threads)
    if paths["ONNX"].exists():
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(str(paths["ONNX"]), options, providers=["CPUExecutionProvider"])
        runs["ONNX Runtime"] = lambda: session.run(None, {"X": matrix})
    return runs


def check_peers(runs: dict[str, Callable[[], Any]], expected: np.ndarray) -> None:
    """All candidates compute the same scores, or their times mean nothing."""
    for name, run in runs.items():
        scores = np.asarray(run(), dtype=np.float64).reshape(-1)
        np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3, err_msg=name)


def benchmark(folder: Path, trees: int, leaves: int, documents: int, training: int) -> None:
    import lightgbm
    import xgboost

    paths = prepare(folder, trees, leaves, training)
    model, other = rf.load(paths["LightGBM"]), rf.load(paths["XGBoost"])
    assert isinstance(model, TreeEnsemble)
    booster = lightgbm.Booster(model_file=paths["LightGBM"])
    xgb = xgboost.Booster(model_file=paths["XGBoost"])
    test = make_features(documents, 2)
    np.testing.assert_array_equal(model.predict(test[:2000]), booster.predict(test[:2000]))
    np.testing.assert_allclose(other.predict(test[:2000]), xgb.inplace_predict(test[:2000]), rtol=1e-3, atol=1e-3)
    print(f"\n{trees} trees of {leaves} leaves, {FEATURES} features, {thread_count()} threads")

    few = peers_of(paths, test[:2000])
    check_peers(few, model.predict(test[:2000]))
    runs: dict[str, Callable[[], Any]] = {
        "rankforce": lambda: model.predict(test),
        "LightGBM": lambda: booster.predict(test),
        **peers_of(paths, test),
        "rankforce, XGBoost's trees": lambda: other.predict(test),
        "XGBoost": lambda: xgb.inplace_predict(test),
    }
    show(f"per document, {documents:,} at once", in_turns(runs, ROUNDS), documents)
    for count in (1, 10, 100):
        score_few(count, test, model, booster, xgb)
    part = test[:1000]
    sums = np.zeros(len(part))
    slow = in_turns({"": lambda: tree_walk.add_scores(part, *model.walk, model.leaf_value, sums)}, 1)
    print(f"  with NumPy alone, {1e6 * slow[''][0] / len(part):.0f} µs per document")
    loading(folder, model, paths)


def score_few(count: int, test: np.ndarray, model: Any, booster: Any, xgb: Any) -> None:
    """Calls with few documents, other ones each time: nobody asks for the same document twice."""
    turn = {"": 0}

    def part() -> np.ndarray:
        turn[""] = (turn[""] + 1) % (len(test) // count)
        return test[turn[""] * count : (turn[""] + 1) * count]

    runs: dict[str, Callable[[], Any]] = {
        "rankforce": lambda: model.predict(part()),
        "LightGBM": lambda: booster.predict(part()),
        "LightGBM, num_threads=1": lambda: booster.predict(part(), num_threads=1),
    }
    if xgb is not None:
        runs["XGBoost, in place"] = lambda: xgb.inplace_predict(part())
    show(f"one call with {count} document{'s' * (count > 1)}", in_turns(runs, 300))


def loading(folder: Path, model: TreeEnsemble, paths: dict[str, Path]) -> None:
    """Reading a model file: ours, and theirs by themselves and by rankforce."""
    import lightgbm as lgb
    import xgboost as xgb

    with tempfile.TemporaryDirectory() as scratch:
        ours = Path(scratch) / "ours.json"
        model.save(ours)
        runs: dict[str, tuple[Path, Callable[[], Any]]] = {
            "rankforce": (ours, lambda: rf.load(ours)),
            "LightGBM": (paths["LightGBM"], lambda: lgb.Booster(model_file=paths["LightGBM"])),
            "XGBoost": (paths["XGBoost"], lambda: xgb.Booster(model_file=paths["XGBoost"])),
            "rankforce, LightGBM's file": (paths["LightGBM"], lambda: rf.load(paths["LightGBM"])),
        }
        seconds = in_turns({name: run for name, (_, run) in runs.items()}, ROUNDS)
        sizes = {name: os.path.getsize(path) / 1e6 for name, (path, _) in runs.items()}
    print("  loading")
    for name, (best, median) in seconds.items():
        ratio = best / seconds["rankforce"][0]
        print(f"    {name:<44}{1e3 * best:>8.1f} ms{1e3 * median:>9.1f} ms{ratio:>13.1f}x   {sizes[name]:.1f} MB")


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown processor"
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown processor"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shapes", nargs="+", default=["500x31", "1000x63"], help="trees x leaves")
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--training-documents", type=int, default=8_000)
    parser.add_argument("--models", type=Path, help="folder where trained and compiled models are kept")
    parser.add_argument("--categories", action="store_true", help="score trees that ask for sets of categories")
    parser.add_argument("--few", action="store_true", help="calls with few documents, beside LightGBM alone")
    parser.add_argument("--prepare", action="store_true", help="make the models, and do not score")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    print(processor())
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.models or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for shape in arguments.shapes:
            trees, leaves = (int(part) for part in shape.split("x"))
            if arguments.categories:
                benchmark_categories(folder, trees, leaves, arguments.documents, arguments.training_documents)
            elif arguments.few:
                benchmark_few(folder, trees, leaves, arguments.documents, arguments.training_documents)
            elif arguments.prepare:
                prepare(folder, trees, leaves, arguments.training_documents)
            else:
                benchmark(folder, trees, leaves, arguments.documents, arguments.training_documents)


if __name__ == "__main__":
    main()
