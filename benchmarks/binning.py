"""Binning against LightGBM's Dataset construction: from arrays to bins, on the same data in one run.

    python benchmarks/binning.py                  # three sizes, seconds of each phase
    python benchmarks/binning.py --layouts        # what a data set takes from arrays of other types and orders, frames
    python benchmarks/binning.py --memory         # peak memory of binning beyond the input

Rounds are interleaved, and LightGBM has all processors. Its bins come from a sample of 200,000 rows, ours from all.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rankforce as rf
from rankforce.binning.binned import Binned
from rankforce.binning.binning import Binning
from rankforce.threads import using_threads

BINS = 255
SIZES = ((4000, 120, 136), (1000, 100, 860), (200, 50, 46))  # queries, documents of each, features


def processor() -> str:
    """The processor's name and how many of its cores there are."""
    try:
        names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        name = names[0].partition(":")[2].strip()
    except (OSError, IndexError):
        name = platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores"


def interleaved(work: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each piece of work in every round, after one that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for k in range(rounds + 1):
        for name, call in work.items():
            start = time.perf_counter()
            call()
            if k:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def show(seconds: dict[str, list[float]]) -> None:
    for name, taken in seconds.items():
        print(f"  {name:<40}{1000 * min(taken):>10.1f}{1000 * statistics.median(taken):>10.1f}", flush=True)


def alone(work: Callable[[], object]) -> Callable[[], None]:
    """The same work on one thread."""

    def run() -> None:
        with using_threads(1):
            work()

    return run


def phases_of(data: rf.Dataset) -> dict[str, Callable[[], object]]:
    """From arrays to bins, step by step."""
    X, y, sizes = data.features, data.labels["grades"], data.query_sizes
    binning = Binning.of(data, BINS)
    return {
        "data set": lambda: rf.Dataset(X, y, group=sizes),
        "cut points": lambda: Binning.of(data, BINS),
        "bins": lambda: Binned.by(binning, data),
    }


def against_lightgbm(data: rf.Dataset) -> dict[str, Callable[[], object]]:
    """From arrays to bins, ours and theirs."""
    import lightgbm

    X, y, sizes = data.features, data.labels["grades"], data.query_sizes
    settings = {"max_bin": BINS, "verbose": -1, "num_threads": os.cpu_count()}
    return {
        "rankforce": lambda: Binned.of(rf.Dataset(X, y, group=sizes), BINS),
        "LightGBM": lambda: lightgbm.Dataset(X, y, group=sizes, params=settings).construct(),
    }


def compare_with_lightgbm(rounds: int) -> None:
    import lightgbm

    print(f"{processor()}; LightGBM {lightgbm.__version__}; ms: best and median of {rounds} rounds")
    for queries, documents, features in SIZES:
        data = rf.make_web_like(queries, documents, features, seed=1)
        phases = phases_of(data)
        work = {
            **against_lightgbm(data),
            **phases,
            **{f"{name}, one thread": alone(call) for name, call in phases.items()},
        }
        print(f"\n{data.n_documents:,} documents × {features} features, {BINS} bins")
        seconds = interleaved(work, rounds)
        show(seconds)
        best, middle = (f(seconds["LightGBM"]) / f(seconds["rankforce"]) for f in (min, statistics.median))
        print(f"  LightGBM takes {best:.1f} times as long as rankforce at best, {middle:.1f} times in the median")


def compare_layouts(rounds: int) -> None:
    import pandas as pd

    data = rf.make_web_like(4000, 120, 136, seed=1)
    X, y, sizes = data.features, data.labels["grades"], data.query_sizes
    wide = X.astype(np.float64)
    inputs = {
        "float32, by row (not copied)": X,
        "float32, by column": np.asfortranarray(X),
        "float64, by row": wide,
        "float64, by column": np.asfortranarray(wide),
        "pandas, float32": pd.DataFrame(X),
        "pandas, float64": pd.DataFrame(wide),
    }
    print(
        f"{processor()}; a data set of {data.n_documents:,} × {data.n_features}; ms, best and median of {rounds} rounds"
    )
    show(
        interleaved({name: lambda X=X: rf.Dataset(X, y, group=sizes) for name, X in inputs.items()}, rounds)  # type: ignore[misc]
    )


def memory() -> None:
    """In a process of its own for each setting."""
    for setting in ("fast", "low"):
        command = [sys.executable, __file__, "--memory-of", setting]
        print(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def memory_of(setting: str) -> None:
    Binned.of(rf.make_web_like(20, 20, 136, seed=1), BINS, setting)  # libraries and kernels do not count
    data = rf.make_web_like(4000, 120, 136, seed=1)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    current = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    Binned.of(data, BINS, setting)
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(lines["VmHWM"].split()[0]) * 1024
    binned = data.n_documents * data.n_features
    beyond = peak - current
    print(
        f"memory={setting!r}: {beyond / 2**20:.0f} MiB beyond the input's {current / 2**20:.0f} "
        f"({beyond / binned:.2f} × the binned matrix)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--layouts", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--memory-of")
    given = parser.parse_args()
    if given.memory_of:
        memory_of(given.memory_of)
    elif given.memory:
        memory()
    elif given.layouts:
        compare_layouts(given.rounds)
    else:
        compare_with_lightgbm(given.rounds)


if __name__ == "__main__":
    main()
