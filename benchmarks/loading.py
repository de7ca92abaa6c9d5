"""Reading LETOR text: rankforce, scikit-learn and XGBoost on the same files, each in its own process.

    python benchmarks/loading.py [--documents 200000] [--features 136]

Seconds are the best of a few readings in one process, compilation excluded; peak memory is that of the first reading
above what the process held before it. The cold compilation of the parser kernels is measured with an empty cache.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

READERS = ("rankforce", "scikit-learn", "XGBoost")
REPEATS = {"rankforce": 5, "scikit-learn": 2, "XGBoost": 3}


def generate(path: Path, documents: int, features: int) -> None:
    """A file like MSLR's: counts, zeros and real numbers with six decimals."""
    rng = np.random.default_rng(0)
    prefixes = [f" {index}:" for index in range(1, features + 1)]
    kinds = rng.choice(3, features, p=[0.4, 0.3, 0.3])
    with path.open("w") as file:
        for document in range(documents):
            if document % 1000 == 0:
                columns = [
                    [f"{value:.6f}" for value in rng.gamma(1.0, 10.0, 1000)]
                    if kind == 0
                    else [str(value) for value in rng.geometric(0.05 if kind == 1 else 0.6, 1000) - 1]
                    for kind in kinds
                ]
                labels = rng.choice(5, 1000, p=[0.52, 0.32, 0.13, 0.02, 0.01])
            words = [prefix + column[document % 1000] for prefix, column in zip(prefixes, columns, strict=True)]
            file.write(f"{labels[document % 1000]} qid:{document // 120 + 1}{''.join(words)} \n")


def measure(reader: str, path: str) -> dict[str, float]:
    """Read a file with one reader, in this process."""
    if reader == "rankforce":
        import rankforce as rf

        with tempfile.TemporaryDirectory() as folder:
            small = Path(folder) / "small.txt"
            small.write_text("1 qid:1 1:1\n")
            rf.read(small)  # compiles, or loads what was compiled

        def read() -> object:
            return rf.read(path)

    elif reader == "scikit-learn":
        from sklearn.datasets import load_svmlight_file

        def read() -> object:
            return load_svmlight_file(path, dtype=np.float32, query_id=True)

    else:
        import xgboost

        xgboost.set_config(verbosity=0)

        def read() -> object:
            return xgboost.DMatrix(f"{path}?format=libsvm", nthread=len(os.sched_getaffinity(0)))

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    peak = 0
    for _ in range(REPEATS[reader]):
        began = time.perf_counter()
        result = read()
        seconds.append(time.perf_counter() - began)
        peak = peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        del result
    return {"seconds": min(seconds), "peak": peak * 1024}


def measure_compilation() -> dict[str, float]:
    """Seconds to compile the parser kernels, Numba itself being loaded and warm."""
    from rankforce.compiling import jit
    from rankforce.data.letor.reading import read_letor

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.txt"
        path.write_text("1 qid:1 1:1\n")

        @jit.kernel
        def nothing(array):  # type: ignore[no-untyped-def]
            array[0] = 1

        nothing(np.zeros(1))
        began = time.perf_counter()
        read_letor(path)
        return {"seconds": time.perf_counter() - began}


def in_own_process(*arguments: str, **environment: str) -> dict[str, float] | str:
    command = [sys.executable, __file__, "--measure", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "RANKFORCE_QUIET": "1", **environment}, check=False
    )
    if done.returncode:
        return done.stderr.strip().splitlines()[-1][:100]
    return json.loads(done.stdout.strip().splitlines()[-1])


def report(title: str, path: Path, documents: int, features: int) -> None:
    size = path.stat().st_size
    matrix = 4 * documents * features
    sizes = f"{size / 1e6:.0f} MB of text, matrix {matrix / 1e6:.0f} MB"
    print(f"\n{title}: {documents:,} documents × {features} features, {sizes}")
    print(f"{'reader':14}{'seconds':>10}{'MB/s':>10}{'rankforce is':>16}{'peak memory':>14}{'/ matrix':>10}")
    results = {reader: in_own_process(reader, str(path)) for reader in READERS}
    ours = results["rankforce"]
    for reader, found in results.items():
        if isinstance(found, str) or isinstance(ours, str):
            print(f"{reader:14}  failed: {found}")
            continue
        ratio = f"{found['seconds'] / ours['seconds']:.1f}× as fast"
        print(
            f"{reader:14}{found['seconds']:10.3f}{size / found['seconds'] / 1e6:10.0f}{ratio:>16}"
            f"{found['peak'] / 1e6:11.0f} MB{found['peak'] / matrix:10.2f}"
        )


def real_file() -> Path | None:
    path = Path(os.environ.get("RANKFORCE_DATA", "data")) / "mslr-sample" / "all.txt"
    return path if path.exists() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        job = options.measure
        print(json.dumps(measure_compilation() if job[0] == "compilation" else measure(*job)))
        return
    with tempfile.TemporaryDirectory() as folder:
        cold = in_own_process("compilation", NUMBA_CACHE_DIR=str(Path(folder) / "cache"))
        print("parser kernels, cold:", cold if isinstance(cold, str) else f"{cold['seconds']:.2f} s (target: 2 s)")
        path = Path(folder) / "generated.txt"
        generate(path, options.documents, options.features)
        report("generated", path, options.documents, options.features)
    real = real_file()
    if real is None:
        print("\nthe MSLR sample is not here: skipped")
    else:
        with real.open("rb") as file:
            documents = sum(1 for _ in file)
        report("MSLR sample", real, documents, 136)
    print("\ntargets: 10× scikit-learn, 1× XGBoost, peak ≤ 1.3 × matrix + a constant (buffers, about 40 MB)")


if __name__ == "__main__":
    main()
