"""What a store costs: seconds per tree by how its bins are held, by how trees grow, and by how many bins there are.

    python benchmarks/store_costs.py [--documents 200000] [--features 136] [--rounds 3]

Data as of ``papers_size.py``: a third of the features have few values, a third are counts, a third real numbers. Every
way trains trees of 31 leaves in turn with the others; the median second per tree counts, and the ratio to bins in
memory twice (``memory="fast"``). All of it fits into memory here: what reading from the disk adds is not in it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import rankforce as rf
from _machine import described
from papers_size import PER_QUERY, block

TREES = 4


def seconds_per_tree(store: rf.Dataset, growth: str, memory: str, max_bins: int) -> float:
    moments = [time.perf_counter()]
    rf.LambdaMART(n_trees=TREES, n_leaves=31, growth=growth, memory=memory, max_bins=max_bins, progress=False).fit(
        store, callbacks=[lambda _: moments.append(time.perf_counter())]
    )
    return float(np.median(np.diff(moments)[1:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    print(described())
    rows = max(1, chosen.documents // 4 // PER_QUERY) * PER_QUERY
    with tempfile.TemporaryDirectory(prefix="rankforce") as folder:
        stores = {
            bins: rf.bin(
                lambda: (block(number, rows, chosen.features) for number in range(4)),
                Path(folder) / f"{bins}.bins",
                max_bins=bins,
            )
            for bins in (255, 15)
        }
        ways = [
            (growth, memory, bins)
            for growth in ("leafwise", "symmetric")
            for memory in ("fast", "low", "mapped")
            for bins in stores
        ]
        measured: dict[tuple[str, str, int], list[float]] = {way: [] for way in ways}
        for turn in range(chosen.rounds + 1):
            for growth, memory, bins in ways:
                seconds = seconds_per_tree(stores[bins], growth, memory, bins)
                if turn:
                    measured[growth, memory, bins].append(seconds)
        print(f"{stores[255].n_documents:,} × {chosen.features}, trees of 31 leaves, median of {chosen.rounds} rounds")
        for bins, store in stores.items():
            print(f"max_bins={bins}: {store.bins.rows.nbytes / store.n_documents:.0f} bytes per document")
        first = float(np.median(measured[ways[0]]))
        for growth, memory, bins in ways:
            seconds = float(np.median(measured[growth, memory, bins]))
            print(
                f"{growth:<10} {memory:<7} max_bins={bins:<4} {1e3 * seconds:7.0f} ms per tree   {seconds / first:5.2f}"
            )


if __name__ == "__main__":
    main()
