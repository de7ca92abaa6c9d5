"""RankNet's two ways to its gradient: per pair ("V1") and per document after summing forces ("V2").

1,000 queries of 4, 8, … documents, one update per query in both; slopes of log time against log documents. The paper
measured slopes of 1.943 and 1.185, and ratios of 5.1 and 8.0 for one and two layers at its sizes.

V2 goes forward and back once per document, but its forces still come from all pairs: for long lists its slope must rise
towards 2. V1 takes long for long lists, so it is timed on fewer queries there (--budget).
"""

from __future__ import annotations

import argparse

import numpy as np

import rankforce as rf
from rankforce.reproducing.experiments.ranknet_slopes import seconds_per_query

FEATURES = 50
PAPER = {1: 5.1, 2: 8.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--longest", type=int, default=512)
    parser.add_argument("--budget", type=float, default=4.0, help="seconds for one timing of V1")
    arguments = parser.parse_args()
    sizes = [4 * 2**k for k in range(20) if 4 * 2**k <= arguments.longest]
    made = {
        size: rf.make_artificial(queries=arguments.queries, documents=size, features=FEATURES, seed=0) for size in sizes
    }
    for layers, hidden in ((1, 0), (2, 10)):
        print(f"\n{layers} layer{'s' * (layers > 1)}, {FEATURES} features, microseconds per query")
        print(f"{'documents':>10}{'V1':>12}{'V2':>12}{'ratio':>8}")
        times: dict[int, list[float]] = {1: [], 2: []}
        for size in sizes:
            guess = 4.0 * times[1][-1] if times[1] else 1e-4
            few = max(10, min(arguments.queries, int(arguments.budget / guess)))
            times[1].append(seconds_per_query(made[size], hidden, per_pair=True, queries=few))
            times[2].append(seconds_per_query(made[size], hidden, per_pair=False, queries=arguments.queries))
            first, second = times[1][-1], times[2][-1]
            print(f"{size:>10}{1e6 * first:>12.1f}{1e6 * second:>12.1f}{first / second:>8.1f}")
        for version, paper in ((1, 1.943), (2, 1.185)):
            slope = np.polyfit(np.log(sizes), np.log(times[version]), 1)[0]
            last = np.polyfit(np.log(sizes[-3:]), np.log(times[version][-3:]), 1)[0]
            print(f"V{version}: slope {slope:.3f} (paper {paper}), over the three longest lists {last:.3f}")
        total = sum(times[1]) / sum(times[2])
        print(f"all sizes together: V2 is {total:.1f}x as fast (paper {PAPER[layers]}x at its sizes)")


if __name__ == "__main__":
    main()
