"""Time per tree on a Dask cluster of this machine: rankforce, LightGBM and XGBoost, on the same data in one run.

    python benchmarks/cluster.py                                # 480,000 × 136 and 100,000 × 860, 31 and 255 leaves
    python benchmarks/cluster.py --tools rankforce --rounds 3   # two processes beside two threads: some minutes
    python benchmarks/cluster.py --sizes 12000x20 --leaves 7    # quick
    python benchmarks/cluster.py --network                      # what an exchange costs
    python benchmarks/cluster.py --model                        # 16 and 64 workers, computed: for docs/cluster.md

One worker with two threads, and two workers with one thread each: the same processors. A tree takes
(T(many) − T(few)) / (many − few), where T is the whole call of ``fit`` on data that the workers have: loading, binning,
compilation and start-up do not count. Both clusters are up all the time; tools and clusters take turns, and the median
of all rounds counts. Of two workers, what the members of rankforce sent per tree is printed, beside what it would be
split by split; and whether the model of two workers is the model of one.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import math
import multiprocessing
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
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

    def traffic(self, few: int, many: int) -> tuple[float, float]:
        """(exchanges, bytes sent) per worker and tree."""
        calls, sent = ((self.run[many][name] - self.run[few][name]) / (many - few) for name in ("calls", "bytes_sent"))
        return calls, sent


def traffic_by_splits(leaves: int, values: int) -> tuple[int, float]:
    """(exchanges, bytes) that one of two members would send per tree, were leaves split one at a time and none in vain.

    Two exchanges per split, and eight small ones for scales, leaf values and what is watched; of a histogram of so many
    values each keeps half.
    """
    return 2 * leaves - 1 + 8, (leaves - 1) * 8 * values / 2


def sent_values(data: rf.Dataset) -> int:
    """How many values the bytes of a binned row take together: what is sent of a histogram."""
    from rankforce.binning.binned import Binned

    packing = Binned.of(data, BINS, "low").packing
    values = np.zeros(packing.n_bytes, dtype=np.int64)
    np.maximum.at(values, packing.byte, packing.stride * packing.size)
    return int(values.sum())


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


TRAINERS: dict[str, Any] = {"LightGBM": lightgbm_trainer, "XGBoost": xgboost_trainer}


@contextlib.contextmanager
def cluster_of(workers: int) -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=2 // workers, dashboard_address=":0", memory_limit=0
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def trainers(client: Client, data: rf.Dataset, workers: int, leaves: int, tools: list[str]) -> dict[str, Train]:
    made: dict[str, Train] = {"rankforce": Ours(client, data, leaves)}
    with client.as_current():
        if set(tools) & set(TRAINERS):
            frame = partitioned(data, workers)
            names = [name for name in frame.columns if name.startswith("f")]
            made |= {tool: TRAINERS[tool](client, frame, names, leaves) for tool in tools if tool in TRAINERS}
    return made


def compare(documents: int, features: int, leaves: int, rounds: int, few: int, many: int, tools: list[str]) -> None:
    data = rf.make_web_like(documents // DOCUMENTS_PER_QUERY, DOCUMENTS_PER_QUERY, features, seed=1)
    print(f"{data.n_documents:,} documents × {features} features, {leaves} leaves", flush=True)
    with contextlib.ExitStack() as stack:
        clients = {workers: stack.enter_context(cluster_of(workers)) for workers in (1, 2)}
        trains = {workers: trainers(client, data, workers, leaves, tools) for workers, client in clients.items()}
        models: dict[int, dict[str, str]] = {}
        times: dict[tuple[int, str], list[float]] = {}
        for workers, of in trains.items():
            with clients[workers].as_current():
                models[workers] = {name: digest(train(many)) for name, train in of.items()}  # and kernels are compiled
        for _ in range(rounds):
            for workers, of in trains.items():
                for name, train in of.items():
                    seconds = []
                    with clients[workers].as_current():
                        for trees in (few, many):
                            begun = time.perf_counter()
                            train(trees)
                            seconds.append(time.perf_counter() - begun)
                    times.setdefault((workers, name), []).append((seconds[1] - seconds[0]) / (many - few))
        ours = trains[2]["rankforce"]
        assert isinstance(ours, Ours)
        calls, sent = ours.traffic(few, many)
    medians = {key: statistics.median(of) for key, of in times.items()}
    for workers in (1, 2):
        shown = "".join(f"{name} {1e3 * medians[workers, name]:9.1f}   " for name in trains[workers])
        print(f"  {workers} × {2 // workers} threads, ms per tree:  {shown}", flush=True)
    calls_by_splits, sent_by_splits = traffic_by_splits(leaves, sent_values(data))
    print(
        f"  {calls:.1f} exchanges and {sent / 1e6:.2f} MB sent per worker and tree; "
        f"split by split {calls_by_splits} and {sent_by_splits / 1e6:.2f} MB"
    )
    report_ratios(times, medians, models)


def report_ratios(
    times: dict[tuple[int, str], list[float]],
    medians: dict[tuple[int, str], float],
    models: dict[int, dict[str, str]],
) -> None:
    rivals = {name: seconds for (workers, name), seconds in medians.items() if workers == 2 and name != "rankforce"}
    if rivals:
        fastest = min(rivals, key=lambda name: rivals[name])
        faster = rivals[fastest] / medians[2, "rankforce"]
        print(f"  with 2 workers {faster:.2f} times as fast as {fastest}, the fastest of the others")
    for name in models[1]:
        turns = sorted(two / one for one, two in zip(times[1, name], times[2, name], strict=True))
        same = "" if models[1][name] == models[2][name] else "not "
        print(
            f"  {name}: 2 workers of one thread take {statistics.median(turns):.2f} times as long as 1 of two "
            f"({turns[0]:.2f} to {turns[-1]:.2f}); their model is {same}that of 1"
        )


def _exchanging(rank: int, size: int, count: int, pipe: Any) -> None:
    listener = Listener()
    pipe.send(listener.address)
    peers = Peers(listener, pipe.recv(), rank, b"0123456789abcdef")
    values, edges = np.ones(size, dtype=np.int64), np.arange(peers.size + 1) * size // peers.size
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        peers.scatter_add(values, edges)
        times.append(time.perf_counter() - begun)
    pipe.send(statistics.median(times))
    peers.close()
    listener.close()


def exchange_seconds(members: int, size: int, count: int = 300) -> float:
    """What a sum of so many numbers at their owners takes, between processes of this machine."""
    context = multiprocessing.get_context("spawn")
    pipes, processes = [], []
    for rank in range(members):
        here, there = context.Pipe()
        processes.append(context.Process(target=_exchanging, args=(rank, size, count, there)))
        pipes.append(here)
        processes[-1].start()
    addresses = [pipe.recv() for pipe in pipes]
    for pipe in pipes:
        pipe.send(addresses)
    seconds = statistics.mean(pipe.recv() for pipe in pipes)
    for process in processes:
        process.join()
    return seconds


def network() -> None:
    for members in (2, 4):
        for size in (2, 8 * 264 * 15, 8 * 264 * 150):
            seconds = exchange_seconds(members, size)
            print(
                f"{members} members, a sum of {8 * size:>9,} bytes at its owners: {1e6 * seconds:7.0f} µs", flush=True
            )


ROUNDS = {31: 8, 255: 14}  # of a tree on data as web search has it, counted; tests/trees/test_shared_growth.py says how
MODELLED = (("19 million", 19_000_000, 860), ("500 million", 500_000_000, 136))
CORES = 16


def core_seconds(documents: int, features: int, leaves: int, few: int, many: int) -> tuple[float, int]:
    """(seconds of one core per document and tree, values that are sent of a histogram), on this machine, alone."""
    data = rf.make_web_like(documents // DOCUMENTS_PER_QUERY, DOCUMENTS_PER_QUERY, features, seed=1)
    taken = {}
    for trees in (few, few, many):
        begun = time.process_time()
        rf.LambdaMART(
            n_trees=trees, n_leaves=leaves, growth="leafwise", learning_rate=RATE, min_documents=LEAST, threads=1,
            progress=False,
        ).fit(data)  # fmt: skip
        taken[trees] = time.process_time() - begun
    return (taken[many] - taken[few]) / (many - few) / data.n_documents, sent_values(data)


def model(
    sizes: list[tuple[int, int]], leaf_counts: list[int], few: int, many: int, gigabits: float, latency: float
) -> None:
    """Milliseconds per tree, computing + exchanging, of 1 to 64 workers: computed from what is measured here.

    A step of an exchange takes what it takes on this machine and the network's latency; a byte what it takes here, or
    the network if that is slower.
    """
    size = 2**18
    here, large = exchange_seconds(2, 2), exchange_seconds(2, size)
    step = here + 1e-6 * latency
    speed = min(8 * size / 2 / max(large - here, 1e-9), gigabits * 1e9 / 8)
    print(f"a step takes {1e6 * here:.0f} + {latency:g} µs, and {speed / 1e6:,.0f} bytes a microsecond")
    documents_of = {features: documents for documents, features in sizes}
    for name, documents, features in MODELLED:
        if features not in documents_of:
            continue
        for leaves in leaf_counts:
            if leaves not in ROUNDS:
                continue
            each, values = core_seconds(documents_of[features], features, leaves, few, many)
            row = []
            for workers in (1, 4, 16, 64):
                computing = each * documents / CORES / workers
                steps = math.log2(workers) * 2 * ROUNDS[leaves]
                sent = (leaves - 1) * values * 8 * (workers - 1) / workers
                exchanging = steps * step + sent / speed
                row.append(f"{1e3 * computing:,.0f}" + (f" + {1e3 * exchanging:,.0f}" if workers > 1 else ""))
            print(
                f"| {name} × {features}, {leaves} leaves | {' | '.join(row)} |   {1e9 * each:.0f} ns of a core each",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["480000x136", "100000x860"])
    parser.add_argument("--leaves", nargs="+", type=int, default=[31, 255])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trees", nargs=2, type=int, default=[10, 40], metavar=("FEW", "MANY"))
    parser.add_argument("--tools", nargs="+", default=["rankforce", *TRAINERS], choices=["rankforce", *TRAINERS])
    parser.add_argument("--network", action="store_true")
    parser.add_argument("--model", action="store_true")
    parser.add_argument("--gigabits", type=float, default=10.0, help="of the network that --model thinks of")
    parser.add_argument("--latency", type=float, default=40.0, help="of that network, in microseconds")
    given = parser.parse_args()
    sizes = [(int(documents), int(features)) for documents, features in (size.split("x") for size in given.sizes)]
    few, many = given.trees
    print(described())
    if given.network:
        network()
        return
    if given.model:
        model(sizes, given.leaves, few, many, given.gigabits, given.latency)
        return
    warnings.filterwarnings("ignore")  # of LightGBM's and XGBoost's Dask interfaces
    for documents, features in sizes:
        for leaves in given.leaves:
            compare(documents, features, leaves, given.rounds, few, many, given.tools)


if __name__ == "__main__":
    main()
