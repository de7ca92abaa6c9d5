"""Rules that decide whether a result agrees with a paper. They are part of an experiment.

A claim is a sentence of a paper. Its rule looks at the rows of a run and answers with one of three verdicts. Two kinds
of rules serve nearly all claims:

``significant`` : one ranking is better than another, on test queries. The paired t-test over the queries of all seeds
    together, at 5 %, must say so, at most of the measures; and the sign must be the same for at least four fifths of
    the seeds: the test takes trained models as given, and what other training data would do only seeds can tell.
``each_seed`` : a number lies in a range. It must do so for every seed. Where chance has a part in it, ``over_seeds``
    asks for the interval of its mean.
``none_of`` : none of many random trials succeeds. All trials are counted together, and their share has an exact bound.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankforce.evaluation.significance import EQUAL, t_interval
from rankforce.reproducing.rows import Rows

LEVEL = 0.05  # of the tests
SHARE_OF_SEEDS = 0.8  # that must have the same sign


class Verdict(enum.StrEnum):
    AGREES = "agrees"
    DIFFERS = "differs"
    OPEN = "cannot be told at this size"


class Outcome(NamedTuple):
    verdict: Verdict
    evidence: str


@dataclasses.dataclass(frozen=True)
class Claim:
    """What a paper says, the rule in words, and the rule as code."""

    statement: str
    rule: str
    judge: Callable[[Rows], Outcome]


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """Of several claims: agrees if all agree, differs if one does."""
    if all(one is Verdict.AGREES for one in verdicts):
        return Verdict.AGREES
    return Verdict.DIFFERS if Verdict.DIFFERS in verdicts else Verdict.OPEN


class PooledDifference(NamedTuple):
    """A mean of paired differences, of the queries of all seeds together."""

    queries: int
    seeds: int
    mean: float
    error: float
    p_value: float
    p_of_seeds: float  # a paired t-test over the means of the seeds: NaN for fewer than two
    up: float  # share of the seeds whose mean is higher
    largest: float  # mean of a seed

    def in_words(self) -> str:
        text = f"{self.mean:+.4f} ± {1.96 * self.error:.4f}, p {_p(self.p_value)}"
        if self.seeds > 1:
            text += f"; up in {round(self.up * self.seeds)} of {self.seeds} seeds, p of seeds {_p(self.p_of_seeds)}"
        return text


def pooled(rows: Rows) -> PooledDifference:
    """From rows of kind "difference": mean (``value``), ``deviation`` and ``queries`` of every part of every seed."""
    counts, means, deviations = (rows.values(name) for name in ("queries", "value", "deviation"))
    total = int(counts.sum())
    if total < 2:
        return PooledDifference(total, 0, *[math.nan] * 6)
    mean = float((counts * means).sum() / total)
    squares = float(((counts - 1) * deviations**2 + counts * (means - mean) ** 2).sum())
    error = math.sqrt(squares / (total - 1) / total)
    by_seed = np.array([_weighted_mean(rows.where(seed=seed)) for seed in rows.distinct("seed")])
    p_of_seeds = math.nan
    if len(by_seed) > 1:
        p_of_seeds = _two_sided(
            float(by_seed.mean()), float(by_seed.std(ddof=1) / math.sqrt(len(by_seed))), len(by_seed)
        )
    return PooledDifference(
        total, len(by_seed), mean, error, _two_sided(mean, error, total), p_of_seeds, float((by_seed > 0).mean()),
        float(by_seed.max()),
    )  # fmt: skip


def significant(
    statement: str,
    new: str,
    old: str,
    measures: Sequence[str],
    *,
    paper: Mapping[str, float] | None = None,
    **where: Any,
) -> Claim:
    """``new`` is better than ``old``; ``paper`` has the differences that the paper found, by measure."""
    at = measures[0] if len(measures) == 1 else f"more than half of {measures[0]} … {measures[-1]}"
    rule = (
        f"agrees if {new} is significantly higher than {old} at {at} (paired t-test over the queries of all seeds, "
        f"p < {LEVEL:g}), with this sign for at least {SHARE_OF_SEEDS:.0%} of the seeds, and significantly the other "
        "way nowhere; differs if it is so the other way round"
    )
    if paper:
        rule += (
            "; where it is neither, a 95 % interval, and all seeds, below a third of what the paper found count as the "
            "other way round"
        )

    def judge(rows: Rows) -> Outcome:
        differences = rows.where(kind="difference", arm=new, against=old, **where)
        if not len(differences):
            return Outcome(Verdict.OPEN, "not run")
        found = {measure: pooled(differences.where(measure=measure)) for measure in measures}
        signs = [_sign(one) for one in found.values()]
        if paper:
            nothing = [_is_below(one, paper[measure] / 3) for measure, one in found.items()]
            signs = [-1 if sign == 0 and below else sign for sign, below in zip(signs, nothing, strict=True)]
        evidence = "; ".join(f"{measure} {one.in_words()}" for measure, one in shown_of(found).items())
        return Outcome(_majority(signs), evidence)

    return Claim(statement, rule, judge)


def alike(statement: str, new: str, old: str, measures: Sequence[str], *, margin: float, **where: Any) -> Claim:
    """Two rankings are not told apart, and not for want of queries alone."""
    rule = (
        f"agrees if {new} and {old} do not differ significantly (p ≥ {LEVEL:g}) at any of {', '.join(measures)} and "
        f"the 95 % interval lies within ± {margin:g}; differs if they differ significantly at more than half of these "
        f"and by more than {margin:g}"
    )

    def judge(rows: Rows) -> Outcome:
        differences = rows.where(kind="difference", arm=new, against=old, **where)
        if not len(differences):
            return Outcome(Verdict.OPEN, "not run")
        found = {measure: pooled(differences.where(measure=measure)) for measure in measures}
        evidence = "; ".join(f"{measure} {one.in_words()}" for measure, one in shown_of(found).items())
        apart = [one.p_value < LEVEL for one in found.values()]
        far = [one.p_value < LEVEL and abs(one.mean) > margin for one in found.values()]
        close = [abs(one.mean) + 1.96 * one.error <= margin for one in found.values()]
        if not any(apart) and all(close):
            return Outcome(Verdict.AGREES, evidence)
        return Outcome(Verdict.DIFFERS if 2 * sum(far) > len(far) else Verdict.OPEN, evidence)

    return Claim(statement, rule, judge)


def each_seed(
    statement: str,
    number: Callable[[Rows], float],
    *,
    what: str,
    least: float = -math.inf,
    most: float = math.inf,
    form: str = ".3g",
) -> Claim:
    """A number of the rows of a seed lies between ``least`` and ``most``, for every seed."""
    if most == math.inf:
        span = f"is at least {least:g}"
    elif least == -math.inf:
        span = f"is at most {most:g}"
    else:
        span = f"is {least:g}" if least == most else f"lies between {least:g} and {most:g}"
    rule = f"agrees if {what} {span} for every seed, differs if for none"

    def judge(rows: Rows) -> Outcome:
        seeds = rows.distinct("seed")
        numbers = [float(number(rows.where(seed=seed))) for seed in seeds]
        evidence = f"{what}: {', '.join(format(one, form) for one in numbers)}"
        if not numbers or any(map(math.isnan, numbers)):
            return Outcome(Verdict.OPEN, evidence)
        inside = [least <= one <= most for one in numbers]
        if all(inside):
            return Outcome(Verdict.AGREES, evidence)
        return Outcome(Verdict.OPEN if any(inside) else Verdict.DIFFERS, evidence)

    return Claim(statement, rule, judge)


def over_seeds(statement: str, number: Callable[[Rows], float], *, what: str, form: str = "+.4f") -> Claim:
    """A number that chance has a part in is positive: its mean over seeds, by their t-interval."""
    rule = f"agrees if the 95 % t-interval over seeds of the {what} lies above 0, differs if it lies below"

    def judge(rows: Rows) -> Outcome:
        numbers = np.array([float(number(rows.where(seed=seed))) for seed in rows.distinct("seed")])
        evidence = f"{what}: {', '.join(format(one, form) for one in numbers)}"
        low, high = t_interval(numbers)
        if math.isnan(low) or low <= 0.0 <= high:
            return Outcome(Verdict.OPEN, evidence)
        return Outcome(Verdict.AGREES if low > 0.0 else Verdict.DIFFERS, evidence)

    return Claim(statement, rule, judge)


def best_of(statement: str, arm: str, others: Sequence[str], measure: str, **where: Any) -> Claim:
    """One arm is better than each of the others."""
    rule = (
        f"agrees if {arm} is significantly higher at {measure} than each of {', '.join(others)} (paired t-test over "
        f"the queries of all seeds, p < {LEVEL:g}, the same sign for at least {SHARE_OF_SEEDS:.0%} of the seeds); "
        "differs if it is significantly lower than one of them"
    )

    def judge(rows: Rows) -> Outcome:
        differences = rows.where(kind="difference", arm=arm, measure=measure, **where)
        if not len(differences):
            return Outcome(Verdict.OPEN, "not run")
        found = {other: pooled(differences.where(against=other)) for other in others}
        signs = [_sign(one) for one in found.values()]
        evidence = "; ".join(f"− {other} {one.mean:+.4f} (p {_p(one.p_value)})" for other, one in found.items())
        if all(sign == 1 for sign in signs):
            return Outcome(Verdict.AGREES, evidence)
        return Outcome(Verdict.DIFFERS if -1 in signs else Verdict.OPEN, evidence)

    return Claim(statement, rule, judge)


def none_of(
    statement: str, count: Callable[[Rows], tuple[int, int]], *, what: str, small: float, claimed: float
) -> Claim:
    """None of many random trials succeeds. ``count`` gives (successes, trials) of all seeds and data together."""
    rule = (
        f"agrees if there are no {what} in all seeds and data together, among so many that the exact 95 % bound of "
        f"their share is at most {small:g}; differs if that bound from below is above {claimed:g}, as much as the "
        "paper leaves open"
    )

    def judge(rows: Rows) -> Outcome:
        found, trials = count(rows)
        low, high = binomial_bounds(found, trials)
        evidence = f"{found:,} of {trials:,} {what}; share at least {low:.3g}, at most {high:.3g}"
        if found == 0 and high <= small:
            return Outcome(Verdict.AGREES, evidence)
        return Outcome(Verdict.DIFFERS if low > claimed else Verdict.OPEN, evidence)

    return Claim(statement, rule, judge)


def binomial_bounds(found: int, trials: int) -> tuple[float, float]:
    """Below and above which the share of successes lies with 95 % each (Clopper and Pearson)."""
    from scipy import special  # a fifth of a second: lists of experiments need no tests

    low = float(special.betaincinv(found, trials - found + 1, LEVEL)) if found else 0.0
    high = float(special.betaincinv(found + 1, trials - found, 1.0 - LEVEL)) if found < trials else 1.0
    return low, high


def shown_of(found: dict[str, PooledDifference]) -> dict[str, PooledDifference]:
    """Of many measures the first, the middle and the last: pages have the others in their table."""
    names = list(found)
    if len(names) <= 4:
        return found
    return {name: found[name] for name in (names[0], names[len(names) // 2], names[-1])}


def _sign(one: PooledDifference) -> int:
    """1 or −1 for a difference that is significant and has this sign for most seeds, else 0."""
    if not one.p_value < LEVEL:
        return 0
    share = one.up if one.mean > 0 else 1.0 - one.up
    return int(math.copysign(1, one.mean)) if share >= SHARE_OF_SEEDS else 0


def _is_below(one: PooledDifference, much: float) -> bool:
    """Measured closely enough to say that it is less, in no seed as much."""
    return one.mean + 1.96 * one.error < much and one.largest < much


def _majority(signs: list[int]) -> Verdict:
    if -1 not in signs and 2 * signs.count(1) > len(signs):
        return Verdict.AGREES
    return Verdict.DIFFERS if 1 not in signs and 2 * signs.count(-1) > len(signs) else Verdict.OPEN


def _weighted_mean(rows: Rows) -> float:
    counts, means = rows.values("queries"), rows.values("value")
    return float((counts * means).sum() / counts.sum())


def _two_sided(mean: float, error: float, count: int) -> float:
    """Of a t-test; where all differences are the same, of the randomisation test, which has a closed form there."""
    if not error > EQUAL * max(1.0, abs(mean)):
        return 1.0 if abs(mean) <= EQUAL else 2.0 ** (1 - count)  # as large are the two patterns of equal signs alone
    from scipy import special  # a fifth of a second: lists of experiments need no tests

    return float(2.0 * special.stdtr(count - 1, -abs(mean / error)))


def _p(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "< 0.0001" if value < 0.0001 else f"{value:.2g}"
