"""What it costs a training on one machine that it could have other members: calls of the collective, alone.

    python benchmarks/seam.py

Counted by the profiler, which makes each call several times as long: an upper bound. The data is small: the calls of a
tree are as many on large data, and a smaller share of its time.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from pathlib import Path
from typing import Literal, get_args

import rankforce as rf
from _machine import described
from rankforce import collective

TREES = 200
Growth = Literal["leafwise", "symmetric"]


def train(data: rf.Dataset, growth: Growth) -> None:
    rf.LambdaMART("NDCG", n_trees=TREES, n_leaves=31, growth=growth, progress=False).fit(data)


def main() -> None:
    print(described())
    data = rf.make_web_like(480, 20, 46, seed=1)
    for growth in get_args(Growth):
        train(data, growth)
        begun = time.perf_counter()
        train(data, growth)
        per_tree = (time.perf_counter() - begun) / TREES
        profile = cProfile.Profile()
        profile.runcall(train, data, growth)
        calls, seconds = 0, 0.0
        for (file, _, _), (_, count, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
            if Path(file) == Path(collective.__file__):
                calls, seconds = calls + count, seconds + own
        print(
            f"{growth}, {data.n_documents:,} × {data.n_features}: {1e3 * per_tree:.2f} ms per tree, of which "
            f"{calls / TREES:.0f} calls take at most {1e6 * seconds / TREES:.0f} µs: {seconds / TREES / per_tree:.1%}"
        )


if __name__ == "__main__":
    main()
