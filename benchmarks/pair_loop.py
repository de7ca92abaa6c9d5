"""What the forces of a measure cost, per pair of documents, against those of NDCG; and what a second thread saves.

    python benchmarks/pair_loop.py

Rounds are interleaved in one process, and the best counts. Queries are of equal length first, then so different
that one has as many pairs as a hundred others.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import rankforce as rf
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.objectives.objective import as_objective
from rankforce.threads import thread_count, using_threads

MEASURES = ("NDCG", "NDCG@10", "MAP", "ERR", "MRR", "RBP", "PairwiseAccuracy", "KendallTau")


def queries(count: int, documents: int, seed: int = 1) -> rf.Dataset:
    return rf.make_web_like(count, documents, 4, seed=seed)


def uneven(count: int) -> rf.Dataset:
    """Queries of 10 to 1,500 documents, most of them short."""
    rng = np.random.default_rng(0)
    sizes = np.minimum(1500, (10 / rng.random(count) ** 0.8).astype(int))
    total = int(sizes.sum())
    labels = np.minimum(4, rng.geometric(0.55, total) - 1).astype(float)
    return rf.Dataset(rng.random((total, 2), dtype=np.float32), labels, group=sizes)


def forces_of(data: rf.Dataset, measure: str) -> tuple[Callable[[], object], int]:
    """What computes the forces once, and the number of pairs."""
    scores = np.random.default_rng(0).normal(size=data.n_documents)
    order = RunningOrder(data, 0).update(scores)
    forces = Forces(data, as_objective(measure).settled(1, rf.lambdas.NearPairs()), 0)
    return lambda: forces.at(scores, order), forces.n_pairs


def best_seconds(work: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    best = dict.fromkeys(work, np.inf)
    for k in range(rounds + 1):
        for name, call in work.items():
            begun = time.perf_counter()
            call()
            if k:
                best[name] = min(best[name], time.perf_counter() - begun)
    return best


def compare_measures(data: rf.Dataset, rounds: int) -> None:
    made = {measure: forces_of(data, measure) for measure in MEASURES}
    with using_threads(1):
        best = best_seconds({measure: work for measure, (work, _) in made.items()}, rounds)
    per_pair = {measure: 1e9 * seconds / made[measure][1] for measure, seconds in best.items()}
    print("measure             pairs    ns per pair    of NDCG's (one thread)")
    for measure, nanoseconds in per_pair.items():
        ratio = nanoseconds / per_pair["NDCG"]
        print(f"{measure:<16}{made[measure][1]:>9,}{nanoseconds:>15.2f}{ratio:>10.2f} ×", flush=True)


def compare_threads(name: str, data: rf.Dataset, rounds: int) -> None:
    work, pairs = forces_of(data, "NDCG")

    def alone() -> None:
        with using_threads(1):
            work()

    best = best_seconds({"one": alone, "all": work}, rounds)
    one, several = best["one"], best["all"]
    print(f"{name}: {data.n_documents:,} documents, {pairs:,} pairs: one thread {1000 * one:.2f} ms, "
          f"{thread_count()} threads {1000 * several:.2f} ms, {one / several:.2f} ×", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    data = queries(given.queries, given.documents)
    print(f"{data.n_documents:,} documents, {given.documents} per query")
    compare_measures(data, given.rounds)
    compare_threads("equal queries", queries(4000, 120), given.rounds)
    compare_threads("uneven queries", uneven(4000), given.rounds)


if __name__ == "__main__":
    main()
