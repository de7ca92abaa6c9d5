"""Learning from clicks with and without their bias: NDCG@10 on the true grades, which no training has seen.

    python benchmarks/unbiased.py                       # artificial data, six kinds of users, two seeds
    python benchmarks/unbiased.py --quick               # one kind of users, one seed
    python benchmarks/unbiased.py --data mslr           # a sample of MSLR, or mq2008, where RANKFORCE_DATA has them

A production ranker learns from the grades of 1 % of the queries (at least 10). Users see its first ten documents; in a
fifth of the sessions two of them are exchanged. Then all rankers learn from the same clicks with the same budget of
trees and leaves, and are tested on queries of which nobody has seen anything. Differences are over all test queries of
all seeds (paired t), to the same ranker on clicks as they are.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import stats

import rankforce as rf

TREES, LEAVES, RATE, LEAST = 60, 16, 0.15, 20
PLACES, EXCHANGED = 10, 0.2
USERS = {
    "no bias": rf.click_models.PositionBased(0.0),
    "η = 0.5": rf.click_models.PositionBased(0.5),
    "η = 1": rf.click_models.PositionBased(1.0),
    "η = 2": rf.click_models.PositionBased(2.0),
    "trust": rf.click_models.TrustBias(1.0, trust=0.5),
    "cascade": rf.click_models.Cascade(stop=0.7, persistence=0.9),
}
NAIVE = "lists, clicks as they are"
TRUE = {"η = 0.5": 0.5, "η = 1": 1.0, "η = 2": 2.0, "no bias": 0.0, "trust": 1.0}
Predict = Callable[[rf.Dataset], np.ndarray]


def ours(data: rf.Dataset, term: rf.Term, seed: int) -> Predict:
    ranker = rf.LambdaMART(
        objective=term,
        n_trees=TREES,
        n_leaves=LEAVES,
        learning_rate=RATE,
        min_documents=LEAST,
        seed=seed,
        progress=False,
    )
    return ranker.fit(data).predict


def lightgbm(lists: rf.Dataset, seed: int, unbiased: bool) -> Predict:
    import lightgbm

    settings = {
        "objective": "lambdarank", "num_leaves": LEAVES, "learning_rate": RATE, "min_data_in_leaf": LEAST,
        "verbose": -1, "seed": seed,
    }  # fmt: skip
    position = lists.label("position").astype(int) if unbiased else None
    clicks = lists.label("clicks")
    made = lightgbm.Dataset(
        lists.features, clicks, group=lists.query_sizes, position=position, params={"verbose": -1}, free_raw_data=False
    )
    model = lightgbm.train(settings, made, TREES)
    return lambda test: model.predict(test.features)


def xgboost(lists: rf.Dataset, seed: int, unbiased: bool) -> Predict:
    """Rows of a list are in the order in which they were shown: so it learns positions."""
    import xgboost

    settings = {
        "objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": LEAVES,
        "max_depth": 0, "eta": RATE, "seed": seed, "lambdarank_unbiased": unbiased, "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": PLACES,
    }  # fmt: skip
    matrix = xgboost.DMatrix(lists.features, lists.label("clicks"), qid=lists.row_queries)
    model = xgboost.train(settings, matrix, TREES)
    return lambda test: model.predict(xgboost.DMatrix(test.features))


def rates(log: rf.SimulatedClicks, propensities: object, seed: int) -> Predict:
    """One label per query and document: clicks per impression, or per look."""
    labels = rf.click_labels(log, "click", propensities=propensities, smoothing=1.0, smooth_zeros=True)
    data = log.data.with_label("rate", labels.for_data(log.data))
    return ours(data, rf.Term("NDCG(gain=linear):rate"), seed)


def filled(estimate: rf.Propensities) -> rf.Propensities:
    """Positions that the log does not tell are taken for as unlikely as the least likely that it does."""
    known = estimate.values
    return rf.Propensities(np.where(np.isnan(known), np.nanmin(known), known))


def systems(log: rf.SimulatedClicks, users: str, seed: int) -> dict[str, Callable[[], Predict]]:
    """What is trained on a log, by name."""
    lists = rf.click_sessions(log, log.data)

    def on_lists(bias: object) -> Predict:
        return ours(lists, rf.Term("NDCG:clicks", bias=bias), seed)  # type: ignore[arg-type]

    harvested = filled(rf.estimate_propensities(log, resamples=0))
    by_em = filled(rf.estimate_propensities(log, "em", resamples=0))
    made: dict[str, Callable[[], Predict]] = {
        NAIVE: lambda: on_lists(None),
        "rates, clicks as they are": lambda: rates(log, None, seed),
        "lists, propensities by EM": lambda: on_lists(by_em),
        "lists, propensities harvested": lambda: on_lists(harvested),
        "rates, propensities harvested": lambda: rates(log, harvested, seed),
        "lists, joint ratios": lambda: on_lists("joint"),
        "LightGBM": lambda: lightgbm(lists, seed, False),
        "LightGBM, positions": lambda: lightgbm(lists, seed, True),
        "XGBoost": lambda: xgboost(lists, seed, False),
        "XGBoost, unbiased": lambda: xgboost(lists, seed, True),
    }
    if users in TRUE:
        true = rf.Propensities(np.arange(1.0, PLACES + 1.0) ** -TRUE[users])
        made["lists, true propensities"] = lambda: on_lists(true)
        made["rates, true propensities"] = lambda: rates(log, true, seed)
    return made


def parts(name: str, queries: int, seed: int) -> tuple[rf.Dataset, rf.Dataset]:
    """Queries to learn from, and queries to test on."""
    folder = Path(os.environ.get("RANKFORCE_DATA", "data"))
    if name == "artificial":
        made = rf.make_artificial(
            queries + 500, 20, 20, seed=seed, function_seed=seed, noise=0.3, shares=(0.5, 0.25, 0.13, 0.08, 0.04)
        )
        return made.take_queries(np.arange(queries)), made.take_queries(np.arange(queries, queries + 500))
    if name == "mslr":
        train, test = rf.read(folder / "mslr-sample" / "all.txt").split(0.67, 0.33, seed=seed)
        return train, test
    fold = folder / "mq2008" / f"Fold{1 + seed % 5}"
    return rf.read(fold / "train.txt"), rf.read(fold / "test.txt")


def ndcg(predict: Predict, test: rf.Dataset) -> np.ndarray:
    return np.asarray(rf.evaluate(predict(test), test, "NDCG@10").per_query["NDCG@10"])


def run(data: str, users: str, queries: int, sessions: int, seeds: int) -> dict[str, np.ndarray]:
    """NDCG@10 of every test query of every seed, by system."""
    values: dict[str, list[np.ndarray]] = {}
    for seed in range(seeds):
        train, test = parts(data, queries, seed)
        few = train.take_queries(np.arange(max(10, train.n_queries // 100)))
        production = rf.LambdaMART(n_trees=30, n_leaves=8, min_documents=5, seed=seed, progress=False).fit(few)
        log = rf.simulate_clicks(
            train, production, sessions, USERS[users], positions=PLACES, exchange="swap", exchanged=EXCHANGED, seed=seed
        )
        values.setdefault("production", []).append(ndcg(production.predict, test))
        for name, make in systems(log, users, seed).items():
            values.setdefault(name, []).append(ndcg(make(), test))
        values.setdefault("all grades", []).append(ndcg(ours(train, rf.Term("NDCG"), seed), test))
    return {name: np.concatenate(found) for name, found in values.items()}


def show(users: str, found: dict[str, np.ndarray], seconds: float) -> None:
    naive = {"LightGBM, positions": "LightGBM", "XGBoost, unbiased": "XGBoost"}
    print(f"\n{users} ({seconds:.0f} s)")
    for name, values in found.items():
        base = found[naive.get(name, NAIVE)]
        difference = values - base
        difference = difference[~np.isnan(difference)]
        if name in (NAIVE, "LightGBM", "XGBoost") or not difference.any():
            print(f"  {name:32} {np.nanmean(values):.4f}")
            continue
        p = float(stats.ttest_1samp(difference, 0.0).pvalue)
        print(f"  {name:32} {np.nanmean(values):.4f}  {difference.mean():+.4f}  p = {p:.2g}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", choices=["artificial", "mslr", "mq2008"], default="artificial")
    parser.add_argument("--users", choices=list(USERS), action="append", help="only these; may be given several times")
    parser.add_argument("--queries", type=int, default=400, help="of artificial data")
    parser.add_argument("--sessions", type=int, default=10, help="of every query")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="η = 1 alone, one seed")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = 1 if asked.quick else asked.seeds
    for users in asked.users or (["η = 1"] if asked.quick else list(USERS)):
        start = time.perf_counter()
        found = run(asked.data, users, asked.queries, asked.sessions, seeds)
        show(users, found, time.perf_counter() - start)


if __name__ == "__main__":
    main()
