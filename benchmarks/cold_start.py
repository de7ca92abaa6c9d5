"""Cold start: what a user waits for before anything happens.

    python benchmarks/cold_start.py

Every row is a process of its own. The kernels of "empty cache" are compiled into a new folder, those of "cached" are
loaded from it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def seconds(command: list[str], cache: Path, repetitions: int) -> float:
    """The shortest of some runs of a command."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "RANKFORCE_QUIET": "1"}
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - start)
    return best


def seconds_inside(script: str, cache: Path) -> float:
    """What a script itself measured and printed: without starting Python and importing."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "RANKFORCE_QUIET": "1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    rows: list[tuple[str, float, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        python = [sys.executable, "-c"]
        data = cache / "data.txt"
        rows.append(("python, nothing imported", seconds([*python, "pass"], cache, 5), ""))
        rows.append(("import numpy", seconds([*python, "import numpy"], cache, 5), ""))
        rows.append(("import rankforce", seconds([*python, "import rankforce"], cache, 5), "< 0.5"))
        rows.append(("rankforce --help", seconds([*COMMAND, "--help"], cache, 5), "< 0.5"))
        rows.append(("rankforce evaluate --help", seconds([*COMMAND, "evaluate", "--help"], cache, 5), "< 0.5"))
        rows.append(("first evaluation, empty cache", seconds([*python, EVALUATE], cache, 1), ""))
        rows.append(("first evaluation, cached", seconds([*python, EVALUATE], cache, 3), ""))
        generate = [*COMMAND, "generate", str(data), "--queries", "200", "--documents", "20", "--features", "10"]
        evaluate = [*COMMAND, "evaluate", str(data), "feature:1"]
        subprocess.run(generate, check=True, stdout=subprocess.DEVNULL)
        other = Path(folder) / "other"
        rows.append(("rankforce evaluate, empty cache", seconds(evaluate, other, 1), ""))
        rows.append(("rankforce evaluate, cached", seconds(evaluate, other, 3), ""))
        fourth = Path(folder) / "fourth"
        cold = seconds_inside(TRAIN, fourth)
        warm = min(seconds_inside(TRAIN, fourth) for _ in range(3))
        rows.append(("first fit after imports, empty cache", cold, f"< {warm + 15:.1f}"))
        rows.append(("first fit after imports, cached", warm, "< 1.5"))
        rows.append(("rankforce demo, empty cache", seconds([*COMMAND, "demo"], Path(folder) / "third", 1), "< 60"))
        rows.append(("rankforce demo, cached", seconds([*COMMAND, "demo"], Path(folder) / "third", 1), ""))
    width = max(len(name) for name, _, _ in rows)
    print(f"{'':<{width}}  seconds  target")
    for name, taken, target in rows:
        print(f"{name:<{width}}  {taken:7.2f}  {target:>6}".rstrip())


if __name__ == "__main__":
    main()
