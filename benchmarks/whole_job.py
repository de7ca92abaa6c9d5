"""The whole job against LightGBM: 100 trees from NumPy arrays, binning and all else included.

    python benchmarks/whole_job.py                # 480,000 documents × 136 features; MQ2008 where it is
    python benchmarks/whole_job.py --leaves 255 --rounds 3

Both get the same arrays, trees, leaves, bins, learning rate and minimum of documents per leaf, all processors, and
train for NDCG without watching. Rounds are interleaved; the first, which compiles and loads, does not count. MQ2008 is
looked for in the folder that RANKFORCE_DATA names; its first fold is trained on.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable, Iterator

import numpy as np

import rankforce as rf
from binning import interleaved, processor
from quality import data_folder

TREES, RATE, BINS, LEAST = 100, 0.1, 255, 20
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]  # features, labels, sizes of the queries


def arrays_of(data: rf.Dataset) -> Arrays:
    return np.array(data.by_query(data.features)), data.by_query(data.labels["grades"]), data.query_sizes


def data_sets() -> Iterator[tuple[str, Arrays]]:
    yield "web-like", arrays_of(rf.make_web_like(4000, 120, 136, seed=1))
    first_fold = data_folder() / "mq2008" / "Fold1" / "train.txt"
    if first_fold.is_file():
        yield "MQ2008, fold 1", arrays_of(rf.read(first_fold))
    else:
        print(f"\nMQ2008: skipped, there is no {first_fold} (set RANKFORCE_DATA)")


def ours(X: np.ndarray, y: np.ndarray, sizes: np.ndarray, leaves: int, growth: str) -> Callable[[], object]:
    return lambda: rf.LambdaMART(
        "NDCG", n_trees=TREES, n_leaves=leaves, learning_rate=RATE, max_bins=BINS, min_documents=LEAST, growth=growth,
        progress=False,
    ).fit(X, y, group=sizes)  # fmt: skip


def lightgbm_peer(
    X: np.ndarray, y: np.ndarray, sizes: np.ndarray, leaves: int, **options: object
) -> Callable[[], object]:
    import lightgbm

    settings = {
        "objective": "lambdarank", "num_leaves": leaves, "learning_rate": RATE, "min_data_in_leaf": LEAST,
        "min_sum_hessian_in_leaf": 1e-3, "max_bin": BINS, "num_threads": os.cpu_count(), "verbose": -1, **options,
    }  # fmt: skip
    return lambda: lightgbm.train(settings, lightgbm.Dataset(X, y, group=sizes), TREES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--leaves", type=int, default=31)
    given = parser.parse_args()
    import lightgbm

    print(f"{processor()}; LightGBM {lightgbm.__version__}; {TREES} trees of {given.leaves} leaves, {BINS} bins; "
          f"seconds, best and median of {given.rounds} rounds")  # fmt: skip
    for name, arrays in data_sets():
        documents, features = arrays[0].shape
        print(f"\n{name}: {documents:,} documents × {features} features")
        seconds = interleaved(
            {
                "rankforce": ours(*arrays, given.leaves, "leafwise"),
                "rankforce, symmetric trees": ours(*arrays, given.leaves, "symmetric"),
                "LightGBM": lightgbm_peer(*arrays, given.leaves),
                "LightGBM column-wise": lightgbm_peer(*arrays, given.leaves, force_col_wise=True),
            },
            given.rounds,
        )
        for peer, taken in seconds.items():
            best, middle = min(taken), statistics.median(taken)
            ratio = middle / statistics.median(seconds["rankforce"])
            print(f"  {peer:<30}{best:>9.2f}{middle:>9.2f}{ratio:>8.2f} × rankforce's median", flush=True)


if __name__ == "__main__":
    main()
