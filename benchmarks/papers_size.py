"""The size of the papers' largest training, on one machine: 19 million documents × 860 features, in bins on the disk.

    python benchmarks/papers_size.py                                # 19 million × 860: 40 GB of disk, half an hour
    python benchmarks/papers_size.py --documents 1000000

Features are made in blocks and never all at once: a third of them have few values, a third are counts with a long tail,
a third are real numbers; grades depend on some of each. They are binned into a store (``rf.bin``, two passes), and
trees of 30 leaves are grown on it. Peak memory is the process's own (``ru_maxrss``), pages of the store that are mapped
included; the system takes those back when it needs them.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import rankforce as rf
from _machine import described

PER_QUERY = 176
ROWS = 44_000  # of a block: whole queries


def block(number: int, rows: int, features: int) -> rf.Dataset:
    """The rows of one block: the same whenever it is asked for."""
    X = np.empty((rows, features), dtype=np.float32)
    thirds = np.array_split(np.arange(features), 3)

    def fill(half: int) -> None:
        random = np.random.default_rng([number, half])
        part = slice(half * (rows // 2), rows if half else rows // 2)
        count = part.stop - part.start
        few, tails, real = (len(third) for third in thirds)
        X[part, :few] = random.integers(0, 12, (count, few), dtype=np.uint8)
        tail = random.standard_exponential((count, tails), dtype=np.float32)
        X[part, few : few + tails] = np.floor(tail * tail * 20.0)
        X[part, few + tails :] = random.standard_normal((count, real), dtype=np.float32)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(fill, (0, 1)))
    worth = X[:, 0] / 6.0 + np.log1p(X[:, thirds[1][0]]) / 2.0 + X[:, thirds[2][0]] * (1.0 + 0.1 * X[:, 1])
    noise = np.random.default_rng([number, 2]).standard_normal(rows, dtype=np.float32)
    grades = np.clip(np.floor(worth + noise), 0, 4)
    return rf.Dataset(X, grades, qid=(number * rows + np.arange(rows)) // PER_QUERY)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # GB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=19_000_000)
    parser.add_argument("--features", type=int, default=860)
    parser.add_argument("--trees", type=int, default=3)
    parser.add_argument("--growth", default="leafwise")
    parser.add_argument("--memory", default="auto", help="of the training")
    parser.add_argument("--folder", default=None, help="where the store goes; default: a temporary folder")
    chosen = parser.parse_args()
    blocks = max(1, round(chosen.documents / ROWS))
    print(described())
    folder = Path(chosen.folder or tempfile.mkdtemp(prefix="rankforce"))
    try:
        block(0, ROWS, chosen.features)
        began = time.perf_counter()
        block(1, ROWS, chosen.features)
        making = 2 * blocks * (time.perf_counter() - began)
        began = time.perf_counter()
        store = rf.bin(
            lambda: (block(number, ROWS, chosen.features) for number in range(blocks)), folder / "train.bins"
        )
        seconds = time.perf_counter() - began
        cells = store.n_documents * store.n_features
        print(
            f"{store.n_documents:,} × {store.n_features}: binned in {seconds:,.0f} s ({making:,.0f} s of it making the "
            f"data twice), {cells / seconds / 1e6:,.0f} million values per second, {store.bins.rows.nbytes / 1e9:.1f} "
            f"GB of rows, peak memory {peak():.1f} GB",
            flush=True,
        )
        moments = [time.perf_counter()]
        ranker = rf.LambdaMART(
            n_trees=chosen.trees, n_leaves=30, growth=chosen.growth, memory=chosen.memory, progress=False
        )
        ranker.fit(store, callbacks=[lambda _: moments.append(time.perf_counter())])
        steps = np.diff(moments)
        print(
            f"training: {steps[0]:,.1f} s to the first tree, then {', '.join(f'{step:,.1f}' for step in steps[1:])} s "
            f"per tree; {1e9 * float(np.median(steps[1:])) / store.n_documents:,.0f} ns per document and tree; train "
            f"NDCG {ranker.history_['train'][-1]:.4f}; peak memory {peak():.1f} GB of "
            f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.1f}"
        )
    finally:
        if chosen.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
