"""What further terms of an objective and instruments cost, in time per tree.

    python benchmarks/objectives.py

Two tiers against one, a schedule against its two terms, and a training that the four instruments look into, at every
tree and at every tenth, against the same without.

All in one process on the same data, in turn, three times each; the best median counts. Tiers: NDCG, then CNDCG on
clicks among documents of one grade. Schedule: NDCG with two λ-functions, from the first to the second; its peer is the
sum of the same two terms. "of the forces alone" leaves the trees out.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import rankforce as rf
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.objectives.objective import as_objective

FIRST = rf.Term("NDCG", rf.lambdas.RankNetWeightPairs())
SECOND = rf.Term("NDCG", rf.lambdas.NearPairs())
OBJECTIVES: dict[str, Any] = {
    "one tier": rf.Term("NDCG"),
    "two tiers": rf.Graded(["NDCG", "CNDCG:clicks"], [0.8, 0.2]),
    "three tiers": rf.Graded(["NDCG", "CNDCG:clicks", "NDCG:fresh"], [0.7, 0.2, 0.1]),
    "two terms": [FIRST, SECOND],
    "a schedule of the two": rf.Scheduled(FIRST, SECOND, rf.schedules.Linear(0.1, 0.001)),
}
TIERS = OBJECTIVES["two tiers"]


def instruments(every: int) -> list[Any]:
    return [
        rf.diagnostics.ForceAgreement(TIERS, every=every),
        rf.diagnostics.ContributionsByGrade(every=every),
        rf.diagnostics.GradesInTop(3, every=every),
        rf.diagnostics.RankChanges(3, every=every),
    ]


LOOKS = {"no instruments": [], "four, every=10": instruments(10), "four, every=1": instruments(1)}


def fit_seconds(data: rf.Dataset, objective: Any, trees: int, leaves: int, looks: Any = ()) -> np.ndarray:
    """The seconds of each tree but the first fifth."""
    times: list[float] = []
    ranker = rf.LambdaMART(objective=objective, n_trees=trees, n_leaves=leaves, progress=False)
    ranker.fit(data, instruments=looks, callbacks=[lambda iteration: times.append(time.perf_counter())])
    return np.diff(times[trees // 5 :])


def seconds_per_tree(data: rf.Dataset, objective: Any, trees: int, leaves: int) -> float:
    return float(np.median(fit_seconds(data, objective, trees, leaves)))


def seconds_with_instruments(data: rf.Dataset, looks: Any, trees: int, leaves: int) -> float:
    """The mean: of ten trees, an instrument may look at one only."""
    return float(np.mean(fit_seconds(data, TIERS, trees, leaves, looks)))


def seconds_of_forces(data: rf.Dataset, objective: Any, repeats: int) -> float:
    scores = np.random.default_rng(0).normal(size=data.n_documents)
    order = RunningOrder(data, 0).update(scores)
    forces = Forces(data, as_objective(objective).settled(1, rf.lambdas.NearPairs()), 0, normalise="log")
    times = []
    for m in range(repeats):
        begun = time.perf_counter()
        forces.at(scores, order, m)
        times.append(time.perf_counter() - begun)
    return float(np.median(times[1:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--trees", type=int, default=25)
    parser.add_argument("--leaves", type=int, default=31)
    given = parser.parse_args()
    data = rf.make_artificial(given.queries, given.documents, given.features, seed=0, clicks=True, click_agreement=0.7)
    random = np.random.default_rng(1)
    data = data.with_label("clicks", np.ceil(20 * data.labels["clicks"]) / 20)
    data = data.with_label("fresh", random.integers(0, 3, data.n_documents).astype(float))
    for objective in OBJECTIVES.values():
        seconds_per_tree(data, objective, 2, given.leaves)  # compilation
    trees = dict.fromkeys(OBJECTIVES, np.inf)
    forces = dict.fromkeys(OBJECTIVES, np.inf)
    for _ in range(3):
        for name, objective in OBJECTIVES.items():
            trees[name] = min(trees[name], seconds_per_tree(data, objective, given.trees, given.leaves))
            forces[name] = min(forces[name], seconds_of_forces(data, objective, 8))
    looked = dict.fromkeys(LOOKS, np.inf)
    for _ in range(3):
        for name, looks in LOOKS.items():
            looked[name] = min(looked[name], seconds_with_instruments(data, looks, given.trees, given.leaves))
    print(f"{data.n_documents:,} documents × {data.n_features} features, {given.leaves} leaves")
    print(f"{'objective':<24}{'ms per tree':>14}{'of the forces alone':>22}")
    for name in OBJECTIVES:
        print(f"{name:<24}{1e3 * trees[name]:>14.1f}{1e3 * forces[name]:>22.1f}")
    for name, peer, goal in (
        ("two tiers", "one tier", 1.6),
        ("three tiers", "one tier", None),
        ("a schedule of the two", "two terms", 1.1),
    ):
        ratio = trees[name] / trees[peer]
        said = "" if goal is None else f" (goal: at most {goal}): {'reached' if ratio <= goal else 'NOT REACHED'}"
        print(f"{name} / {peer}: {ratio:.2f}{said}")
    print(f"\n{'two tiers, looked into':<24}{'ms per tree':>14}{'of none':>22}")
    for name, seconds in looked.items():
        print(f"{name:<24}{1e3 * seconds:>14.1f}{seconds / looked['no instruments']:>22.2f}")


if __name__ == "__main__":
    main()
