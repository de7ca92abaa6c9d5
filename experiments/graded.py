"""Graded and changing objectives: what Svore, Volkovs and Burges (2011) report, on data at hand.

    python experiments/graded.py graded artificial      # 1. graded against NDCG alone, @1 to @10, Holm over the ten
    python experiments/graded.py graded mslr            #    the same on the MSLR sample, clicks = feature 134
    python experiments/graded.py search artificial      #    weights="search" per draw, tested once
    python experiments/graded.py changing artificial    # 2. Newton, gradient, linear and exponential schedules
    python experiments/graded.py changing mslr
    python experiments/graded.py agreement artificial   # 3. agreement of forces, all click pairs and tied ones
    python experiments/graded.py agreement mslr
    python experiments/graded.py missing artificial     # 4. three tiers, 70 % of the click labels missing

Steps and schedules are compared as the papers have them (presets "2010" and "2011") and with the program's own
λ-function and splits; ``--preset`` trains as published in the other experiments.

The defaults take a few minutes each; docs/objectives.md names the options of the runs it reports.

Artificial data: a document has 16 features of relevance and 6 of taste. Relevance r and taste t are random cubic
functions of their own features, with variance 1. The grade is r with a judge's noise (0.5), cut into the shares
``--grades``, by default those of web data. Users are drawn by 0.5 × grade + 0.4 × r + ``--taste`` × t + 0.3 × noise:
within a grade clicks still tell of relevance, and they tell of a taste that grades know nothing of. The click label is
the clicked share of 50 impressions, its chance a logistic function of that sum; half of the documents were never shown
and have 0 clicks. ``--detail 0`` gives the weight of r to the grade: clicks then know no more of relevance than grades.
The first line printed says in how many pairs of shown documents with different grades the worse has more clicks. Each
draw has functions, training, validation and test queries of its own. A third label, ``fresh``, is a coin that one
feature tells with noise.

Settings are chosen on the validation queries of development draws; what is chosen is trained and tested on other draws,
once. MSLR has no second draw: five folds, settings chosen on a quarter of the training folds, each query ranked by a
model that did not see it; the click label is log(1 + c)/max of the click count c, features 134 to 136 are no inputs.

Queries of all draws (folds) are pooled. Tests are paired t-tests over queries, two-sided, Holm over the ten cut-offs of
a measure; ± is half a 95 % interval of the mean difference. Both take the trained models as given: what other training
data would do is told by "up in", the number of draws (folds) with a higher mean, and by "p of draws", a paired t-test
over their means.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rankforce as rf
from rankforce.data.artificial.artificial import WEB_SHARES, Cubic, grades_by_quantile
from rankforce.evaluation.evaluate import evaluate
from rankforce.evaluation.result import ByMeasure
from rankforce.evaluation.significance import holm, paired_t_test, t_interval

CUTS = range(1, 11)
NDCGS = [f"NDCG@{cut}" for cut in CUTS]
CNDCGS = [f"CNDCG@{cut}:clicks" for cut in CUTS]
DOCUMENTS = 40  # per query
FIRST_REPORTED = 7000  # seed of the first draw that is reported; development draws count from 0
CONSTANT_SHARES = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5)  # of the click tier, as the paper has them
FALLING_SHARES = ((0.5, 0.1), (0.5, 0.2), (0.7, 0.1), (0.7, 0.2), (0.8, 0.2), (0.8, 0.3))  # of the first tree, the last
RATES = (0.05, 0.1, 0.2, 0.5, 1.0)
SCHEDULES: dict[str, list[rf.schedules.Linear] | list[rf.schedules.Exponential]] = {
    "linear": [rf.schedules.Linear(start, rate) for start in (0.1, 0.25, 0.5) for rate in (0.1, 0.01, 0.001)],
    "exponential": [rf.schedules.Exponential(start, rate) for start in (0.1, 0.25, 0.5) for rate in (100.0, 250.0)],
}

Values = list[ByMeasure[np.ndarray]]  # per draw: the values of its queries, by measure
Make = Callable[[], Any]


class Draw(NamedTuple):
    train: rf.Dataset
    validation: rf.Dataset
    test: rf.Dataset


class Data(NamedTuple):
    development: list[Draw]
    reported: list[Draw]


def artificial(given: argparse.Namespace) -> Data:
    development, reported = (
        [artificial_draw(first + number, given) for number in range(count)]
        for first, count in ((0, given.development), (FIRST_REPORTED, given.draws))
    )
    conflict = np.mean([conflict_of(draw.train) for draw in reported])
    print(
        f"{given.development} development and {given.draws} reported draws of {given.train:,} training, "
        f"{given.validation:,} validation and {given.test:,} test queries of {DOCUMENTS} documents; "
        f"grades and clicks disagree in {100 * conflict:.0f} % of the pairs",
        flush=True,
    )
    return Data(development, reported)


def artificial_draw(seed: int, given: argparse.Namespace) -> Draw:
    sizes = (given.train, given.validation, given.test)
    random = np.random.default_rng(seed)
    n = sum(sizes) * DOCUMENTS
    features = random.uniform(-1.0, 1.0, (n, 22)).astype(np.float32)
    relevance = standardised(Cubic.draw(16, 2 * seed)(features[:, :16]))
    taste = standardised(Cubic.draw(6, 2 * seed + 1)(features[:, 16:]))
    grades = grades_by_quantile(relevance + 0.5 * random.standard_normal(n), given.grades)
    drawn = standardised(
        (0.9 - given.detail) * grades + given.detail * relevance + given.taste * taste + 0.3 * random.standard_normal(n)
    )
    clicks = random.binomial(50, 1.0 / (1.0 + np.exp(0.8 - 1.2 * drawn))) / 50
    clicks[random.random(n) < 0.5] = 0.0
    fresh = random.integers(0, 2, n).astype(float)
    features = np.column_stack([features, fresh + 0.5 * random.standard_normal(n)])
    queries = np.repeat(np.arange(1, sum(sizes) + 1), DOCUMENTS)
    data = rf.Dataset(features, grades, queries, labels={"clicks": clicks, "fresh": fresh})
    return Draw(*data.split(*(size / sum(sizes) for size in sizes), seed=0))


def standardised(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def conflict_of(data: rf.Dataset) -> float:
    """The share of pairs with different grades and different clicks, none 0, in which these disagree."""
    grades, clicks = (data.labels[source].reshape(-1, DOCUMENTS) for source in ("grades", "clicks"))
    shown = (clicks[:, :, None] > 0) & (clicks[:, None, :] > 0)
    signs = np.sign(grades[:, :, None] - grades[:, None, :]) * np.sign(clicks[:, :, None] - clicks[:, None, :]) * shown
    return float((signs < 0).sum() / (signs != 0).sum())


def mslr() -> Data:
    data = rf.read(Path(os.environ.get("RANKFORCE_DATA", "data")) / "mslr-sample" / "all.txt")
    counts = np.maximum(data.features[:, 133].astype(np.float64), 0.0)
    clicks = np.log1p(counts) / np.log1p(counts).max()
    data = rf.Dataset(data.features[:, :133], data.labels["grades"], data.qid, labels={"clicks": clicks})
    folds = []
    for rest, test in data.folds(5, seed=0):
        train, validation = rest.split(0.75, 0.25, seed=1)
        folds.append(Draw(train, validation, test))
    return Data(folds, folds)


def maker(given: argparse.Namespace, objective: Any = "NDCG", **more: Any) -> Make:
    settings: dict[str, Any] = {
        "n_trees": given.trees, "learning_rate": given.rate, "n_leaves": 15, "growth": "leafwise", "min_documents": 30,
        "preset": given.preset, "threads": given.threads, "progress": False,
    }  # fmt: skip
    return lambda: rf.LambdaMART(objective=objective, **(settings | more))


def developed(data: Data, make: Make, asked: list[str]) -> Values:
    """Values of the validation queries of development draws."""
    return [evaluate(make().fit(draw.train), draw.validation, asked).per_query for draw in data.development]


def tested(data: Data, make: Make, asked: list[str]) -> Values:
    """Values of the test queries of reported draws."""
    return [evaluate(make().fit(draw.train), draw.test, asked).per_query for draw in data.reported]


def mean_of(values: Values, names: list[str]) -> float:
    """The mean over measures of the mean over all queries."""
    return float(np.mean([np.nanmean(pooled(values, name)) for name in names]))


def pooled(values: Values, name: str) -> np.ndarray:
    return np.concatenate([one[name] for one in values])


def table(title: str, old: Values, new: Values, kinds: Iterable[list[str]] = (NDCGS, CNDCGS)) -> None:
    """Differences at every cut-off with p-values, Holm's over the cut-offs of one kind."""
    print(f"\n{title}; {len(pooled(old, NDCGS[0])):,} queries")
    print(f"  {'measure':<17}{'old':>8}{'new':>8}{'change':>9}{'±':>8}{'p':>9}{'Holm':>9}  up in")
    for names in kinds:
        differences = [pooled(new, name) - pooled(old, name) for name in names]
        counted = [one[~np.isnan(one)] for one in differences]
        tests = [paired_t_test(one) for one in counted]
        corrected = holm([test.p_value for test in tests])
        for name, one, test, together in zip(names, counted, tests, corrected, strict=True):
            reach = t_interval(one).high - one.mean()
            up = (mean_changes(old, new, name) > 0).sum()
            print(
                f"  {name:<17}{np.nanmean(pooled(old, name)):>8.4f}{np.nanmean(pooled(new, name)):>8.4f}"
                f"{one.mean():>+9.4f}{reach:>8.4f}{test.p_value:>9.4f}{together:>9.4f}  {up}/{len(old)}",
                flush=True,
            )


def tiers(share: float) -> rf.Graded:
    return rf.Graded(["NDCG", "CNDCG:clicks"], [1.0 - share, share])


def falling(first: float, last: float, trees: int) -> rf.Scheduled:
    """The share of the click tier falls in a straight line from the first tree to the last."""
    return rf.Scheduled(tiers(first), tiers(last), rf.schedules.Linear(0.0, 1.0 / trees))


def graded(data: Data, given: argparse.Namespace) -> None:
    """Chosen: the highest CNDCG among what does not lower NDCG on development data, means over the ten cut-offs."""
    asked = NDCGS + CNDCGS
    alone = maker(given)
    objectives: dict[str, Any] = {f"share {share:g}": tiers(share) for share in CONSTANT_SHARES}
    objectives |= {f"share {a:g} to {b:g}": falling(a, b, given.trees) for a, b in FALLING_SHARES}
    without = developed(data, alone, asked)
    print("\ndevelopment draws, means over the ten cut-offs")
    print(f"  {'NDCG alone':<18}NDCG  {mean_of(without, NDCGS):.4f}  CNDCG  {mean_of(without, CNDCGS):.4f}")
    allowed: dict[str, float] = {}
    for name, objective in objectives.items():
        values = developed(data, maker(given, objective), asked)
        first, second = (mean_of(values, names) - mean_of(without, names) for names in (NDCGS, CNDCGS))
        print(f"  {name:<18}NDCG {first:+.4f}  CNDCG {second:+.4f}", flush=True)
        if first >= 0.0:
            allowed[name] = second
    chosen = max(allowed, key=allowed.__getitem__, default="")
    print(f"chosen: {chosen or 'nothing, for all lower NDCG'}")
    old = tested(data, alone, asked)
    for name in dict.fromkeys([chosen, *given.also]):
        if name in objectives:
            new = tested(data, maker(given, objectives[name]), asked)
            table(f"graded, {name} (new) against NDCG alone (old)", old, new)


def search(data: Data, given: argparse.Namespace) -> None:
    """The weights that ``weights="search"`` finds on the validation queries of each draw, tested once."""
    asked = NDCGS + CNDCGS
    searching = maker(given, rf.Graded(["NDCG", "CNDCG:clicks"], weights="search"))
    new: Values = []
    for draw in data.reported:
        ranker = searching().fit(draw.train, validation=draw.validation)
        print(f"\n{ranker.frontier_}", flush=True)
        new.append(evaluate(ranker, draw.test, asked).per_query)
    table("weights found by search (new) against NDCG alone (old)", tested(data, maker(given), asked), new)


class Change(NamedTuple):
    """From NDCG with a λ-function to a measure with the sigmoid cost, by the gradient step."""

    lambda_function: rf.lambdas.PairwiseLambdaFunction
    gradient: dict[str, Any]  # settings of the gradient step
    schedule: rf.schedules.Linear | rf.schedules.Exponential
    mu: float
    measure: str
    learning_rate: float

    def maker(self, given: argparse.Namespace) -> Make:
        second = rf.Term(self.measure, rf.lambdas.SigmoidCost(mu=self.mu))
        objective = rf.Scheduled(rf.Term("NDCG", self.lambda_function), second, self.schedule)
        return maker(given, objective, learning_rate=self.learning_rate, **self.gradient)

    def __str__(self) -> str:
        start, pace = self.schedule.start, self.schedule.rate
        return f"start {start:g}, pace {pace:g}, mu {self.mu:g}, to {self.measure}, rate {self.learning_rate:g}"


def changing(data: Data, given: argparse.Namespace) -> None:
    """Newton's step, the gradient step, and schedules from the λ-function of each to the sigmoid cost."""
    ways: dict[str, tuple[rf.lambdas.PairwiseLambdaFunction, dict[str, Any], dict[str, Any]]] = {
        "published": (rf.lambdas.RankNetWeightPairs(), {"preset": "2010"}, {"preset": "2011"}),
        "default": (rf.lambdas.NearPairs(), {"preset": None, "step": "newton"}, {"preset": None, "step": "gradient"}),
    }
    for kind in given.ways:
        lambda_function, newton, gradient = ways[kind]
        print(f"\n{kind}: {lambda_function}, {newton} and {gradient}; chosen by NDCG@3 on development draws")
        measures = ("NDCG", "NDCG@3")
        makes: dict[str, dict[str, Make]] = {"newton": {}, "gradient": {}}
        for rate in RATES:
            for measure in measures:
                common = {"objective": rf.Term(measure, lambda_function), "learning_rate": rate}
                makes["newton"][f"{measure}, rate {rate:g}"] = maker(given, **common, **newton)
                makes["gradient"][f"{measure}, rate {rate:g}"] = maker(given, **common, **gradient)
        chosen = {name: best(data, name, makes[name]) for name in makes}
        rate = float(chosen["gradient"].rpartition(" ")[2])
        centres = (0.0, 1.0) if given.full else (1.0,)
        for name, schedules in SCHEDULES.items():
            several = [
                Change(lambda_function, gradient, schedule, mu, measure, rate)
                for schedule in schedules
                if given.full or schedule.start == 0.25
                for mu in centres
                for measure in measures
            ]
            found = best(data, name, {str(one): one.maker(given) for one in several})
            change = next(one for one in several if str(one) == found)
            nearby = [change._replace(learning_rate=factor * rate) for factor in (0.5, 1.0, 2.0)]
            makes[name] = {str(one): one.maker(given) for one in nearby}
            chosen[name] = best(data, name, makes[name])
        values = {name: tested(data, makes[name][chosen[name]], NDCGS) for name in makes}
        compact_table(values)


def best(data: Data, kind: str, makes: dict[str, Make]) -> str:
    """Of several settings, the name of the one with the highest NDCG@3 on development draws."""
    found = {name: mean_of(developed(data, make, NDCGS), ["NDCG@3"]) for name, make in makes.items()}
    ordered = sorted(found, key=found.__getitem__, reverse=True)
    print(f"  {kind}: {len(ordered)} settings, NDCG@3 from {found[ordered[-1]]:.4f} to {found[ordered[0]]:.4f}")
    for name in ordered[:3]:
        print(f"    {found[name]:.4f}  {name}", flush=True)
    return ordered[0]


def compact_table(values: dict[str, Values]) -> None:
    """NDCG@1 to @10 of every kind, and differences; * is significant by Holm over the ten, ± half a 95 % interval."""
    print(f"\n  {'test NDCG@':<27}" + "".join(f"{cut:>9}" for cut in CUTS))
    for name, one in values.items():
        print(f"  {name:<27}" + "".join(f"{np.nanmean(pooled(one, measure)):>8.4f} " for measure in NDCGS))
    for new, old in (
        ("gradient", "newton"), ("linear", "gradient"), ("exponential", "gradient"), ("linear", "newton"),
        ("exponential", "newton"),
    ):  # fmt: skip
        differences = [pooled(values[new], measure) - pooled(values[old], measure) for measure in NDCGS]
        counted = [one[~np.isnan(one)] for one in differences]
        corrected = holm([paired_t_test(one).p_value for one in counted])
        by_draw = [mean_changes(values[old], values[new], measure) for measure in NDCGS]
        marks = ["*" if together < 0.05 else " " for together in corrected]
        changes = (f"{one.mean():>+8.4f}{mark}" for one, mark in zip(counted, marks, strict=True))
        print(f"  {new + ' − ' + old:<27}" + "".join(changes))
        print(f"  {'  ±':<27}" + "".join(f"{t_interval(one).high - one.mean():>8.4f} " for one in counted))
        print(f"  {'  p (Holm)':<27}" + "".join(f"{p:>8.2g} " for p in corrected))
        print(f"  {'  up in':<27}" + "".join(f"{f'{(one > 0).sum()}/{len(one)}':>8} " for one in by_draw))
        of_draws = (paired_t_test(one).p_value for one in by_draw)
        print(f"  {'  p of draws':<27}" + "".join(f"{p:>8.2g} " for p in of_draws), flush=True)


def mean_changes(old: Values, new: Values, name: str) -> np.ndarray:
    """The change of the mean over queries, of every draw."""
    return np.array(
        [np.nanmean(after[name]) - np.nanmean(before[name]) for before, after in zip(old, new, strict=True)]
    )


def agreement(data: Data, given: argparse.Namespace) -> None:
    rows = []
    for draw in data.reported:
        instrument = rf.diagnostics.ForceAgreement(tiers(0.5))
        maker(given)().fit(draw.train, instruments=[instrument])
        rows.append([list(row.values()) for row in instrument.rows])
    mean = np.mean(rows, axis=0)
    print(f"{'trees':>6}{'tied, no zeros':>16}{'all pairs':>12}{'points':>9}")
    for place in sorted({1, 10, 50, 100, len(mean) - 1} & set(range(len(mean)))):
        tied, everything = 100 * mean[place]
        print(f"{place:>6}{tied:>15.1f}%{everything:>11.1f}%{tied - everything:>+9.1f}")
    tied, everything = 100 * mean[1:].mean(axis=0)
    print(f"  mean{tied:>15.1f}%{everything:>11.1f}%{tied - everything:>+9.1f}   (first iteration left out)")


def missing(data: Data, given: argparse.Namespace) -> None:
    train, _, test = data.reported[0]
    clicks = train.labels["clicks"].copy()
    clicks[np.random.default_rng(0).random(len(clicks)) < 0.7] = np.nan
    thinned = train.with_label("clicks", clicks)
    alone = maker(given)().fit(train)
    asked = ["NDCG@10", "CNDCG@10:clicks", "NDCG@10:fresh"]
    three = maker(given, rf.Graded(["NDCG", "CNDCG:clicks", "NDCG:fresh"], [0.6, 0.3, 0.1]))
    for name, part in (("all click labels", train), ("70 % of the click labels missing", thinned)):
        ranker = three().fit(part)
        print(f"\nthree tiers, {name}")
        print("\n".join(f"  {one}" for one in ranker.left_out_))
        print(rf.compare(alone, ranker, test, asked, names=("NDCG alone", "three tiers")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("graded", "search", "changing", "agreement", "missing"))
    parser.add_argument("data", choices=("artificial", "mslr"))
    parser.add_argument("--development", type=int, default=1, help="draws that settings are chosen on")
    parser.add_argument("--draws", type=int, default=2, help="draws that are reported")
    parser.add_argument("--train", type=int, default=500, help="training queries of a draw")
    parser.add_argument("--validation", type=int, default=1000, help="validation queries of a draw")
    parser.add_argument("--test", type=int, default=2000, help="test queries of a draw")
    parser.add_argument("--grades", type=float, nargs="+", default=WEB_SHARES, help="share of each grade, from 0")
    parser.add_argument("--taste", type=float, default=1.0, help="how much taste counts in clicks")
    parser.add_argument("--detail", type=float, default=0.4, help="how much clicks tell of relevance within a grade")
    parser.add_argument("--trees", type=int, default=300)
    parser.add_argument("--rate", type=float, default=0.1, help="learning rate where it is not searched for")
    parser.add_argument(
        "--preset", choices=("2010", "2011"), help="LambdaMART as published, where steps are not compared"
    )
    parser.add_argument("--ways", nargs="+", choices=("published", "default"), default=("published", "default"))
    parser.add_argument("--also", nargs="*", default=[], help="candidates to test beside the chosen: 'share 0.2'")
    parser.add_argument("--full", action="store_true", help="changing: all starts and centres of the sweep")
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    data = artificial(given) if given.data == "artificial" else mslr()
    experiments = {
        "graded": graded, "search": search, "changing": changing, "agreement": agreement, "missing": missing
    }  # fmt: skip
    experiments[given.what](data, given)


if __name__ == "__main__":
    main()
