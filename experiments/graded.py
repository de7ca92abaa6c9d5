"""Graded and changing objectives: what Svore, Volkovs and Burges (2011) report, on data at hand.

    python experiments/graded.py graded artificial      # 1. graded against NDCG alone, @1 to @10, Holm over the ten
    python experiments/graded.py graded mslr            #    the same on the MSLR sample, clicks = feature 134
    python experiments/graded.py changing artificial    # 2. Newton, gradient, linear and exponential schedules
    python experiments/graded.py changing mslr
    python experiments/graded.py agreement artificial   # 3. agreement of forces, all click pairs and tied ones
    python experiments/graded.py agreement mslr
    python experiments/graded.py missing artificial     # 4. three tiers, 70 % of the click labels missing

Artificial data: grades are a cubic function of the features; clicks rise with the grade and, as much again, with taste,
a feature of their own. They agree with the grades only in part, some are 0. MSLR: queries in five folds, each ranked by
a model that did not see it, the values of all queries pooled; the click label is log(1 + c)/max within the data of the
click count c, and features 134 to 136 are not inputs. All models have the same number of trees. Settings are chosen on
validation data, never on test data.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rankforce as rf
from rankforce.evaluation.evaluate import evaluate
from rankforce.evaluation.result import Evaluation
from rankforce.evaluation.significance import holm, paired_t_test

CUTS = range(1, 11)
Parts = list[tuple[rf.Dataset, rf.Dataset, rf.Dataset]]  # (train, validation, test)
Values = dict[str, np.ndarray]  # of all test queries, by measure


def artificial(queries: int) -> Parts:
    made = rf.make_artificial(queries, documents=40, features=8, seed=0, noise=0.1)
    random = np.random.default_rng(1)
    taste = random.random(made.n_documents)
    features = np.column_stack([made.features, taste + 0.2 * random.normal(size=len(taste))])
    clicks = 0.4 * made.labels["grades"] / 4 + 0.4 * taste + 0.2 * random.random(len(taste))
    clicks = np.where(random.random(len(taste)) < 0.2, 0.0, np.ceil(10 * clicks) / 10)
    fresh = random.integers(0, 2, len(taste)).astype(float)
    features = np.column_stack([features, fresh + 0.5 * random.normal(size=len(fresh))])
    data = rf.Dataset(features, made.labels["grades"], made.qid, labels={"clicks": clicks, "fresh": fresh})
    return [tuple(data.split(0.4, 0.2, 0.4, seed=0))]  # type: ignore[list-item]


def mslr() -> Parts:
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    data = rf.read(Path(os.environ.get("RANKFORCE_DATA", default)) / "mslr-sample" / "all.txt")
    counts = np.maximum(data.features[:, 133].astype(np.float64), 0.0)
    clicks = np.log1p(counts) / np.log1p(counts).max()
    data = rf.Dataset(data.features[:, :133], data.labels["grades"], data.qid, labels={"clicks": clicks})
    parts: Parts = []
    for rest, test in data.folds(5, seed=0):
        train, validation = rest.split(0.75, 0.25, seed=1)
        parts.append((train, validation, test))
    return parts


def measures() -> list[str]:
    return [f"NDCG@{cut}" for cut in CUTS] + [f"CNDCG@{cut}:clicks" for cut in CUTS]


def trained(parts: Parts, make: Callable[[], Any], asked: list[str]) -> tuple[Values, Values]:
    """The values of all test queries, and of all validation queries, by measure."""
    tests: list[Evaluation] = []
    validations: list[Evaluation] = []
    for train, validation, test in parts:
        ranker = make().fit(train, validation=validation)
        tests.append(evaluate(ranker, test, asked))
        validations.append(evaluate(ranker, validation, asked))
    found = [
        {one: np.concatenate([part.per_query[one] for part in many]) for one in asked} for many in (tests, validations)
    ]
    return found[0], found[1]


def best_on_validation(
    parts: Parts, makes: dict[str, Callable[[], Any]], asked: list[str], by: str
) -> tuple[str, Values]:
    """Of several settings, the one with the highest mean of ``by`` on validation data, and its test values."""
    best: tuple[float, str, Values] | None = None
    for name, make in makes.items():
        test, validation = trained(parts, make, asked)
        value = float(np.nanmean(validation[by]))
        print(f"  {name}: validation {by} {value:.4f}", flush=True)
        if best is None or value > best[0]:
            best = (value, name, test)
    assert best is not None
    return best[1], best[2]


def table(title: str, old: Values, new: Values, kinds: tuple[str, ...] = ("NDCG@{}", "CNDCG@{}:clicks")) -> None:
    """Differences at every cut-off with p-values, Holm's over the cut-offs of one kind."""
    print(title)
    for kind in kinds:
        names = [kind.format(cut) for cut in CUTS]
        differences = [new[name] - old[name] for name in names]
        tests = [paired_t_test(one[~np.isnan(one)]) for one in differences]
        corrected = holm([test.p_value for test in tests])
        print(f"  {'measure':<18}{'old':>9}{'new':>9}{'change':>10}{'p':>10}{'Holm':>10}")
        for name, one, test, together in zip(names, differences, tests, corrected, strict=True):
            print(
                f"  {name:<18}{np.nanmean(old[name]):>9.4f}{np.nanmean(new[name]):>9.4f}{np.nanmean(one):>+10.4f}"
                f"{test.p_value:>10.4f}{together:>10.4f}"
            )


def settings(trees: int, **more: Any) -> dict[str, Any]:
    return {"n_trees": trees, "n_leaves": 15, "min_documents": 30, "progress": False} | more


def graded(parts: Parts, trees: int) -> None:
    alone, _ = trained(parts, _maker("NDCG", trees, 0.1), measures())
    for weight in (0.1, 0.2, 0.3):
        objective = rf.Graded(["NDCG", "CNDCG:clicks"], [1 - weight, weight])
        make = _maker(objective, trees, 0.1)
        found, _ = trained(parts, make, measures())
        table(
            f"graded with w = {weight:g} (new) against NDCG alone (old), {len(alone['NDCG@1'])} queries", alone, found
        )


def changing(parts: Parts, trees: int) -> None:
    asked = [f"NDCG@{cut}" for cut in CUTS]
    by = "NDCG@3"
    plain = {"cost": rf.RankNetWeightPairs(), "normalise": "none"}
    rates = (0.05, 0.1, 0.2)
    newton = {f"newton, rate {rate:g}": _maker("NDCG", trees, rate, **plain) for rate in rates}
    gradient = {
        f"gradient, rate {rate:g}": _maker("NDCG", trees, rate, step="gradient", cost=plain["cost"]) for rate in rates
    }
    chosen = {
        "newton": best_on_validation(parts, newton, asked, by),
        "gradient": best_on_validation(parts, gradient, asked, by),
    }
    rate = float(chosen["gradient"][0].rpartition(" ")[2])
    for kind, schedules in (
        ("linear", [rf.Linear(start, slope) for start in (0.1, 0.5) for slope in (0.01, 0.001)]),
        ("exponential", [rf.Exponential(start, slope) for start in (0.1, 0.5) for slope in (100.0, 250.0)]),
    ):
        makes = {
            f"{kind} {schedule.start:g}, {schedule.rate:g}, mu {mu:g}": _maker(
                rf.Scheduled(
                    rf.Term("NDCG", rf.RankNetWeightPairs()), rf.Term("NDCG", rf.SigmoidCost(mu=mu)), schedule
                ),
                trees, rate, step="gradient",
            )
            for schedule in schedules
            for mu in (0.0, 1.0)
        }  # fmt: skip
        chosen[kind] = best_on_validation(parts, makes, asked, by)
    for old, new in (("newton", "gradient"), ("gradient", "linear"), ("gradient", "exponential"), ("newton", "linear")):
        table(f"{chosen[new][0]} (new) against {chosen[old][0]} (old)", chosen[old][1], chosen[new][1], ("NDCG@{}",))


def _maker(objective: Any, trees: int, rate: float, **more: Any) -> Callable[[], Any]:
    return lambda: rf.LambdaMART(objective=objective, learning_rate=rate, **settings(trees, **more))


def agreement(parts: Parts, trees: int) -> None:
    tiers = rf.Graded(["NDCG", "CNDCG:clicks"])
    rows = []
    for train, _, _ in parts:
        instrument = rf.ForceAgreement(tiers)
        rf.LambdaMART("NDCG", **settings(min(trees, 200))).fit(train, instruments=[instrument])
        rows.append([list(row.values()) for row in instrument.rows])
    mean = np.mean(rows, axis=0)
    print(f"{'trees':>6}{'tied, no zeros':>16}{'all pairs':>12}{'points':>9}")
    for place in sorted({1, 10, 50, 100, len(mean) - 1} & set(range(len(mean)))):
        tied, everything = 100 * mean[place]
        print(f"{place:>6}{tied:>15.1f}%{everything:>11.1f}%{tied - everything:>+9.1f}")
    tied, everything = 100 * mean[1:].mean(axis=0)
    print(f"  mean{tied:>15.1f}%{everything:>11.1f}%{tied - everything:>+9.1f}   (first iteration left out)")


def missing(parts: Parts, trees: int) -> None:
    common = settings(trees)
    train, validation, test = parts[0]
    clicks = train.labels["clicks"].copy()
    clicks[np.random.default_rng(0).random(len(clicks)) < 0.7] = np.nan
    thinned = train.with_label("clicks", clicks)
    alone = rf.LambdaMART("NDCG", **common).fit(train, validation=validation)
    asked = ["NDCG@10", "CNDCG@10:clicks", "NDCG@10:fresh"]
    objective = rf.Graded(["NDCG", "CNDCG:clicks", "NDCG:fresh"], [0.6, 0.3, 0.1])
    for name, data in (("all click labels", train), ("70 % of the click labels missing", thinned)):
        three = rf.LambdaMART(objective=objective, **common).fit(data, validation=validation)
        print(f"three tiers, {name}")
        print("\n".join(f"  {one}" for one in three.left_out_))
        print(rf.compare(alone, three, test, asked, names=("NDCG alone", "three tiers")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("graded", "changing", "agreement", "missing"))
    parser.add_argument("data", choices=("artificial", "mslr"))
    parser.add_argument("--queries", type=int, default=3000, help="of the artificial data, in all parts together")
    parser.add_argument("--trees", type=int, default=300)
    given = parser.parse_args()
    parts = artificial(given.queries) if given.data == "artificial" else mslr()
    {"graded": graded, "changing": changing, "agreement": agreement, "missing": missing}[given.what](parts, given.trees)


if __name__ == "__main__":
    main()
