"""Making a store from files: text and Parquet by rankforce, and LightGBM's two_round loading of the same text.

    python benchmarks/ingest.py                                     # 400,000 × 136: 440 MB of text, a minute
    python benchmarks/ingest.py --documents 120000 --repeats 5

Both go through the text twice: once for what thresholds are found from, once for the bins. MB/s are of text per pass:
twice the size of the file by the seconds of the whole, bins on the disk (rankforce) or in memory (LightGBM) at the end.
Repeats are interleaved, the best of each counts; compilation is excluded. LightGBM reads a file without ``qid:``, which
it does not know, and the sizes of the queries beside it.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rankforce as rf
from _machine import described
from loading import generate


def without_queries(path: Path, to: Path) -> None:
    """The same lines without ``qid:``, and the sizes of the queries in a file beside."""
    sizes: dict[bytes, int] = {}
    with path.open("rb") as lines, to.open("wb") as file:
        for line in lines:
            label, query, rest = line.split(b" ", 2)
            sizes[query] = sizes.get(query, 0) + 1
            file.write(label + b" " + rest)
    Path(f"{to}.query").write_text("".join(f"{size}\n" for size in sizes.values()))


def by_lightgbm(path: Path, threads: int | None) -> None:
    import lightgbm

    settings = {"two_round": True, "verbosity": -1, "max_bin": 255, "num_threads": threads or 0}
    lightgbm.Dataset(str(path), params=settings).construct()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=400_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=None, help="of LightGBM; rankforce follows NUMBA_NUM_THREADS")
    parser.add_argument("--folder", default=None, help="where files are made; default: a temporary folder")
    chosen = parser.parse_args()
    print(described())
    folder = Path(chosen.folder or tempfile.mkdtemp(prefix="rankforce"))
    folder.mkdir(exist_ok=True)
    try:
        text, table, plain = folder / "data.txt", folder / "data.parquet", folder / "plain.txt"
        generate(text, chosen.documents, chosen.features)
        rf.read(text).write(table)
        without_queries(text, plain)
        rf.bin(rf.make_artificial(queries=20, seed=0), folder / "small.bins")  # compiles, or loads what was compiled
        ways: dict[str, tuple[Path, Callable[[], object]]] = {
            "rankforce, text": (text, lambda: rf.bin(text, folder / "a.bins")),
            "rankforce, Parquet": (table, lambda: rf.bin(table, folder / "b.bins")),
            "LightGBM, two_round": (plain, lambda: by_lightgbm(plain, chosen.threads)),
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(chosen.repeats):
            for name, (_, work) in ways.items():
                began = time.perf_counter()
                work()
                seconds[name].append(time.perf_counter() - began)
        values = chosen.documents * chosen.features
        print(f"{chosen.documents:,} × {chosen.features}, best of {chosen.repeats}")
        for name, (path, _) in ways.items():
            best, size = min(seconds[name]), path.stat().st_size
            print(
                f"{name:<20} {size / 1e6:8,.0f} MB {best:7.2f} s {2 * size / best / 1e6:7,.0f} MB/s per pass "
                f"{2 * values / best / 1e6:6.0f} million values/s per pass   "
                f"(median {float(np.median(seconds[name])):.2f} s)"
            )
    finally:
        if chosen.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
