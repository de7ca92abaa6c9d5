"""What more threads are worth: one and two of them measured, and a model of many.

    python benchmarks/threads.py                          # 480,000 documents × 136 features, 31 leaves
    python benchmarks/threads.py --copies 10 --threads 1 16 64     # the same documents ten times over
    python benchmarks/threads.py --measured-only
    python benchmarks/threads.py --measured-only --trees 20 --rounds 3    # longer turns: warm caches, as in a training

**Measured**: time per tree with 1 and with 2 threads, in turns of a few trees; and of two growers that share nothing,
each with bins and a thread of its own, at the same time. Twice the time of one over theirs is what the machine allows
two threads. LightGBM's 1 and 2 threads have turns of their own: after another tool's trees, the first tree finds other
data in the caches, which two threads feel more than one.

**Model**: the schedule of T threads is run by one thread, phase by phase. What each of the T would do between two
meetings is timed alone, by the processor's clock and in compiled code; the longest of each phase are added. That is the
time of a tree if threads did not disturb each other, and meetings cost nothing. Several trees are grown, and of every
share the fastest counts; each time another thread begins, for the one that does finds caches as the phase before left
them. Bytes that all threads read and write are counted, too: with a bandwidth, they say how
long the memory alone takes, and a phase lasts at least that long. It is a model: T processors have T caches and one
memory, and a real machine shares power, caches and memory in ways that nobody counted here.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rankforce as rf
from _machine import described, in_turns
from rankforce.binning.binned import Binned
from rankforce.compiling.intrinsics import MEETING_SIZE
from rankforce.compiling.jit import compiler
from rankforce.kernels.trees.building import count_ranges
from rankforce.kernels.trees.growth_state import (
    BUILD,
    COMMIT,
    DEAL,
    DONE,
    FIRST_WORD,
    HELPING,
    LAST_WORD,
    N_QUEUED,
    following,
)
from rankforce.kernels.trees.leaf_table import COUNT, HERE
from rankforce.kernels.trees.leafwise import LEAF, PATIENCE, grow_tree
from rankforce.threads import using_threads
from rankforce.trees.grower import Grower
from rankforce.trees.phases import PHASES, GrowingTree
from rankforce.trees.quantised import quantise

LINE = 64
STRIDE = 7  # from the thread that begins in one tree to that of the next
MOST_STEPS = 10 * PATIENCE  # phases per leaf: turns of five, some of them to count documents
# What is noted of a step: its phase, words that are built, documents that are built, documents that are dealt.
PHASE, SPAN, BUILT, DEALT = range(4)


@dataclasses.dataclass(frozen=True)
class Step:
    """One phase of one turn: the seconds of each thread's share, and the bytes that all of them move."""

    phase: int
    shares: np.ndarray
    n_bytes: int


@functools.cache
def stepping() -> tuple[Any, float]:
    """A compiled function that grows a tree share by share and times each; and how often its clock ticks per second."""
    numba = compiler()
    from llvmlite import ir

    @numba.extending.intrinsic
    def ticks(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            counter = builder.module.declare_intrinsic("llvm.readcyclecounter", (), ir.FunctionType(ir.IntType(64), []))
            return builder.call(counter, [])

        return numba.types.int64(), generate

    @numba.njit
    def now() -> Any:
        return ticks()

    grow = grow_tree.own

    @numba.njit(nogil=True, error_model="numpy")
    def run(begins, threads, meeting, rows, columns, rules, documents, histograms, space, best, tree, notes, taken):
        plan, leaves = tree.plan, tree.leaves
        phase = BUILD
        step = 0
        while phase != DONE and step < len(notes):
            notes[step, PHASE] = phase
            notes[step, SPAN] = plan[LAST_WORD] - plan[FIRST_WORD]
            notes[step, DEALT] = leaves[plan[LEAF], COUNT]
            for place in range(plan[N_QUEUED]):
                notes[step, BUILT] += leaves[tree.queue[place], HERE]
            for turn in range(threads):
                thread = (begins + turn) % threads
                start = ticks()
                grow(
                    phase, True, thread, threads, meeting, rows, columns, rules, documents, histograms, space, best,
                    tree,
                )  # fmt: skip
                taken[step, thread] = ticks() - start
            step += 1
            phase = following(phase, plan)
        return step if phase == DONE else -1

    first, start = now(), time.perf_counter()
    time.sleep(0.2)
    return run, (now() - first) / (time.perf_counter() - start)


def moved(note: np.ndarray, growing: GrowingTree) -> int:
    """Bytes that all threads together read or write in a phase, whole cache lines where documents are scattered."""
    phase, span, documents, dealt = (int(number) for number in note)
    if phase == BUILD:
        ranges = count_ranges(documents, span, growing.threads, len(growing.histograms.part_leaf))
        blocks = growing.threads // ranges
        scattered = documents < growing.documents.order.size
        aligned = blocks == 1 and growing.rows.words.shape[1] * 4 % LINE == 0
        row = (-(-4 * span // blocks // LINE) + (not aligned)) * LINE if scattered else 4 * span // blocks
        return documents * blocks * (row + 4 + (LINE if scattered else 8))
    if phase in (DEAL, COMMIT):
        return dealt * ((4 + LINE + 8) if phase == DEAL else 8)
    return 0  # histograms stay in caches


def stepped(growing: GrowingTree, begins: int) -> list[Step]:
    """Grow the tree, timing each thread's share of each phase alone; thread ``begins`` is the first in every phase."""
    run, per_second = stepping()
    most = MOST_STEPS * len(growing.tree.leaves)
    notes, taken = np.zeros((most, 4), dtype=np.int64), np.zeros((most, growing.threads), dtype=np.int64)
    meeting = np.zeros(MEETING_SIZE, dtype=np.int64)
    growing.tree.plan[HELPING] = 0  # the first thread would leave nothing to the others
    steps = run(begins, growing.threads, meeting, *growing.bundles, notes, taken)
    if steps < 0:
        raise SystemExit(f"more than {most} phases: raise MOST_STEPS")
    return [
        Step(int(note[PHASE]), shares / per_second, moved(note, growing))
        for note, shares in zip(notes[:steps], taken[:steps], strict=True)
    ]


def fastest(trees: list[list[Step]]) -> list[Step]:
    """The same tree grown several times: of each share the fastest, since all that disturbs makes it slower."""
    return [
        dataclasses.replace(steps[0], shares=np.min([step.shares for step in steps], axis=0))
        for steps in zip(*trees, strict=True)
    ]


def copied(binned: Binned, forces: np.ndarray, curvatures: np.ndarray, copies: int) -> tuple[Binned, np.ndarray, ...]:
    """The same documents several times over, with forces that differ."""
    if copies == 1:
        return binned, forces, curvatures
    rng = np.random.default_rng(0)
    n = binned.n_documents
    starts = np.concatenate([binned.query_starts[:-1] + n * copy for copy in range(copies)] + [[n * copies]])
    columns = None if binned.columns is None else np.tile(binned.columns, (1, copies))
    larger = dataclasses.replace(
        binned,
        rows=np.tile(binned.rows, (copies, 1)),
        columns=columns,
        query_starts=starts,
        query_hashes=np.tile(binned.query_hashes, copies),
    )
    noise = rng.normal(scale=forces.std(), size=n * copies)
    return larger, np.tile(forces, copies) + noise, np.tile(curvatures, copies)


def model(data: rf.Dataset, leaves: int, counts: list[int], copies: int, repeats: int, bandwidth: float) -> None:
    """Print the table of the model; of every share of work, the fastest of some trees."""
    rng = np.random.default_rng(1)
    grades = np.asarray(data.by_query(data.labels["grades"]), dtype=float)
    forces = grades - grades.mean() + rng.normal(size=len(grades)) * 0.3
    binned, forces, curvatures = copied(
        Binned.of(data, memory="fast" if copies == 1 else "low"), forces, rng.random(len(grades)) + 0.1, copies
    )
    print(f"\nModel: growing {leaves} leaves on {binned.n_documents:,} × {data.n_features}, ms of the longest thread "
          f"per phase; at {bandwidth / 1e9:.0f} GB/s")  # fmt: skip
    print("threads" + "".join(f"{name:>9}" for name in PHASES)
          + "      sum  if even  speed-up  efficiency  GB moved  at bandwidth: sum, efficiency")  # fmt: skip
    first: float | None = None
    for threads in counts:
        os.environ["NUMBA_NUM_THREADS"] = str(threads)
        grower = Grower(binned, n_leaves=leaves)
        trees = []
        for repeat in range(repeats):
            work = grower.begin()
            scales = quantise(
                forces, curvatures, work.documents, binned.query_starts, binned.query_hashes, 0, 0, grower._entries
            )
            trees.append(stepped(grower.growing(work, scales, threads), repeat * STRIDE % threads))
        longest = [0.0] * len(PHASES)
        limited = 0.0
        even = 0.0
        for step in fastest(trees):
            longest[step.phase] += step.shares.max()
            even += step.shares.mean()
            limited += max(step.shares.max(), step.n_bytes / bandwidth)
        total = sum(longest)
        gigabytes = sum(step.n_bytes for step in trees[0]) / 1e9
        first = first or total * counts[0]
        print(f"{threads:>7}" + "".join(f"{1000 * of_phase:>9.2f}" for of_phase in longest)
              + f"{1000 * total:>9.2f}{1000 * even:>9.2f}"
              + f"{first / total:>10.1f}{first / total / threads:>12.2f}{gigabytes:>10.2f}"
              + f"{1000 * limited:>18.2f}{first / limited / threads:>12.2f}", flush=True)  # fmt: skip
    del os.environ["NUMBA_NUM_THREADS"]


def measured(data: rf.Dataset, leaves: int, rounds: int, trees: int) -> None:
    """One and two threads in turns, ours and then LightGBM's."""
    import lightgbm

    binned = Binned.of(data)
    rng = np.random.default_rng(1)
    forces = np.asarray(data.by_query(data.labels["grades"]), dtype=float) + rng.normal(size=data.n_documents) * 0.3
    curvatures = rng.random(data.n_documents) + 0.1
    apart = [Grower(binned, n_leaves=leaves), Grower(Binned.of(data), n_leaves=leaves)]

    def grow(threads: int, which: int = 0) -> None:
        with using_threads(threads):
            for number in range(trees):
                apart[which].grow(forces, curvatures, tree_number=number)

    def grow_apart() -> None:
        other = threading.Thread(target=grow, args=(1, 1))
        other.start()
        grow(1)
        other.join()

    def lightgbm_turn(threads: int) -> Callable[[], object]:
        booster = lightgbm.Booster(
            {"objective": "regression", "num_leaves": leaves, "num_threads": threads, "verbosity": -1,
             "min_data_in_leaf": 20},
            lightgbm.Dataset(data.features, data.labels["grades"], params={"max_bin": 255, "verbosity": -1}),
        )  # fmt: skip
        return lambda: [booster.update() for _ in range(trees)]

    ours = {f"rankforce, growing, {threads}": functools.partial(grow, threads) for threads in (1, 2)}
    times = in_turns(ours | {"two growers, one thread each": grow_apart}, rounds)
    times |= in_turns({f"LightGBM, {threads}": lightgbm_turn(threads) for threads in (1, 2)}, rounds)
    size = f"{data.n_documents:,} × {data.n_features}"
    print(f"\nMeasured: {size}, {leaves} leaves, ms per tree, best and median of {rounds} turns of {trees}")
    for name, taken in times.items():
        print(f"{name:<30}{1000 * min(taken) / trees:>9.1f}{1000 * float(np.median(taken)) / trees:>9.1f}")
    for name in ("rankforce, growing", "LightGBM"):
        one, two = times[f"{name}, 1"], times[f"{name}, 2"]
        ratios = min(one) / min(two), np.median(one) / np.median(two)
        print(f"{name}: two threads over one {ratios[0]:.2f} (best), {ratios[1]:.2f} (median)")
    one, both = times["rankforce, growing, 1"], times["two growers, one thread each"]
    ratios = 2 * min(one) / min(both), 2 * np.median(one) / np.median(both)
    print(f"what the machine allows: two growers over one {ratios[0]:.2f} (best), {ratios[1]:.2f} (median)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=4000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trees", type=int, default=3, help="trees of a turn")
    parser.add_argument("--repeats", type=int, default=15, help="trees of the model")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--bandwidth", type=float, default=200.0, help="GB/s")
    parser.add_argument("--measured-only", action="store_true")
    parser.add_argument("--model-only", action="store_true")
    given = parser.parse_args()
    print(described())
    data = rf.make_web_like(given.queries, 120, given.features, seed=1)
    if not given.model_only:
        measured(data, given.leaves, given.rounds, given.trees)
    if not given.measured_only:
        model(data, given.leaves, given.threads, given.copies, given.repeats, 1e9 * given.bandwidth)


if __name__ == "__main__":
    main()
