"""Where the time of a training goes: every phase with one thread and with all, and what threads do not divide.

    python benchmarks/phases.py                       # 480,000 documents × 136 features, as benchmarks/training.py
    python benchmarks/phases.py --mq2008 MQ2008/Fold1 # a small data set, where fixed costs rule

With p threads a phase with the serial share s takes s + (1 − s)/p of its time: s is what follows from both times
(negative where caches help). What none of the phases holds is "the rest": Python between them.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rankforce as rf
from rankforce.binning.binned import Binned
from rankforce.binning.binning import Binning
from rankforce.boosting import lambda_learner
from rankforce.boosting.course import BoostingCourse
from rankforce.boosting.running_scores import RunningScores
from rankforce.forces.anchor import Anchor
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.threads import default_threads
from rankforce.training.monitor import Monitor
from rankforce.trees import grower
from rankforce.trees.grower import Grower
from rankforce.trees.grown import Grown

seconds: dict[str, float] = defaultdict(float)
inside: list[str] = []  # phases that are being timed, the innermost last

PHASES: list[tuple[Any, str, str]] = [
    (Binning, "of", "cut points"),
    (Binned, "by", "bins"),
    (Forces, "at", "forces"),
    (Anchor, "add", "anchor"),
    (Grower, "grow", "tree"),
    (grower, "quantise", "tree: quantise"),
    (Grown, "route", "leaves of validation data"),
    (lambda_learner, "leaf_sums", "leaf sums"),
    (RunningScores, "add", "new scores"),
    (RunningOrder, "update", "ranking"),
    (Monitor, "record", "values watched"),
    (BoostingCourse, "step", "the rest of a tree"),
]


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with its time noted without that of phases within it."""

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        begun = time.perf_counter()
        inside.append(name)
        try:
            return function(*given, **named)
        finally:
            inside.pop()
            taken = time.perf_counter() - begun
            seconds[name] += taken
            if inside:
                seconds[inside[-1]] -= taken

    return call


def instrument() -> None:
    """Let every phase be timed from now on."""
    for owner, name, phase in PHASES:
        plain = vars(owner)[name]
        of_class = isinstance(plain, classmethod)
        made = timed(phase, plain.__func__ if of_class else plain)
        setattr(owner, name, classmethod(made) if of_class else made)


def phases_of_fit(data: rf.Dataset, held_out: rf.Dataset, trees: int, threads: int) -> dict[str, float]:
    """Milliseconds of each phase: of bins in all, of the others per tree."""
    rf.LambdaMART(n_trees=2, threads=threads, progress=False).fit(data, validation=held_out)
    seconds.clear()
    begun = time.perf_counter()
    rf.LambdaMART(n_trees=trees, threads=threads, progress=False).fit(data, validation=held_out)
    seconds["before and after the trees"] = time.perf_counter() - begun - sum(seconds.values())
    once = {"cut points", "bins", "before and after the trees"}
    return {name: 1000 * taken / (1 if name in once else trees) for name, taken in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=4000)
    parser.add_argument("--trees", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--mq2008", type=Path)
    given = parser.parse_args()
    if given.mq2008:
        data, held_out = rf.read(given.mq2008 / "train.txt"), rf.read(given.mq2008 / "vali.txt")
    else:
        data = rf.make_web_like(given.queries, 120, 136, seed=1)
        held_out = rf.make_web_like(given.queries // 4, 120, 136, seed=2)
    threads = default_threads()
    instrument()
    best: dict[int, dict[str, float]] = {1: {}, threads: {}}
    for _ in range(given.rounds):
        for count, phases in best.items():
            for name, taken in phases_of_fit(data, held_out, given.trees, count).items():
                phases[name] = min(taken, phases.get(name, taken))
    print(f"{data.n_documents:,} documents × {data.n_features} features, validation on {held_out.n_documents:,}; ms")
    print(f"{'':<32}{'1 thread':>10}{f'{threads} threads':>12}{'ratio':>8}{'serial share':>14}{'serial ms':>11}")
    for name, alone in best[1].items():
        several = best[threads].get(name, 0.0)
        ratio = alone / several if several > 0 else float("nan")
        serial = (threads / ratio - 1) / (threads - 1) if threads > 1 and several > 0 else float("nan")
        print(f"{name:<32}{alone:>10.2f}{several:>12.2f}{ratio:>8.2f}{serial:>14.2f}{serial * alone:>11.2f}")


if __name__ == "__main__":
    main()
