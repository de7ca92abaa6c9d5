"""The size of the papers' largest training, on one machine: 19 million documents × 860 features, in bins on the disk.

    python benchmarks/papers_size.py                                # 19 million × 860: 40 GB of disk, half an hour
    python benchmarks/papers_size.py --documents 1000000
    python benchmarks/papers_size.py --peer lightgbm --limit 21     # GB; --documents A,B,C: the first that it manages
    python benchmarks/papers_size.py --peer xgboost --limit 21 --folder DISK

Features are made in blocks and never all at once: a third of them have few values, a third are counts with a long tail,
a third are real numbers; grades depend on some of each. They are binned into a store (``rf.bin``, two passes), and
trees of 30 leaves are grown on it. Peak memory is the process's own (``ru_maxrss``), pages of the store that are mapped
included; the system takes those back when it needs them.

A peer has a process of its own per size, whose data may take ``--limit`` GB: a failure is a row of the table. LightGBM
holds about 0.72 KB per document in memory (a byte per feature, half a byte of few values) and 0.1 KB for the training;
XGBoost keeps about 0.9 KB per document on the disk, and reads all of it for every split of a tree.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
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


def beside(peer: str, documents: int, chosen: argparse.Namespace) -> bool:
    """Let a peer train on so many documents in a process of its own, and print what became of it."""
    command = [sys.executable, __file__, "--child", "--peer", peer, "--documents", str(documents)]
    command += ["--features", str(chosen.features), "--trees", str(chosen.trees)]
    command += [] if chosen.limit is None else ["--limit", str(chosen.limit)]
    with tempfile.TemporaryDirectory(prefix="rankforce", dir=chosen.folder) as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        with out.open("wb") as told, err.open("wb") as complaints:
            child = subprocess.Popen([*command, "--folder", folder], stdout=told, stderr=complaints)
            _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        measured: dict[str, float] = {}
        for line in out.read_text().splitlines():
            measured |= json.loads(line) if line.startswith("{") else {}
        complaint = (err.read_text(errors="replace").strip().splitlines() or [""])[-1][:120]
    row = f"{peer:<9} {documents:>12,} × {chosen.features}: "
    if "construction" in measured:
        row += f"constructed in {measured['construction']:,.0f} s ({measured['making']:,.0f} s of it making the data), "
        row += f"{measured['on_disk'] / 1e9:.2f} GB on the disk, " if "on_disk" in measured else ""
    if "per_tree" in measured:
        row += f"{measured['per_tree']:,.1f} s per tree of 31 leaves, "
        row += f"{1e9 * measured['per_tree'] / documents:,.0f} ns per document and tree, "
    if child.returncode:
        stage = "in training" if "construction" in measured else "in construction"
        row += f"failed {stage} (exit code {child.returncode}: {complaint}), "
    print(f"{row}peak memory {used.ru_maxrss / 1e6:.1f} GB", flush=True)
    return child.returncode == 0


def run_peers(chosen: argparse.Namespace) -> None:
    """The first of the sizes that the peer manages; in a child, train."""
    from _large_peers import Made, in_this_process

    rows = min(ROWS, max(PER_QUERY, int(chosen.documents.partition(",")[0]) // PER_QUERY * PER_QUERY))
    for size in map(int, chosen.documents.split(",")):
        blocks = max(1, round(size / rows))
        if chosen.child:
            made = Made(lambda number: block(number, rows, chosen.features), blocks, rows, chosen.features, PER_QUERY)
            in_this_process(chosen.peer, made, chosen.trees, Path(chosen.folder), chosen.limit)
        elif beside(chosen.peer, blocks * rows, chosen):
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", default="19000000", help="how many; of a peer, several sizes with commas")
    parser.add_argument("--features", type=int, default=860)
    parser.add_argument("--trees", type=int, default=3)
    parser.add_argument("--growth", default="leafwise")
    parser.add_argument("--memory", default="auto", help="of the training")
    parser.add_argument("--folder", default=None, help="where the store goes; default: a temporary folder")
    parser.add_argument("--peer", choices=("lightgbm", "xgboost"), help="train this instead")
    parser.add_argument("--limit", type=float, default=None, help="GB that the data of a peer may take")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.peer:
        if not chosen.child:
            print(described())
        run_peers(chosen)
    else:
        run_rankforce(chosen)


def run_rankforce(chosen: argparse.Namespace) -> None:
    blocks = max(1, round(int(chosen.documents) / ROWS))
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
