"""Growing one tree: rankforce's tree engine against LightGBM and XGBoost, on the same matrix with the same settings.

    python benchmarks/tree_growth.py [documents] [leaves ...]

The peers fit least-squares regression, whose forces cost next to nothing; rankforce grows on the residuals of the
same target. Every figure is the median time of one tree: quantising, growing, leaf values and new scores included.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from rankforce.binning.binned import Binned
from rankforce.data.dataset import Dataset
from rankforce.threads import thread_count
from rankforce.trees.grower import Grower
from rankforce.trees.leaves import leaf_sums

FEATURES = 136
MIN_DOCUMENTS = 20
RATE = 0.1
TREES = 12
PER_QUERY = 120


def matrix(documents: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Sparse counts, few-valued and dense features in equal parts, and a target that depends on some of each."""
    rng = np.random.default_rng(seed)
    X = np.empty((documents, FEATURES), dtype=np.float32)
    for f in range(FEATURES):
        if f % 3 == 0:
            X[:, f] = rng.normal(size=documents)
        elif f % 3 == 1:
            X[:, f] = np.where(rng.random(documents) < 0.7, 0, np.exp(2 * rng.normal(size=documents)).astype(int))
        else:
            X[:, f] = np.minimum(rng.geometric(0.3, documents), 12)
    y = X[:, 0] + 0.05 * X[:, 1] + np.sin(3 * X[:, 3]) + X[:, 6] * X[:, 9] + 0.2 * X[:, 2] * X[:, 12]
    return X, (y + rng.normal(size=documents)).astype(np.float64)


def median_of_trees(step: Callable[[int], object]) -> float:
    times = []
    for number in range(TREES):
        start = time.perf_counter()
        step(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])


def rankforce_seconds(binned: Binned, y: np.ndarray, leaves: int, split: str) -> float:
    grower = Grower(binned, n_leaves=leaves, min_documents=MIN_DOCUMENTS, split=split)
    scores = np.zeros(len(y))
    curvatures = 0.5 + 0.5 * np.abs(np.sin(y))

    def step(number: int) -> None:
        forces = y - scores
        grown = grower.grow(forces, curvatures, tree_number=number)
        pull, weight = leaf_sums(grown.leaf_of, grown.structure.n_leaves, forces, curvatures)
        scores[:] += (RATE * pull / weight)[grown.leaf_of]

    return median_of_trees(step)


def lightgbm_seconds(X: np.ndarray, y: np.ndarray, leaves: int, **options: object) -> float:
    import lightgbm

    settings = {
        "objective": "regression", "num_leaves": leaves, "max_bin": 255, "min_data_in_leaf": MIN_DOCUMENTS,
        "min_sum_hessian_in_leaf": 0.0, "learning_rate": RATE, "verbosity": -1, "num_threads": thread_count(),
        **options,
    }  # fmt: skip
    booster = lightgbm.Booster(settings, lightgbm.Dataset(X, y, params={"max_bin": 255, "verbosity": -1, **options}))
    return median_of_trees(lambda number: booster.update())


def xgboost_seconds(X: np.ndarray, y: np.ndarray, leaves: int) -> float:
    import xgboost

    data = xgboost.QuantileDMatrix(X, y, max_bin=255)
    settings = {
        "objective": "reg:squarederror", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": leaves,
        "max_depth": 0, "max_bin": 255, "min_child_weight": MIN_DOCUMENTS, "eta": RATE, "lambda": 0.0,
        "nthread": thread_count(),
    }  # fmt: skip
    booster = xgboost.Booster(settings, [data])
    return median_of_trees(lambda number: booster.update(data, number))


def main() -> None:
    documents = int(sys.argv[1]) if len(sys.argv) > 1 else 480_000
    all_leaves = [int(leaves) for leaves in sys.argv[2:]] or [31, 255]
    X, y = matrix(documents)
    data = Dataset(X, y, qid=np.arange(documents) // PER_QUERY)
    Binned.of(data.take_queries(np.arange(20)))  # compile
    start = time.perf_counter()
    binned = Binned.of(data)
    print(f"{documents:,} documents × {FEATURES} features, {thread_count()} threads")
    print(f"binning: {time.perf_counter() - start:.2f} s")
    for leaves in all_leaves:
        ours = {
            "rankforce, Newton gain": rankforce_seconds(binned, y, leaves, "newton"),
            "rankforce, least squares": rankforce_seconds(binned, y, leaves, "least_squares"),
        }
        peers = {
            "LightGBM, row-wise": lightgbm_seconds(X, y, leaves, force_row_wise=True),
            "LightGBM, column-wise": lightgbm_seconds(X, y, leaves, force_col_wise=True),
            "LightGBM, quantised": lightgbm_seconds(X, y, leaves, use_quantized_grad=True),
            "XGBoost, hist": xgboost_seconds(X, y, leaves),
        }
        slower = max(ours.values())
        print(f"\n{leaves} leaves{'':<20}  ms per tree   × rankforce (the slower of its two)")
        for name, seconds in (ours | peers).items():
            print(f"{name:<30}  {1000 * seconds:11.1f}   {seconds / slower:.2f}")


if __name__ == "__main__":
    main()
