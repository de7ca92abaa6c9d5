"""Held-out quality of LambdaMART against LightGBM, XGBoost and CatBoost with the same budget of trees and leaves.

    python benchmarks/quality.py                        # defaults, all data sets that are there
    python benchmarks/quality.py --trials 10            # every system tuned by the same number of random trials
    python benchmarks/quality.py --data cubic --seeds 3

Real data is looked for in the folder that RANKFORCE_DATA names (MQ2008 with its five folds, a sample of MSLR and
LightGBM's example folded by query); artificial data needs nothing. Every query of every fold is tested once, and
differences over all of them (paired t). Queries without a relevant document are left out; equal scores: row order.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.datasets import load_svmlight_file

import rankforce as rf

REAL = ("MQ2008", "MSLR sample", "LightGBM's example")
MEASURES = ["NDCG@10", "NDCG@3", "MAP"]
TREES, LEAVES, RATE, LEAST = 100, 31, 0.1, 20
Fold = tuple[rf.Dataset, rf.Dataset]
Train = Callable[..., Callable[[rf.Dataset], np.ndarray]]


def data_folder() -> Path:
    return Path(os.environ.get("RANKFORCE_DATA", "data"))


def draws(
    make: Callable[..., rf.Dataset], queries: int, documents: int, features: int, seed: int, **more: float
) -> list[Fold]:
    """Three draws of training queries, each with 500 test queries."""
    return [
        (
            make(queries, documents, features, seed=seed + k, **more),
            make(500, documents, features, seed=seed + 100 + k, **more),
        )
        for k in (1, 2, 3)
    ]


def read_lightgbm_example(folder: Path) -> rf.Dataset:
    """Training and test queries in one; the files have no query ids, their group sizes stand beside them."""
    parts = [load_svmlight_file(str(folder / f"rank.{part}"), n_features=301) for part in ("train", "test")]
    sizes = [np.loadtxt(folder / f"rank.{part}.query", dtype=int) for part in ("train", "test")]
    features = np.vstack([rows.toarray() for rows, _ in parts])
    return rf.Dataset(features, np.concatenate([labels for _, labels in parts]), group=np.concatenate(sizes))


def data_sets(wanted: str | None) -> Iterator[tuple[str, list[Fold]]]:
    makers: dict[str, Callable[[], list[Fold]]] = {
        "MQ2008": lambda: [
            (rf.read(folder / "train.txt"), rf.read(folder / "test.txt"))
            for folder in sorted((data_folder() / "mq2008").glob("Fold*"))
        ],
        "MSLR sample": lambda: list(rf.read(data_folder() / "mslr-sample" / "all.txt").folds(5, seed=0)),
        "web-like": lambda: [(rf.make_web_like(300, 120, 136, seed=1), rf.make_web_like(400, 120, 136, seed=2))],
        "cubic": lambda: [(rf.make_artificial(400, 50, 50, seed=1), rf.make_artificial(600, 50, 50, seed=2))],
        "cubic, noisy": lambda: [
            (rf.make_artificial(400, 50, 20, seed=1, noise=0.7), rf.make_artificial(600, 50, 20, seed=2, noise=0.7))
        ],
        "LightGBM's example": lambda: [
            fold
            for seed in (0, 1)
            for fold in read_lightgbm_example(data_folder() / "lightgbm-example").folds(5, seed=seed)
        ],
        "few: web-like": lambda: draws(rf.make_web_like, 80, 60, 136, 500),
        "few: web-like, short": lambda: draws(rf.make_web_like, 200, 25, 46, 510),
        "few: noisy": lambda: draws(rf.make_artificial, 80, 40, 30, 520, noise=1.0),
        "few: very noisy": lambda: draws(rf.make_artificial, 200, 20, 10, 530, noise=2.0),
        "few: cubic": lambda: draws(rf.make_artificial, 120, 30, 30, 540),
    }
    for name, make in makers.items():
        if wanted is not None and wanted.lower() not in name.lower():
            continue
        if name in REAL and not data_folder().is_dir():
            print(f"{name}: skipped, there is no {data_folder()} (set RANKFORCE_DATA)")
            continue
        yield name, make()


def rankforce(**chosen: object) -> Train:
    def train(data: rf.Dataset, seed: int, **tuned: object) -> Callable[[rf.Dataset], np.ndarray]:
        settings = {"n_trees": TREES, "n_leaves": LEAVES, "learning_rate": RATE, "min_documents": LEAST}
        ranker = rf.LambdaMART(seed=seed, progress=False, **(settings | chosen | tuned)).fit(data)
        return ranker.predict

    return train


def expected_grade(data: rf.Dataset, seed: int, **tuned: object) -> Callable[[rf.Dataset], np.ndarray]:
    settings = {"n_trees": TREES, "n_leaves": LEAVES, "learning_rate": RATE, "min_documents": LEAST}
    return rf.MART("multiclass", seed=seed, progress=False, **(settings | tuned)).fit(data).predict


def lightgbm(data: rf.Dataset, seed: int, **tuned: object) -> Callable[[rf.Dataset], np.ndarray]:
    import lightgbm

    names = {"n_leaves": "num_leaves", "min_documents": "min_data_in_leaf", "l2": "lambda_l2"}
    settings = {
        "objective": "lambdarank", "num_leaves": LEAVES, "learning_rate": RATE, "min_data_in_leaf": LEAST,
        "verbose": -1, "seed": seed, **{names.get(name, name): value for name, value in tuned.items()},
    }  # fmt: skip
    trees = int(settings.pop("n_trees", TREES))
    made = lightgbm.Dataset(data.features, data.labels["grades"], group=data.query_sizes, params={"verbose": -1})
    model = lightgbm.train(settings, made, trees)
    return lambda test: model.predict(test.features)


def xgboost(data: rf.Dataset, seed: int, **tuned: object) -> Callable[[rf.Dataset], np.ndarray]:
    import xgboost

    names = {"n_leaves": "max_leaves", "l2": "lambda", "learning_rate": "eta"}
    tuned = {name: value for name, value in tuned.items() if name != "min_documents"}  # it has no such limit
    settings = {
        "objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": LEAVES,
        "max_depth": 0, "eta": RATE, "seed": seed, **{names.get(name, name): value for name, value in tuned.items()},
    }  # fmt: skip
    trees = int(settings.pop("n_trees", TREES))
    model = xgboost.train(settings, xgboost.DMatrix(data.features, data.labels["grades"], qid=data.row_queries), trees)
    return lambda test: model.predict(xgboost.DMatrix(test.features))


def catboost(loss: str) -> Train:
    def train(data: rf.Dataset, seed: int, **tuned: object) -> Callable[[rf.Dataset], np.ndarray]:
        from catboost import CatBoostRanker

        leaves = int(tuned.get("n_leaves", LEAVES))
        settings = {
            "iterations": int(tuned.get("n_trees", TREES)), "learning_rate": tuned.get("learning_rate", RATE),
            "depth": max(2, round(np.log2(leaves + 1))), "l2_leaf_reg": tuned.get("l2", 3.0),
        }  # fmt: skip
        model = CatBoostRanker(
            loss_function=loss, random_seed=seed, verbose=False, allow_writing_files=False, **settings
        )
        model.fit(data.features, data.labels["grades"], group_id=data.row_queries)
        return lambda test: model.predict(test.features)

    return train


SYSTEMS: dict[str, Train] = {
    "rankforce": rankforce(),
    "rankforce, as in 2010": rankforce(preset="2010"),
    "rankforce, as in 2011": rankforce(preset="2011"),
    "rankforce, gradient step": rankforce(step="gradient"),
    "MART, expected grade": expected_grade,
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "CatBoost YetiRank": catboost("YetiRank"),
    "CatBoost QueryRMSE": catboost("QueryRMSE"),
}


def random_settings(trial: int) -> dict[str, object]:
    """The same trials for every system."""
    random = np.random.default_rng(1000 + trial)
    return {
        "n_trees": int(random.integers(50, 301)),
        "n_leaves": int(random.choice([7, 15, 31, 63])),
        "learning_rate": float(np.exp(random.uniform(np.log(0.03), np.log(0.2)))),
        "min_documents": int(random.choice([5, 10, 20, 50, 100])),
        "l2": float(random.choice([0.0, 0.1, 1.0, 10.0])),
    }


def tuned_settings(train: Train, data: rf.Dataset, trials: int) -> dict[str, object]:
    """The best of some random settings on a fifth of the training queries."""
    part, held_out = data.split(0.8, 0.2, seed=7)
    best: tuple[float, dict[str, object]] = (-1.0, {})
    for trial in range(trials):
        settings = random_settings(trial)
        value = rf.evaluate(_scores(train(part, 0, **settings), held_out), held_out, "NDCG@10").mean["NDCG@10"]
        best = max(best, (value, settings), key=lambda pair: pair[0])
    return best[1]


def _scores(predict: Callable[[rf.Dataset], np.ndarray], data: rf.Dataset) -> np.ndarray:
    return np.asarray(predict(data), dtype=float)


def values_of(train: Train, folds: list[Fold], seeds: int, trials: int) -> dict[str, np.ndarray]:
    """Per-query values over all folds, the mean over seeds."""
    collected: dict[str, list[np.ndarray]] = {measure: [] for measure in MEASURES}
    for data, test in folds:
        settings = tuned_settings(train, data, trials) if trials else {}
        by_seed = [rf.evaluate(_scores(train(data, seed, **settings), test), test, MEASURES) for seed in range(seeds)]
        for measure in MEASURES:
            collected[measure].append(np.mean([result.per_query[measure] for result in by_seed], axis=0))
    return {measure: np.concatenate(parts) for measure, parts in collected.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="only data sets whose name contains this")
    parser.add_argument("--systems", nargs="*", default=list(SYSTEMS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--trials", type=int, default=0, help="random trials of tuning for every system")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    how = f"tuned by {given.trials} trials" if given.trials else f"{TREES} trees of {LEAVES} leaves, rate {RATE}"
    print(f"{how}; {given.seeds} seed(s); t: paired over queries, rankforce minus the other, * at 95 %")
    for name, folds in data_sets(given.data):
        queries = sum(test.n_queries for _, test in folds)
        print(f"\n{name}: {len(folds)} fold(s), {queries} test queries\n{'':<26}"
              + "".join(f"{measure:>22}" for measure in MEASURES) + "  seconds")  # fmt: skip
        ours: dict[str, np.ndarray] | None = None
        for system in given.systems:
            begin = time.perf_counter()
            values = values_of(SYSTEMS[system], folds, given.seeds, given.trials)
            seconds = time.perf_counter() - begin
            if ours is None:
                ours = values
            cells = []
            for measure in MEASURES:
                cell = f"{np.nanmean(values[measure]):.4f}"
                difference = (ours[measure] - values[measure])[~np.isnan(values[measure])]
                if difference.any():
                    t, p = stats.ttest_1samp(difference, 0.0)
                    cell += f" (t {t:+.1f}{'*' if p < 0.05 else ' '})"
                cells.append(f"{cell:>22}")
            print(f"{system:<26}{''.join(cells)}{seconds:>9.1f}", flush=True)


if __name__ == "__main__":
    main()
