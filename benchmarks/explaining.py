"""Contributions of features: microseconds per document, against LightGBM, XGBoost and shap, in one run.

The ensemble is LightGBM's own, converted, so that rankforce, LightGBM and shap explain the same trees; XGBoost trains
its own of the same shape. All use all threads but shap, which has one.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from rankforce.explaining.tree_contributions import against_references, path_dependent
from rankforce.threads import thread_count
from scoring import FEATURES, convert, make_features, train_lightgbm, train_xgboost


def processor() -> str:
    """What this machine calls its processor."""
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def taking_turns(runs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Seconds of every call, the candidates taking turns; the first turn compiles and warms up."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(repeats + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def show(title: str, seconds: dict[str, list[float]], documents: dict[str, int]) -> None:
    print(f"  {title:<44}{'best':>12}{'median':>12}")
    micros = {name: [1e6 * one / documents[name] for one in times] for name, times in seconds.items()}
    own = micros["rankforce"]
    for name, values in micros.items():
        ratio = f"{min(values) / min(own):>8.1f}x{median(values) / median(own):>8.1f}x"
        print(f"    {name:<42}{min(values):>9.1f} µs{median(values):>9.1f} µs {ratio}")


def benchmark(trees: int, leaves: int, documents: int, few: int, repeats: int) -> None:
    train, test = make_features(20_000, 1), make_features(documents, 2)
    rng = np.random.default_rng(3)
    target = np.tanh(train @ rng.standard_normal(FEATURES) / 8) + train[:, 100] * train[:, 101] + rng.random(len(train))
    lightgbm = train_lightgbm(train, target, trees, leaves)
    xgboost_model = train_xgboost(train, target, trees, leaves)
    model = convert(lightgbm)
    import shap
    import xgboost

    expected, found = path_dependent(model, test)
    theirs = lightgbm.predict(test[:few], pred_contrib=True)
    print(f"\n{model.n_trees} trees of {leaves} leaves, {FEATURES} features, {thread_count()} threads of {processor()}")
    rounding = np.abs(found.sum(axis=1) + expected - model.predict(test)).max()
    print(f"  largest difference from LightGBM (float64 leaves): {np.abs(found[:few] - theirs[:, :-1]).max():.0e}")
    print(f"  contributions add up to the scores within {rounding:.0e}")
    explainer = shap.TreeExplainer(lightgbm)
    part, matrix = test[:few], xgboost.DMatrix(test[:few])
    runs = {
        "rankforce": lambda: path_dependent(model, test),
        "LightGBM, pred_contrib": lambda: lightgbm.predict(part, pred_contrib=True),
        "XGBoost, pred_contribs": lambda: xgboost_model.predict(matrix, pred_contribs=True),
        "shap.TreeExplainer": lambda: explainer.shap_values(part[: few // 4], check_additivity=False),
    }
    sizes = {"rankforce": documents, "shap.TreeExplainer": few // 4}
    counts = {name: sizes.get(name, few) for name in runs}
    show(f"per document, path-dependent ({documents:,} and {few:,})", taking_turns(runs, repeats), counts)
    references = np.ascontiguousarray(train[:100])
    against = shap.TreeExplainer(lightgbm, references.astype(float), feature_perturbation="interventional")
    runs = {
        "rankforce": lambda: against_references(model, part[:40], references),
        "shap.TreeExplainer": lambda: against.shap_values(part[:4].astype(float), check_additivity=False),
    }
    show(
        "per document, against 100 references", taking_turns(runs, repeats), {"rankforce": 40, "shap.TreeExplainer": 4}
    )
    start = time.perf_counter()
    path_dependent(model, test[:1])
    print(f"  one document, with all preparation: {1e3 * (time.perf_counter() - start):.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--leaves", type=int, nargs="+", default=[31])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--few", type=int, default=1_000, help="documents for the peers")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    for leaves in arguments.leaves:
        benchmark(arguments.trees, leaves, arguments.documents, arguments.few, arguments.repeats)


if __name__ == "__main__":
    main()
