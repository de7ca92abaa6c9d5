"""Combining two rankers: the exact sweep over all α in [0, 1] against a grid of 1,001 of them; NDCG@10.

2,000 queries × 100 documents. The grid uses the fastest evaluation there is here: labels judged beforehand, all
threads, nothing but the mean. The sweep is timed from two arrays of scores to the checked optimum and the whole curve.
Then a few large queries: their crossings, ten million and more, are never held in memory.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable

import numpy as np

import rankforce as rf
from rankforce.combining.target import MeanMeasure

MEASURE = "NDCG@10"


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The median time of some calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def two_rankers(queries: int, documents: int) -> tuple[rf.Dataset, np.ndarray, np.ndarray]:
    """Grades as on the web, and two scores that know a little of them."""
    generator = np.random.default_rng(0)
    n = queries * documents
    labels = generator.choice(5, n, p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(np.float64)
    s, t = generator.normal(size=(2, n)) + 0.3 * labels
    return rf.Dataset(np.zeros((n, 1), dtype=np.float32), labels, group=[documents] * queries), s, t


def main() -> None:
    data, s, t = two_rankers(2000, 100)
    target = MeanMeasure(data, rf.measure(MEASURE), "skip")
    alphas = np.linspace(0.0, 1.0, 1001)

    def grid() -> float:
        return max(target.mean((1.0 - alpha) * s + alpha * t) for alpha in alphas)

    target.mean(s)
    found = rf.combine([s, t], data, MEASURE)
    on_grid = grid()
    assert found.value >= on_grid
    swept, gridded = seconds(lambda: rf.combine([s, t], data, MEASURE), 7), seconds(grid, 1)
    print(f"{MEASURE}, 2,000 queries × 100 documents, α from 0 to 1")
    print(f"{'':24}{'seconds':>9}{'mean':>10}{'α':>10}   {'× grid':>7}")
    print(f"{'grid of 1,001 points':24}{gridded:9.2f}{on_grid:10.6f}{'':10}   {1.0:7.2f}")
    print(f"{'exact sweep':24}{swept:9.2f}{found.value:10.6f}{found.place:10.6f}   {swept / gridded:7.2f}")
    print(f"the curve has {len(found.curve):,} pieces")

    print("\nlarge queries: 2 × 10,000 documents")
    print(f"{'':24}{'seconds':>9}{'mean':>10}{'α':>10}   {'peak MiB':>8}")
    data, s, t = two_rankers(2, 10_000)
    for measure in (MEASURE, "NDCG"):
        start = time.perf_counter()
        found = rf.combine([s, t], data, measure)
        taken = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{measure:24}{taken:9.2f}{found.value:10.6f}{found.place:10.6f}   {peak:8,}")

    print("\nsweep and net, chosen on 500 queries × 50 documents, measured there and on 2,000 others")
    print(f"{'':24}{'seconds':>9}{'chosen on':>10}{'others':>10}")
    data, s, t = two_rankers(2500, 50)
    there = np.arange(len(data)) < 500 * 50
    parts = [(data.take_queries(np.arange(2500) < 500), there), (data.take_queries(np.arange(2500) >= 500), ~there)]
    (data, rows), (others, other_rows) = parts
    for name, options in (
        ("sweep, α in [0, 1]", {}),
        ("sweep, all directions", {"search": "all"}),
        ("net, linear", {"method": "net"}),
        ("net, 5 hidden units", {"method": "net", "hidden": 5}),
    ):
        tested = rf.combine(
            [s[rows], t[rows]],
            data,
            MEASURE,
            validation=([s[other_rows], t[other_rows]], others),
            **options,  # type: ignore[arg-type]
        )
        assert tested.held_out is not None
        start = time.perf_counter()
        found = rf.combine([s[rows], t[rows]], data, MEASURE, **options)  # type: ignore[arg-type]
        taken = time.perf_counter() - start
        print(f"{name:24}{taken:9.2f}{found.value:10.6f}{tested.held_out.b.mean[MEASURE]:10.6f}")


if __name__ == "__main__":
    main()
