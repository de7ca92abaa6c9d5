"""The size of the papers' largest training, on one machine: 19 million documents × 860 features, in bins on the disk.

    python benchmarks/papers_size.py                                # 19 million × 860: 40 GB of disk, half an hour
    python benchmarks/papers_size.py --documents 1000000
    python benchmarks/papers_size.py --trees 1000 --minutes 60      # as many of 1000 trees as an hour gives
    python benchmarks/papers_size.py --peer lightgbm --limit 21     # GB; --documents A,B,C: the first that it manages
    python benchmarks/papers_size.py --peer xgboost --limit 21 --folder DISK

Features are made in blocks and never all at once: a third of them have few values, a third are counts with a long tail,
a third are real numbers; grades depend on some of each. They are binned into a store (``rf.bin``, two passes), and
trees of 30 leaves are grown on it. Peak memory is the process's own (``ru_maxrss``), pages of the store that are mapped
included; the system takes those back when it needs them. Seconds are of the clock; those of all processors, which other
work on the machine changes less, stand beside them.

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
from rankforce.training.monitoring import Iteration

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


class Stopwatch:
    """Seconds of the clock and of all processors of this process since it was made."""

    def __init__(self) -> None:
        self._began = self._now()

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        return self._now()[0] - self._began[0], self._now()[1] - self._began[1]

    def __str__(self) -> str:
        clock, processors = self.read()
        return f"{clock:,.0f} s ({processors:,.0f} s of processors)"


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
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="after which no further tree is begun, but two"
    )
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
    print(described())
    folder = Path(chosen.folder or tempfile.mkdtemp(prefix="rankforce"))
    try:
        train(binned(chosen, folder), chosen)
    finally:
        if chosen.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


def binned(chosen: argparse.Namespace, folder: Path) -> rf.Dataset:
    """The store; one that is there already is opened."""
    path = folder / "train.bins"
    if path.exists():
        return rf.read(path)
    blocks = max(1, round(int(chosen.documents) / ROWS))
    block(0, ROWS, chosen.features)
    watch = Stopwatch()
    block(1, ROWS, chosen.features)
    clock, processors = (2 * blocks * seconds for seconds in watch.read())
    watch = Stopwatch()
    store = rf.bin(lambda: (block(number, ROWS, chosen.features) for number in range(blocks)), path)
    cells = store.n_documents * store.n_features
    print(
        f"{store.n_documents:,} × {store.n_features}: binned in {watch}, of which making the data twice is about "
        f"{clock:,.0f} s ({processors:,.0f} s); {cells / watch.read()[0] / 1e6:,.0f} million values per second, "
        f"{store.bins.rows.nbytes / 1e9:.1f} GB of rows, peak memory {peak():.1f} GB",
        flush=True,
    )
    return store


def train(store: rf.Dataset, chosen: argparse.Namespace) -> None:
    watch = Stopwatch()
    moments = [watch.read()]

    def looked_at(iteration: Iteration) -> None:
        moments.append(watch.read())
        if len(moments) > 2 and moments[-1][0] > 60.0 * chosen.minutes:  # the first tree also reads the store
            iteration.stop()

    ranker = rf.LambdaMART(
        n_trees=chosen.trees, n_leaves=30, growth=chosen.growth, memory=chosen.memory, progress=False
    )
    ranker.fit(store, callbacks=[looked_at])
    clock, processors = np.diff(np.array(moments), axis=0).T
    usual, spent = float(np.median(clock[1:])), float(np.median(processors[1:]))
    values = ranker.history_["train"]
    print(
        f"training: {len(clock)} trees of 30 leaves in {moments[-1][0]:,.0f} s; {clock[0]:,.1f} s to the first, then "
        f"{clock[1:].min():,.1f} to {clock[1:].max():,.1f} s per tree, median {usual:,.1f} s ({spent:,.1f} s of "
        f"processors), {1e9 * spent / store.n_documents:,.0f} ns of a processor per document and tree; peak memory "
        f"{peak():.1f} GB of {os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.1f}"
    )
    marks = sorted({0, len(values) // 4, len(values) // 2, 3 * len(values) // 4, len(values) - 1})
    print("train NDCG: " + ", ".join(f"{values[mark]:.4f} after tree {mark + 1}" for mark in marks))
    print(f"extrapolated: 1000 trees take {(clock[0] + 999 * usual) / 3600:.1f} hours at the median")


if __name__ == "__main__":
    main()
