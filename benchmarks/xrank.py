"""The cost of XRank's best split: linear in the number of documents, by one pass over forces instead of over pairs.

    python benchmarks/xrank.py [--most DOCUMENTS]

For N documents in queries of 50, 20 features and at most 255 bins: the time of one search for the best split of the
root and of a frontier of 32 nodes, the forces included, and the slope of log time against log N. Beside it, up to 1,600
documents, the quadratic way: the sum over all pairs of documents on different sides, threshold by threshold (NumPy). A
second table: the time of whole trainings.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import rankforce as rf
from rankforce.binning.binned import Binned
from rankforce.xrank.frontier import Frontier
from rankforce.xrank.sample import Sample

FEATURES, DOCUMENTS = 20, 50


def seconds(work: Callable[[], object], least: float = 0.3) -> float:
    """The shortest of several runs."""
    work()
    best, spent = np.inf, 0.0
    while spent < least:
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
        spent += time.perf_counter() - start
    return float(best)


def frontier_of(sample: Sample, nodes: int) -> Frontier:
    frontier = Frontier(sample)
    frontier.size = nodes
    frontier.positions[:] = np.random.default_rng(0).integers(0, nodes, sample.n_documents)
    return frontier


def search(frontier: Frontier) -> None:
    frontier._known = False  # find the blocks anew, as after a change
    frontier.best_splits(frontier.forces(), np.ones(frontier.size, dtype=bool), 1)


def search_by_pairs(sample: Sample) -> None:
    """At the root: the forces between all pairs of documents, summed over those on different sides of a threshold."""
    query = np.repeat(np.arange(len(sample.scales)), np.diff(sample.starts))
    fall = sample.discounts[0] - sample.discounts[DOCUMENTS - 1]
    pairs = (sample.worth[:, None] - sample.worth) * (query[:, None] == query) * (sample.scales[query] * fall)[:, None]
    for bins, count in zip(sample.bins, sample.n_bins, strict=True):
        for b in range(0, int(count) - 1, 16):  # every 16th threshold: the whole takes 16 times as long
            left = bins <= b
            abs(pairs[np.ix_(left, ~left)].sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=819_200, metavar="DOCUMENTS")
    most = parser.parse_args().most
    sizes = [n for n in (400, 800, 1_600, 12_800, 102_400, 204_800, 409_600, 819_200) if n <= most]
    print(f"{'documents':>10} {'root, ms':>10} {'32 nodes, ms':>13} {'ns/document/feature':>20} {'by pairs, ms':>14}")
    root_times, node_times = [], []
    for n in sizes:
        data = rf.make_artificial(n // DOCUMENTS, DOCUMENTS, FEATURES, seed=1)
        sample = Sample.of(data, Binned.of(data), rf.NDCG(), 0)
        root, nodes = frontier_of(sample, 1), frontier_of(sample, 32)
        root_times.append(seconds(lambda root=root: search(root)))
        node_times.append(seconds(lambda nodes=nodes: search(nodes)))
        pairs = f"{16e3 * seconds(lambda sample=sample: search_by_pairs(sample)):>14.0f}" if n <= 1_600 else f"{'':>14}"
        per_document = 1e9 * node_times[-1] / (n * FEATURES)
        print(
            f"{n:>10,} {1e3 * root_times[-1]:>10.2f} {1e3 * node_times[-1]:>13.2f} {per_document:>20.2f} {pairs}",
            flush=True,
        )
    large = [k for k, n in enumerate(sizes) if n >= 102_400]
    for name, times in (("root", root_times), ("32 nodes", node_times)) if len(large) > 1 else ():
        slope = np.polyfit(np.log([sizes[k] for k in large]), np.log([times[k] for k in large]), 1)[0]
        print(f"slope of log time against log documents from 102,400 on, {name}: {slope:.2f} (1 is linear)")
    print(f"\n{'training':>28} {'documents':>10} {'steps':>6} {'seconds':>8} {'NDCG':>7}")
    for queries in (10, 200, 800):
        data = rf.make_artificial(queries, DOCUMENTS, FEATURES, seed=1)
        for form, steps in (("simple", 50), ("full", 50), ("martingale", 20)):
            start = time.perf_counter()
            ranker = rf.XRank(form=form, n_steps=steps, progress=False).fit(data)
            took = time.perf_counter() - start
            if queries == 10:  # compiles
                continue
            print(
                f"{form:>28} {data.n_documents:>10,} {steps:>6} {took:>8.2f} {ranker.expected_[-1]:>7.4f}", flush=True
            )


if __name__ == "__main__":
    main()
