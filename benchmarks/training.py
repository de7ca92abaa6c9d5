"""Time per tree of LambdaMART against LightGBM and XGBoost, on the same data in one run.

    python benchmarks/training.py                 # 480,000 documents × 136 features, 31 and 255 leaves
    python benchmarks/training.py --scaling       # time per document and tree, 50,000 to 2,000,000 documents
    python benchmarks/training.py --memory        # peak memory beyond the input
    python benchmarks/training.py --own-measure   # a measure in a script against the same built-in one

Every peer gets the same number of trees, leaves, bins, learning rate and minimum documents per leaf. All of them train
at the same time, five trees each in turn: whatever disturbs the machine disturbs all. The first trees, with which
memory is touched first and kernels are compiled, do not count; nor do loading and binning. LightGBM is run in its
default mode, forced row-wise and forced column-wise, and the fastest counts; its λ's are truncated at 30 by default,
which makes them cheaper than ours and XGBoost's over all pairs.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rankforce as rf
from _machine import described

RATE, BINS, LEAST = 0.1, 255, 20
TURN = 5  # trees of a peer before the next one's turn: threads of some libraries spin for a while after their work


Train = Callable[[int, Callable[[], None]], object]  # (number of trees, what to call after each) -> model


def seconds_per_tree(trains: dict[str, Train], trees: int) -> tuple[dict[str, list[float]], dict[str, object]]:
    """The times of each peer's trees, grown in turns of TURN, the first of each turn not counted; and the models.

    A training waits in its callback until it is its turn again. The first fifth of the trees does not count, either.
    """
    turns = {name: threading.Semaphore(0) for name in trains}
    done = threading.Semaphore(0)
    times: dict[str, list[float]] = {name: [] for name in trains}
    models: dict[str, object] = {}
    failures: list[BaseException] = []

    def run(name: str) -> None:
        grown = 0
        begun = 0.0

        def after_tree() -> None:
            nonlocal grown, begun
            if grown % TURN > 0 and grown >= trees // 5:
                times[name].append(time.perf_counter() - begun)
            grown += 1
            if grown % TURN == 0:
                done.release()
                turns[name].acquire()
            begun = time.perf_counter()

        turns[name].acquire()
        try:
            models[name] = trains[name](trees, after_tree)
        except BaseException as error:
            failures.append(error)
        done.release()

    threads = [threading.Thread(target=run, args=(name,), daemon=True) for name in trains]
    for thread in threads:
        thread.start()
    for _ in range(trees // TURN + 1):  # the last turn is what a training does after its last tree
        for turn in turns.values():
            turn.release()
            done.acquire()
            if failures:
                raise failures[0]
    return times, models


def ours(data: rf.Dataset, leaves: int, measure: object = "NDCG") -> Train:
    def train(trees: int, after_tree: Callable[[], None]) -> rf.Model:
        ranker = rf.LambdaMART(
            measure, n_trees=trees, n_leaves=leaves, learning_rate=RATE, max_bins=BINS, min_documents=LEAST,
            progress=False,
        )  # fmt: skip
        return ranker.fit(data, callbacks=[lambda iteration: after_tree()]).model_

    return train


def lightgbm_peer(data: rf.Dataset, leaves: int, **options: object) -> Train:
    import lightgbm

    prepared = lightgbm.Dataset(
        data.features, data.labels["grades"], group=data.query_sizes, params={"max_bin": BINS, "verbose": -1, **options}
    ).construct()
    settings = {
        "objective": "lambdarank", "num_leaves": leaves, "learning_rate": RATE, "min_data_in_leaf": LEAST,
        "min_sum_hessian_in_leaf": 1e-3, "max_bin": BINS, "num_threads": os.cpu_count(), "verbose": -1, **options,
    }  # fmt: skip
    return lambda trees, after_tree: lightgbm.train(
        settings, prepared, trees, callbacks=[lambda environment: after_tree()]
    )


def xgboost_peer(data: rf.Dataset, leaves: int) -> Train:
    import xgboost

    class AfterTree(xgboost.callback.TrainingCallback):
        def __init__(self, after_tree: Callable[[], None]) -> None:
            self.after_tree = after_tree

        def after_iteration(self, model: object, epoch: int, evals_log: object) -> bool:
            self.after_tree()
            return False

    prepared = xgboost.QuantileDMatrix(
        data.features, data.labels["grades"], qid=data.row_queries, max_bin=BINS, nthread=os.cpu_count()
    )
    settings = {
        "objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": leaves,
        "max_depth": 0, "eta": RATE, "max_bin": BINS, "min_child_weight": 0.0, "lambda": 0.0,
        "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": int(data.query_sizes.max()),
        "nthread": os.cpu_count(),
    }  # fmt: skip
    return lambda trees, after_tree: xgboost.train(settings, prepared, trees, callbacks=[AfterTree(after_tree)])


def compare_with_peers(queries: int, leaves: tuple[int, ...], trees: int) -> None:
    import xgboost

    data = rf.make_web_like(queries, 120, 136, seed=1)
    held_out = rf.make_web_like(1000, 120, 136, seed=2)
    print(f"{described()}\n{data.n_documents:,} documents × {data.n_features} features, {BINS} bins")
    for n_leaves in leaves:
        peers = {
            "rankforce": ours(data, n_leaves),
            "LightGBM": lightgbm_peer(data, n_leaves),
            "LightGBM row-wise": lightgbm_peer(data, n_leaves, force_row_wise=True),
            "LightGBM column-wise": lightgbm_peer(data, n_leaves, force_col_wise=True),
            "LightGBM quantised": lightgbm_peer(data, n_leaves, use_quantized_grad=True),
            "XGBoost hist, all pairs": xgboost_peer(data, n_leaves),
        }
        times, models = seconds_per_tree(peers, trees)
        scores = {}
        print(
            f"\n{n_leaves} leaves: ms per tree, best and median; ratio of medians; held-out NDCG@10 after {trees} trees"
        )
        medians = {name: float(np.median(taken)) for name, taken in times.items()}
        for name, model in models.items():
            matrix = held_out.features if "XGBoost" not in name else xgboost.DMatrix(held_out.features)
            scores[name] = np.asarray(model.predict(held_out if name == "rankforce" else matrix), dtype=float)
            value = rf.evaluate(scores[name], held_out, ["NDCG@10"]).mean["NDCG@10"]
            ratio = medians[name] / medians["rankforce"]
            print(
                f"{name:<25}{1000 * min(times[name]):>10.1f}{1000 * medians[name]:>10.1f}{ratio:>14.2f}{value:>19.4f}"
            )
        plain = {name: value for name, value in medians.items() if name != "rankforce" and "quantised" not in name}
        fastest = min(plain, key=plain.__getitem__)
        print(f"faster than the fastest of LightGBM and XGBoost ({fastest}): "
              f"{plain[fastest] / medians['rankforce']:.2f}×; than LightGBM quantised: "
              f"{medians['LightGBM quantised'] / medians['rankforce']:.2f}×", flush=True)  # fmt: skip
        for name in ("LightGBM", "XGBoost hist, all pairs"):
            print(f"\nrankforce against {name}")
            print(rf.compare(scores[name], scores["rankforce"], held_out, ["NDCG@10"]))


def scaling() -> None:
    print("documents    ns per document and tree")
    each = {}
    for documents in (50_000, 200_000, 500_000, 1_000_000, 2_000_000):
        data = rf.make_web_like(documents // 100, 100, 50, seed=1)
        times, _ = seconds_per_tree({"": ours(data, 31)}, 100 if documents < 500_000 else 25)
        each[documents] = float(np.median(times[""])) / data.n_documents
        print(f"{data.n_documents:>9,}{1e9 * each[documents]:>12.1f}", flush=True)
        del data
    mean = sum(each.values()) / len(each)
    furthest = max(abs(value / mean - 1.0) for value in each.values())
    print(f"mean {1e9 * mean:.1f}, furthest from it {100 * furthest:.0f} %")


def memory() -> None:
    """Peak memory beyond the input, in a process of its own for each setting."""
    for setting in ("fast", "low"):
        done = subprocess.run(
            [sys.executable, __file__, "--memory-of", setting], capture_output=True, text=True, check=True
        )
        print(done.stdout.strip())


def memory_of(setting: str) -> None:
    small = rf.make_web_like(20, 20, 136, seed=1)
    # Libraries and kernels are not what we measure.
    rf.LambdaMART(n_trees=2, growth="leafwise", progress=False, memory=setting).fit(small)
    data = rf.make_web_like(4000, 120, 136, seed=1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    current = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    rf.LambdaMART(n_trees=5, growth="leafwise", progress=False, memory=setting).fit(data)
    peak = max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, before) - current
    binned = data.n_documents * data.n_features
    allowed = 2 * binned + 64 * data.n_documents + 31 * 136 * 256 * 8 * 2
    print(
        f"memory={setting!r}: {peak / 2**20:.0f} MiB beyond the input ({peak / binned:.2f} × the binned matrix); "
        f"allowed {allowed / 2**20:.0f} MiB"
    )


def own_measure() -> None:
    class ScriptNDCG(rf.Measure):
        """NDCG as a user would write it."""

        COLUMNS = 2
        cutoff: int | None = None

        def worth(self, labels: np.ndarray) -> np.ndarray:
            return np.exp2(labels) - 1.0

        def normaliser(self, ideal):  # type: ignore[no-untyped-def]
            total = 0.0
            for r in range(min(ideal.shape[0], self.cutoff)):
                total += ideal[r] / np.log2(r + 2.0)
            return total

        def value(self, ranked, normaliser):  # type: ignore[no-untyped-def]
            total = 0.0
            for r in range(min(ranked.shape[0], self.cutoff)):
                total += ranked[r] / np.log2(r + 2.0)
            return total / normaliser

        def prepare(self, ranked, normaliser, columns):  # type: ignore[no-untyped-def]
            for r in range(ranked.shape[0]):
                columns[0, r] = ranked[r]
                columns[1, r] = 1.0 / (np.log2(r + 2.0) * normaliser) if r < self.cutoff else 0.0

        def swap_delta(self, a, b):  # type: ignore[no-untyped-def]
            return (a[0] - b[0]) * (b[1] - a[1])

    data = rf.make_web_like(4000, 120, 136, seed=1)
    times, _ = seconds_per_tree({"built-in": ours(data, 31, "NDCG"), "own": ours(data, 31, ScriptNDCG())}, 40)
    built_in, own = (float(np.median(taken)) for taken in times.values())
    print(f"ms per tree: built-in NDCG {1000 * built_in:.1f}, the same in a script {1000 * own:.1f}: "
          f"{own / built_in:.2f}×")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=4000)
    parser.add_argument("--leaves", type=int, nargs="*", default=[31, 255])
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--memory-of")
    parser.add_argument("--own-measure", action="store_true")
    given = parser.parse_args()
    if given.scaling:
        scaling()
    elif given.memory_of:
        memory_of(given.memory_of)
    elif given.memory:
        memory()
    elif given.own_measure:
        own_measure()
    else:
        compare_with_peers(given.queries, tuple(given.leaves), given.trees)


if __name__ == "__main__":
    main()
