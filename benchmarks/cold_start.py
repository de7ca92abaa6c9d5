"""Cold start: what a user waits for before anything happens.

    python benchmarks/cold_start.py
    python benchmarks/cold_start.py --against ../before/src     # the first runs of two versions, one after the other

Every row is a process of its own. The kernels of "empty cache" are compiled into a new folder, those of "cached" are
loaded from it. Beside the seconds of the clock stand those of all processors, of the process and of one that it starts
to compile meanwhile: on a machine that does other things they say more.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

EVALUATE = """
import rankforce as rf
data = rf.make_artificial(queries=200, documents=20, features=10, seed=0)
print(rf.evaluate(data.features[:, 0], data, ["NDCG@10", "MAP"]).mean["NDCG@10"])
"""
TRAIN = """
import time
import rankforce as rf
ranker = rf.LambdaMART("NDCG@10", n_trees=10, progress=False)
data = rf.make_artificial(queries=200, documents=20, features=10, seed=0)
start = time.perf_counter()
ranker.fit(data)
print(time.perf_counter() - start)
"""
COMMAND = [sys.executable, "-m", "rankforce.cli.main"]


FIRST_RUNS = {  # small data, as of somebody who tries it
    "rankforce inspect": ["inspect", "data.txt"],
    "rankforce evaluate": ["evaluate", "data.txt", "feature:1"],
    "rankforce train": ["train", "data.txt", "-o", "model.json", "--trees", "10"],
}


class Seconds(NamedTuple):
    """Of the clock, and of all processors."""

    clock: float
    processors: float


def seconds(command: list[str], cache: Path, repetitions: int, source: str | None = None) -> Seconds:
    """The shortest of some runs of a command."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "RANKFORCE_QUIET": "1"}
    if source is not None:
        environment["PYTHONPATH"] = source
    best = Seconds(float("inf"), float("inf"))
    for _ in range(repetitions):
        start, used = time.perf_counter(), _used()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        best = min(best, Seconds(time.perf_counter() - start, _used() - used))
    return best


def _used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def seconds_inside(script: str, cache: Path) -> Seconds:
    """What a script itself measured and printed: without starting Python and importing."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "RANKFORCE_QUIET": "1"}
    used = _used()
    done = subprocess.run([sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True)
    return Seconds(float(done.stdout), _used() - used)


def rows_of_first_runs(folder: Path, sources: dict[str, str | None]) -> list[tuple[str, Seconds, str]]:
    """The first run and later ones of each command, of every version in turn."""
    data = str(folder / "data.txt")
    generate = [*COMMAND, "generate", data, "--queries", "200", "--documents", "20", "--features", "10"]
    subprocess.run(generate, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = []
    for name, arguments in FIRST_RUNS.items():
        words = [str(folder / word) if word.endswith((".txt", ".json")) else word for word in arguments]
        for version, source in sources.items():
            cache = folder / f"{arguments[0]} {version}"
            rows.append((f"{name}, empty cache{version}", seconds([*COMMAND, *words], cache, 1, source), ""))
            rows.append((f"{name}, again{version}", seconds([*COMMAND, *words], cache, 3, source), ""))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="SOURCE", help="the src folder of another version: first runs alone")
    against = parser.parse_args().against
    with tempfile.TemporaryDirectory() as folder:
        if against is None:
            rows = rows_of_everything(Path(folder))
        else:
            rows = rows_of_first_runs(Path(folder), {" (before)": against, "": os.environ.get("PYTHONPATH")})
    width = max(len(name) for name, _, _ in rows)
    print(f"{'':<{width}}  seconds  of all processors  target")
    for name, taken, target in rows:
        print(f"{name:<{width}}  {taken.clock:7.2f}  {taken.processors:17.2f}  {target:>6}".rstrip())


def rows_of_everything(folder: Path) -> list[tuple[str, Seconds, str]]:
    """Imports, help, first runs, first fit, demo."""
    python = [sys.executable, "-c"]
    cache = folder / "first"
    rows = [
        ("python, nothing imported", seconds([*python, "pass"], cache, 5), ""),
        ("import numpy", seconds([*python, "import numpy"], cache, 5), ""),
        ("import rankforce", seconds([*python, "import rankforce"], cache, 5), "< 0.5"),
        ("rankforce --help", seconds([*COMMAND, "--help"], cache, 5), "< 0.5"),
        ("rankforce evaluate --help", seconds([*COMMAND, "evaluate", "--help"], cache, 5), "< 0.5"),
        ("first evaluation, empty cache", seconds([*python, EVALUATE], cache, 1), ""),
        ("first evaluation, cached", seconds([*python, EVALUATE], cache, 3), ""),
        *rows_of_first_runs(folder, {"": None}),
    ]
    fit = folder / "fit"
    cold = seconds_inside(TRAIN, fit)
    warm = min(seconds_inside(TRAIN, fit) for _ in range(3))
    rows.append(("first fit after imports, empty cache", cold, f"< {warm.clock + 15:.1f}"))
    rows.append(("first fit after imports, cached", warm, "< 1.5"))
    rows.append(("rankforce demo, empty cache", seconds([*COMMAND, "demo"], folder / "demo", 1), "< 60"))
    rows.append(("rankforce demo, cached", seconds([*COMMAND, "demo"], folder / "demo", 1), ""))
    return rows


if __name__ == "__main__":
    main()
