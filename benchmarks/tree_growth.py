"""Growing one tree: rankforce's tree engine against LightGBM and XGBoost, on the same matrix with the same settings.

    python benchmarks/tree_growth.py [documents] [leaves ...]

The peers fit least-squares regression, whose forces cost next to nothing; rankforce grows on the residuals of the
same target. Peers take turns of some trees; every figure is the best or the median time of one tree: quantising,
growing, leaf values and new scores included.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from _machine import described, in_turns
from rankforce.binning.binned import Binned
from rankforce.data.dataset import Dataset
from rankforce.threads import thread_count
from rankforce.trees.grower import Grower
from rankforce.trees.leaves import leaf_sums

FEATURES = 136
MIN_DOCUMENTS = 20
RATE = 0.1
ROUNDS = 6
TURN = 3  # trees before the next one's turn
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


def rankforce_step(binned: Binned, y: np.ndarray, leaves: int, split: str) -> Callable[[], None]:
    grower = Grower(binned, n_leaves=leaves, min_documents=MIN_DOCUMENTS, split=split)
    scores = np.zeros(len(y))
    curvatures = 0.5 + 0.5 * np.abs(np.sin(y))

    numbers = itertools.count()

    def step() -> None:
        forces = y - scores
        grown = grower.grow(forces, curvatures, tree_number=next(numbers))
        pull, weight = leaf_sums(grown.leaf_of, grown.structure.n_leaves, forces, curvatures)
        scores[:] += (RATE * pull / weight)[grown.leaf_of]

    return step


def lightgbm_step(X: np.ndarray, y: np.ndarray, leaves: int, **options: object) -> Callable[[], object]:
    import lightgbm

    settings = {
        "objective": "regression", "num_leaves": leaves, "max_bin": 255, "min_data_in_leaf": MIN_DOCUMENTS,
        "min_sum_hessian_in_leaf": 0.0, "learning_rate": RATE, "verbosity": -1, "num_threads": thread_count(),
        **options,
    }  # fmt: skip
    booster = lightgbm.Booster(settings, lightgbm.Dataset(X, y, params={"max_bin": 255, "verbosity": -1, **options}))
    return booster.update


def xgboost_step(X: np.ndarray, y: np.ndarray, leaves: int) -> Callable[[], object]:
    import xgboost

    data = xgboost.QuantileDMatrix(X, y, max_bin=255)
    settings = {
        "objective": "reg:squarederror", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": leaves,
        "max_depth": 0, "max_bin": 255, "min_child_weight": MIN_DOCUMENTS, "eta": RATE, "lambda": 0.0,
        "nthread": thread_count(),
    }  # fmt: skip
    booster = xgboost.Booster(settings, [data])
    numbers = itertools.count()
    return lambda: booster.update(data, next(numbers))


def main() -> None:
    documents = int(sys.argv[1]) if len(sys.argv) > 1 else 480_000
    all_leaves = [int(leaves) for leaves in sys.argv[2:]] or [31, 255]
    X, y = matrix(documents)
    data = Dataset(X, y, qid=np.arange(documents) // PER_QUERY)
    Binned.of(data.take_queries(np.arange(20)))  # compile
    start = time.perf_counter()
    binned = Binned.of(data)
    print(f"{described()}\n{documents:,} documents × {FEATURES} features, {thread_count()} threads")
    print(f"binning: {time.perf_counter() - start:.2f} s")
    for leaves in all_leaves:
        steps = {
            "rankforce, Newton gain": rankforce_step(binned, y, leaves, "newton"),
            "rankforce, least squares": rankforce_step(binned, y, leaves, "least_squares"),
            "LightGBM, row-wise": lightgbm_step(X, y, leaves, force_row_wise=True),
            "LightGBM, column-wise": lightgbm_step(X, y, leaves, force_col_wise=True),
            "LightGBM, quantised": lightgbm_step(X, y, leaves, use_quantized_grad=True),
            "XGBoost, hist": xgboost_step(X, y, leaves),
        }
        turns = {name: lambda step=step: [step() for _ in range(TURN)] for name, step in steps.items()}
        times = {name: [taken / TURN for taken in all_taken] for name, all_taken in in_turns(turns, ROUNDS).items()}
        slower = max(statistics.median(times[name]) for name in times if "rankforce" in name)
        print(f"\n{leaves} leaves{'':<20}  ms per tree: best, median   × rankforce (the slower of its two)")
        for name, taken in times.items():
            median = statistics.median(taken)
            print(f"{name:<30}  {1000 * min(taken):11.1f}{1000 * median:9.1f}   {median / slower:.2f}")


if __name__ == "__main__":
    main()
