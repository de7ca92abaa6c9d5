"""Time per tree on a Dask cluster of this machine: rankforce, LightGBM and XGBoost, on the same data in one run.

    python benchmarks/cluster.py                                # 480,000 × 136 and 100,000 × 860, 31 and 255 leaves
    python benchmarks/cluster.py --sizes 12000x20 --leaves 7    # quick
    python benchmarks/cluster.py --network                      # what an exchange costs, for docs/cluster.md

One worker with two threads, and two workers with one thread each: the same processors. A tree takes (T(40) − T(10))/30,
where T is the whole call of ``fit`` on data that the workers have: loading, binning, compilation and start-up do not
count. The three take turns, five rounds, and the median counts. Of two workers, what the members of rankforce sent per
tree is printed; and whether the model of two workers is the model of one.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd

import rankforce as rf
from _machine import described
from distributed import Client, LocalCluster
from rankforce.distributed.connections import Listener
from rankforce.distributed.peers import Peers

FEW, MANY = 10, 40
RATE, BINS, LEAST = 0.1, 255, 20
DOCUMENTS_PER_QUERY = 120

Train = Callable[[int], bytes]  # number of trees -> the model


def digest(model: bytes) -> str:
    return hashlib.blake2b(model, digest_size=8).hexdigest()


class Ours:
    def __init__(self, client: Client, data: rf.Dataset, leaves: int) -> None:
        self.shared, self.leaves = rf.shared(data, client), leaves
        self.run: dict[int, dict[str, Any]] = {}

    def __call__(self, trees: int) -> bytes:
        from rankforce.models.storage import to_bytes

        ranker = rf.LambdaMART(
            n_trees=trees, n_leaves=self.leaves, growth="leafwise", learning_rate=RATE, min_documents=LEAST,
            progress=False,
        )  # fmt: skip
        ranker.fit(self.shared)
        self.run[trees] = self.shared.last_run
        return to_bytes(ranker.model_)

    def traffic(self) -> str:
        few, many = self.run[FEW], self.run[MANY]
        calls, sent = ((many[name] - few[name]) / (MANY - FEW) for name in ("calls", "bytes_sent"))
        return f"{calls:.1f} exchanges and {sent / 1e6:.2f} MB sent per worker and tree"


def partitioned(data: rf.Dataset, parts: int) -> Any:
    """A frame of Dask's with whole queries in every partition, as LightGBM and XGBoost want it."""
    frame = pd.DataFrame(data.features, columns=[f"f{j}" for j in range(data.n_features)])
    frame["y"], frame["qid"] = data.label(), np.asarray(data.row_queries, dtype=np.int64)
    frames = [frame[frame["qid"] % parts == part].sort_values("qid", kind="stable") for part in range(parts)]
    return dd.from_delayed([dask.delayed(one) for one in frames], meta=frames[0].iloc[:0]).persist()


def lightgbm_trainer(client: Client, frame: Any, names: list[str], leaves: int) -> Train:
    import lightgbm

    sizes = frame.map_partitions(
        lambda part: part.groupby("qid", sort=False).size(), meta=pd.Series(dtype="int64")
    ).persist()

    def train(trees: int) -> bytes:
        model = lightgbm.DaskLGBMRanker(
            client=client, n_estimators=trees, num_leaves=leaves, learning_rate=RATE, min_child_samples=LEAST,
            max_bin=BINS, verbose=-1,
        )  # fmt: skip
        model.fit(frame[names], frame["y"], group=sizes)
        return str(model.booster_.model_to_string()).split("parameters:")[0].encode()

    return train


def xgboost_trainer(client: Client, frame: Any, names: list[str], leaves: int) -> Train:
    from xgboost import dask as dxgb

    matrix = dxgb.DaskQuantileDMatrix(client, frame[names], frame["y"], qid=frame["qid"], max_bin=BINS)
    settings = {
        "objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": leaves,
        "max_depth": 0, "eta": RATE, "min_child_weight": 0.0, "lambda": 0.0, "max_bin": BINS,
        "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": DOCUMENTS_PER_QUERY,
    }  # fmt: skip

    def train(trees: int) -> bytes:
        made = dxgb.train(client, settings, matrix, num_boost_round=trees)
        return bytes(made["booster"].save_raw("json"))

    return train


def measure(data: rf.Dataset, leaves: int, workers: int, rounds: int) -> tuple[dict[str, float], dict[str, str]]:
    """(seconds per tree, digest of the model) by name."""
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=2 // workers, dashboard_address=":0", memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        frame = partitioned(data, workers)
        names = [name for name in frame.columns if name.startswith("f")]
        ours = Ours(client, data, leaves)
        trains: dict[str, Train] = {"rankforce": ours}
        trains["LightGBM"] = lightgbm_trainer(client, frame, names, leaves)
        trains["XGBoost"] = xgboost_trainer(client, frame, names, leaves)
        models = {name: digest(train(MANY)) for name, train in trains.items()}  # and kernels are compiled
        ours(FEW)
        times: dict[str, list[float]] = {name: [] for name in trains}
        for _ in range(rounds):
            for name, train in trains.items():
                seconds = []
                for trees in (FEW, MANY):
                    begun = time.perf_counter()
                    train(trees)
                    seconds.append(time.perf_counter() - begun)
                times[name].append((seconds[1] - seconds[0]) / (MANY - FEW))
        if workers > 1:
            print(f"    {ours.traffic()}")
    return {name: statistics.median(of) for name, of in times.items()}, models


def compare(documents: int, features: int, leaves: int, rounds: int) -> None:
    data = rf.make_web_like(documents // DOCUMENTS_PER_QUERY, DOCUMENTS_PER_QUERY, features, seed=1)
    print(f"{data.n_documents:,} documents × {features} features, {leaves} leaves", flush=True)
    of: dict[int, dict[str, float]] = {}
    models: dict[int, dict[str, str]] = {}
    for workers in (1, 2):
        of[workers], models[workers] = measure(data, leaves, workers, rounds)
        shown = "".join(f"{name} {1e3 * seconds:9.1f}   " for name, seconds in of[workers].items())
        print(f"  {workers} × {2 // workers} threads, ms per tree:  {shown}", flush=True)
    ours, rivals = of[2]["rankforce"], {name: of[2][name] for name in ("LightGBM", "XGBoost")}
    fastest = min(rivals, key=lambda name: rivals[name])
    print(f"  with 2 workers {rivals[fastest] / ours:.2f} times as fast as {fastest}, the faster of the two others")
    print(f"  2 workers of one thread take {ours / of[1]['rankforce']:.2f} times as long as 1 worker of two threads")
    for name in of[1]:
        print(f"  {name}: the model of 2 workers is {'' if models[1][name] == models[2][name] else 'not '}that of 1")


def network() -> None:
    """What one exchange costs, of 16 bytes and of a histogram, between processes' worth of threads on this machine."""
    for members in (2, 4):
        for size in (2, 8 * 264 * 15):
            listeners = [Listener() for _ in range(members)]
            addresses = [one.address for one in listeners]

            def exchange(rank: int, listeners: Any = listeners, addresses: Any = addresses, size: int = size) -> float:
                peers = Peers(listeners[rank], addresses, rank, b"0123456789abcdef")
                values, count = np.ones(size, dtype=np.int64), 300
                peers.add(values)
                begun = time.perf_counter()
                for _ in range(count):
                    peers.add(values)
                seconds = (time.perf_counter() - begun) / count
                peers.close()
                return seconds

            with ThreadPoolExecutor(members) as pool:
                seconds = statistics.mean(pool.map(exchange, range(members)))
            print(f"{members} members, a sum of {8 * size:>7,} bytes: {1e6 * seconds:7.0f} µs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["480000x136", "100000x860"])
    parser.add_argument("--leaves", nargs="+", type=int, default=[31, 255])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--network", action="store_true")
    given = parser.parse_args()
    print(described())
    if given.network:
        network()
        return
    warnings.filterwarnings("ignore")  # of LightGBM's and XGBoost's Dask interfaces
    for size in given.sizes:
        documents, features = map(int, size.split("x"))
        for leaves in given.leaves:
            compare(documents, features, leaves, given.rounds)


if __name__ == "__main__":
    main()
