"""Adaptation: a model of one market and a little data of another, against training from scratch.

    python experiments/adaptation.py [--drift 0.3] [--seeds 3]

The truth of the second market is that of the first with all coefficients moved (``make_artificial(drift=...)``). A base
model learns from much data of the first market. Then, with 1, 5, 20 and 100 % of the second market's queries,
LambdaMART learns on top of it (``base_model=``) and from scratch; both hold a quarter of their queries out for early
stopping. NDCG@10 on test queries of the second market; differences by the paired t-test over queries.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import rankforce as rf
from rankforce.evaluation.comparison import Comparison

SHARES = (0.01, 0.05, 0.2, 1.0)
MEASURE = "NDCG@10"
FEATURES = 30


@dataclass(frozen=True)
class Result:
    """Of one share of the second market's data; ``to_*`` are the tests of the adapted model against the others."""

    share: float
    queries: int
    base: float
    scratch: float
    adapted: float
    to_base: Comparison
    to_scratch: Comparison


def ranker(trees: int, base: object = None) -> rf.LambdaMART:
    return rf.LambdaMART(
        MEASURE, n_trees=trees, n_leaves=15, learning_rate=0.1, min_documents=10, early_stopping=30, base_model=base,
        growth="leafwise", progress=False,
    )  # fmt: skip


def adaptation(
    *,
    shares: Sequence[float] = SHARES,
    drift: float = 0.3,
    base_queries: int = 1500,
    queries: int = 1000,
    test_queries: int = 1000,
    documents: int = 25,
    trees: int = 400,
    seed: int = 0,
) -> list[Result]:
    """The results for every share."""
    common = {"documents": documents, "features": FEATURES, "noise": 0.3}
    first = rf.make_artificial(base_queries, seed=3 * seed, **common)
    second = rf.make_artificial(queries + test_queries, seed=3 * seed + 1, drift=drift, **common)
    all_of_it, test = second.take_queries(range(queries)), second.take_queries(range(queries, queries + test_queries))
    base_train, base_valid = first.split(0.8, 0.2)
    base = ranker(trees).fit(base_train, validation=base_valid)
    results = []
    for share in shares:
        count = max(4, round(share * queries))
        train, valid = all_of_it.take_queries(range(count)).split(0.75, 0.25)
        scratch = ranker(trees).fit(train, validation=valid)
        adapted = ranker(trees, base.model_).fit(train, validation=valid)
        to_base = rf.compare(base, adapted, test, [MEASURE])
        to_scratch = rf.compare(scratch, adapted, test, [MEASURE])
        means = (to_base.a.mean[MEASURE], to_scratch.a.mean[MEASURE], to_base.b.mean[MEASURE])
        results.append(Result(share, count, *means, to_base, to_scratch))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drift", type=float, default=0.3)
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    runs = [adaptation(drift=chosen.drift, seed=seed) for seed in range(chosen.seeds)]
    print(f"{MEASURE} on the second market, drift {chosen.drift:g}, mean of {chosen.seeds} draws of the data\n")
    print("data    queries    base  scratch  adapted   − scratch (p, each draw)        − base (p, each draw)")
    for rows in zip(*runs, strict=True):
        base, scratch, adapted = (
            np.mean([getattr(row, name) for row in rows]) for name in ("base", "scratch", "adapted")
        )
        told = [
            f"{gain:+.4f} ({', '.join(f'{getattr(row, name).t_test[MEASURE].p_value:.1g}' for row in rows)})"
            for gain, name in ((adapted - scratch, "to_scratch"), (adapted - base, "to_base"))
        ]
        print(
            f"{rows[0].share:>5.0%} {rows[0].queries:>9} {base:>8.4f} {scratch:>8.4f} {adapted:>8.4f}   "
            f"{told[0]:<30} {told[1]}"
        )


if __name__ == "__main__":
    main()
