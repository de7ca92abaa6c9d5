"""What the forces of a measure cost, per pair of documents, against those of NDCG; and what a second thread saves.

    python benchmarks/pair_loop.py

Rounds are interleaved in one process; of measures the best counts, of threads the best and the median. Queries are of
equal length first, then so different that one has as many pairs as a hundred others; then one is so large that threads
share it, among small ones and alone.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable

import numpy as np

import rankforce as rf
from _machine import described, in_turns
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


def with_giant(count: int, giant: int) -> rf.Dataset:
    """One query of many documents, in the middle of ``count`` of 120."""
    rng = np.random.default_rng(1)
    sizes = np.full(count + 1, 120)
    sizes[count // 2] = giant
    total = int(sizes.sum())
    labels = np.minimum(4, rng.geometric(0.55, total) - 1).astype(float)
    return rf.Dataset(rng.random((total, 2), dtype=np.float32), labels, group=sizes)


def forces_of(data: rf.Dataset, measure: str) -> tuple[Callable[[], object], int]:
    """What computes the forces once, and the number of pairs."""
    scores = np.random.default_rng(0).normal(size=data.n_documents)
    order = RunningOrder(data, 0).update(scores)
    forces = Forces(data, as_objective(measure).settled(1, rf.lambdas.NearPairs()), 0)
    return lambda: forces.at(scores, order), forces.n_pairs


def compare_measures(data: rf.Dataset, rounds: int) -> None:
    made = {measure: forces_of(data, measure) for measure in MEASURES}
    with using_threads(1):
        times = in_turns({measure: work for measure, (work, _) in made.items()}, rounds)
    per_pair = {measure: 1e9 * min(seconds) / made[measure][1] for measure, seconds in times.items()}
    print("measure             pairs    ns per pair    of NDCG's (one thread)")
    for measure, nanoseconds in per_pair.items():
        ratio = nanoseconds / per_pair["NDCG"]
        print(f"{measure:<16}{made[measure][1]:>9,}{nanoseconds:>15.2f}{ratio:>10.2f} ×", flush=True)


def compare_threads(name: str, data: rf.Dataset, rounds: int) -> None:
    work, pairs = forces_of(data, "NDCG")
    twin, _ = forces_of(data, "NDCG")

    def alone(which: Callable[[], object] = work) -> None:
        with using_threads(1):
            which()

    def apart() -> None:
        other = threading.Thread(target=alone, args=(twin,))
        other.start()
        alone()
        other.join()

    times = in_turns({"one": alone, "all": work, "apart": apart}, rounds)
    print(f"{name}: {data.n_documents:,} documents, {pairs:,} pairs; best and median of {rounds}")
    best, median = ({which: f(taken) for which, taken in times.items()} for f in (min, np.median))
    for which, threads in (("one", 1), ("all", thread_count())):
        print(f"    {threads} thread{'s' * (threads > 1)}{1000 * best[which]:>9.2f} ms{1000 * median[which]:>9.2f} ms")
    ratios = (one["one"] / one["all"] for one in (best, median))
    print("    ratio     {:>8.2f} ×{:>10.2f} ×".format(*ratios))
    allowed = (2 * one["one"] / one["apart"] for one in (best, median))
    print("    the machine allows{:>8.2f} ×{:>6.2f} × (two that share nothing)".format(*allowed), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads-only", action="store_true")
    given = parser.parse_args()
    print(described())
    if not given.threads_only:
        data = queries(given.queries, given.documents)
        print(f"{data.n_documents:,} documents, {given.documents} per query")
        compare_measures(data, given.rounds)
    compare_threads("equal queries", queries(4000, 120), given.rounds)
    compare_threads("uneven queries", uneven(4000), given.rounds)
    compare_threads("one giant among small queries", with_giant(1000, 6000), given.rounds)
    compare_threads("one giant alone", with_giant(0, 6000), given.rounds)


if __name__ == "__main__":
    main()
