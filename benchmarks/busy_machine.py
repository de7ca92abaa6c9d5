"""Time per tree where processors are shared: with busy processes beside it, and under a quota of processor time.

    python benchmarks/busy_machine.py                  # alone, beside busy processes, under quotas (as root on Linux)
    python benchmarks/busy_machine.py --documents 480000 --features 136 --trees 30

Each cell is a process of its own; ``rounds`` rounds are interleaved, and the median of their mean times per tree
counts (a mean: under a quota most trees run undisturbed, and a few wait for the next period). Beside k busy processes
on p processors, p threads have the fair share p / (p + k): "of fair share" is time × share / time alone. A quota is a
control group (version 1 or 2) that is made for the process and removed again.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

PROCESSORS = len(os.sched_getaffinity(0))
PERIOD = 100_000  # µs, what containers have
VERSION_1, VERSION_2 = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
QUOTAS = (0.25, 1.0, 1.5)
GROUP = f"rankforce-benchmark-{os.getpid()}"


def milliseconds_per_tree(library: str, threads: int, documents: int, features: int, trees: int) -> float:
    """The mean time of a tree in this process, after a fifth that does not count."""
    import rankforce as rf

    data = rf.make_web_like(documents // 100, 100, features, seed=1)
    times: list[float] = []
    if library == "rankforce":
        ranker = rf.LambdaMART(n_trees=trees, n_leaves=31, growth="leafwise", threads=threads, progress=False)
        ranker.fit(data, callbacks=[lambda iteration: times.append(time.perf_counter())])
    else:
        import lightgbm

        prepared = lightgbm.Dataset(data.features, data.labels["grades"], group=data.query_sizes)
        settings = {"objective": "lambdarank", "num_leaves": 31, "num_threads": threads, "verbose": -1}
        lightgbm.train(
            settings, prepared, trees, callbacks=[lambda environment: times.append(time.perf_counter())]
        )  # fmt: skip
    return 1000 * float(np.mean(np.diff(times[trees // 5 :])))


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """So many processes that do nothing but count."""
    made = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        time.sleep(0.2 if made else 0.0)
        yield
    finally:
        for process in made:
            process.kill()
            process.wait()


@contextlib.contextmanager
def processor_quota(quota: float | None) -> Iterator[Path | None]:
    """A control group with this quota; its folder. None where no quota is asked for."""
    if quota is None:
        yield None
        return
    first = VERSION_1.joinpath("cpu.cfs_quota_us").exists() or VERSION_1.joinpath("tasks").exists()
    folder = (VERSION_1 if first else VERSION_2) / GROUP
    folder.mkdir()
    try:
        if first:
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD))
            (folder / "cpu.cfs_quota_us").write_text(str(int(quota * PERIOD)))
        else:
            (folder / "cpu.max").write_text(f"{int(quota * PERIOD)} {PERIOD}")
        yield folder
    finally:
        folder.rmdir()


def measured(library: str, threads: int, busy: int, quota: float | None, size: list[str]) -> float:
    """The mean time of a tree in a process of its own."""
    command = [sys.executable, __file__, "--worker", library, "--threads", str(threads), *size]
    with processor_quota(quota) as folder, busy_processes(busy):

        def enter() -> None:
            if folder is not None:
                (folder / "cgroup.procs").write_text(str(os.getpid()))

        ended = subprocess.run(
            command, capture_output=True, text=True, check=True, preexec_fn=enter,
            env={**os.environ, "NUMBA_NUM_THREADS": str(threads)},
        )  # fmt: skip
    return float(ended.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=40_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--busy", type=int, nargs="*", default=[2])
    parser.add_argument("--quotas", type=float, nargs="*", default=list(QUOTAS))
    parser.add_argument("--without-lightgbm", action="store_true")
    parser.add_argument("--worker")
    parser.add_argument("--threads", type=int, default=PROCESSORS)
    given = parser.parse_args()
    if given.worker:
        print(milliseconds_per_tree(given.worker, given.threads, given.documents, given.features, given.trees))
        return
    size = [
        text
        for name in ("documents", "features", "trees")
        for text in (f"--{name}", str(getattr(given, name)))
    ]  # fmt: skip
    places: list[tuple[int, float | None]] = [(0, None), *((busy, None) for busy in given.busy)]
    try:
        with processor_quota(1.0 if given.quotas else None):
            places += [(0, quota) for quota in given.quotas]
    except OSError as error:
        print(f"no quotas: a control group cannot be made here ({error})")
    runs = [("rankforce", PROCESSORS), ("rankforce", 1), ("LightGBM", PROCESSORS), ("LightGBM", 1)]
    if given.without_lightgbm:
        runs = runs[:2]
    cells = {(run, place): list[float]() for place in places for run in runs}
    for _ in range(given.rounds):
        for (run, place), taken in cells.items():
            taken.append(measured(*run, *place, size))
    print(f"{given.documents:,} documents × {given.features} features, {PROCESSORS} processors; ms per tree (mean), "
          f"median of {given.rounds} rounds")  # fmt: skip
    print(f"{'':<24}" + "".join(f"{f'{library}, {threads} threads':>24}" for library, threads in runs))
    for place in places:
        busy, quota = place
        name = f"quota of {quota} CPU" if quota is not None else f"beside {busy} busy" if busy else "alone"
        text = f"{name:<24}"
        for run in runs:
            taken, alone = statistics.median(cells[run, place]), statistics.median(cells[run, places[0]])
            threads = run[1]
            share = min(1.0, PROCESSORS / (threads + busy)) if quota is None else min(1.0, quota / threads)
            text += f"{taken:>13.1f} ({taken * share / alone:>4.2f} ×)"
        print(text)
    print("in brackets: of the time that the fair share of processors would give")


if __name__ == "__main__":
    main()
