"""What chance does to distributions of further queries of the same kind: expectations and bounds of p-values.

No assumption about the shape of any distribution is made: the rows of a query are anything but independent, and there
may be few queries.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from rankforce.data.distributions import Distribution, smoothed

# The mean of Kolmogorov's distribution, in units of the largest standard deviation of a cumulated share. Where the
# documents of a query are alike, shares move together, and it is less, down to half of this.
KS_MEAN = 2.0 * 0.8687


@dataclasses.dataclass(frozen=True)
class NewDocuments:
    """New documents in the bins of a distribution: documents and queries that hold each bin, and (last) no value."""

    documents: np.ndarray
    holders: np.ndarray
    queries: int

    @classmethod
    def of(cls, counts: np.ndarray) -> NewDocuments:
        """Of documents by query and bin, as ``counts_by_query`` gives them."""
        return cls(counts.sum(axis=0), np.count_nonzero(counts, axis=0), len(counts))


def stability_index(known: Distribution, now: NewDocuments) -> float:
    """PSI = Σ (q − p) ln(q / p) over the bins, missing values being one, with half a document more in each."""
    occurring = (known.totals > 0) | (now.documents > 0)
    p, q = smoothed(known.totals[occurring]), smoothed(now.documents[occurring])
    return float(((q - p) * np.log(q / p)).sum())


def largest_step(known: Distribution, now: NewDocuments) -> float:
    """Kolmogorov and Smirnov's largest difference of cumulated shares, at the cuts; NaN where there are no values."""
    then, later = known.totals[:-1], now.documents[:-1]
    if then.sum() == 0 or later.sum() == 0:
        return math.nan
    steps = np.abs(np.cumsum(then) / then.sum() - np.cumsum(later) / later.sum())
    return float(steps.max())


@dataclasses.dataclass(frozen=True)
class Chance:
    """Mean and variance of D² between the training documents and those of so many further queries, without drift."""

    mean: float
    variance: float
    step: float  # the mean of the largest difference of cumulated shares, if documents were independent; else less

    @classmethod
    def of(cls, known: Distribution, known_queries: int, now: NewDocuments) -> Chance:
        documents = float(now.documents[known.common].sum())
        if documents == 0.0:
            return cls(math.nan, math.nan, math.nan)
        one, other = 1.0 / known_queries, 1.0 / now.queries
        total, cubes = one + other, one**3 + other**3
        # Shares of shorter queries vary more: at most as if their documents were independent.
        shorter = max(1.0, (known.totals[known.common].sum() / known_queries) / (documents / now.queries))
        variance = cubes * known.spread + 2.0 * (total**2 - cubes) * known.squares
        return cls(
            mean=shorter * total * known.trace,
            variance=shorter**2 * variance,
            step=KS_MEAN * math.sqrt(shorter * total * known.steps),
        )


def distance(known: Distribution, now: NewDocuments) -> float:
    """D² of the bins that enough queries hold; see ``rankforce.data.distributions``."""
    common = known.common
    then, later = known.totals[common], now.documents[common]
    if later.sum() == 0:
        return math.nan
    return float(((later / later.sum() - then / then.sum()) ** 2 / smoothed(then)).sum())


def exceedance(value: float, chance: Chance) -> float:
    """At most this is the probability of such a distance or a larger one: Cantelli's inequality."""
    if not value > chance.mean:  # NaN, too
        return 1.0
    return chance.variance / (chance.variance + (value - chance.mean) ** 2) if chance.variance > 0.0 else 0.0


def more_holders(then: int, queries_then: int, now: int, queries_now: int) -> float:
    """The probability that at least ``now`` of ``then + now`` queries are among the new ones, if all are dealt evenly.

    Fisher's exact test, one-sided. If none of the training queries has something (a value beyond the range, a missing
    one), how probable it is that only new ones have.
    """
    if now == 0:
        return 1.0
    held, everyone = then + now, queries_then + queries_now
    counts = np.arange(now, min(held, queries_now) + 1)
    return min(1.0, float(np.exp(_ways(held, counts, everyone, queries_now)).sum()))


def _ways(held: int, counts: np.ndarray, everyone: int, drawn: int) -> np.ndarray:
    """The logarithm of the hypergeometric probability of each count."""

    def log_choose(n: float | np.ndarray, k: float | np.ndarray) -> np.ndarray:
        return special.gammaln(np.add(n, 1)) - special.gammaln(np.add(k, 1)) - special.gammaln(np.subtract(n, k) + 1)

    return log_choose(held, counts) + log_choose(everyone - held, drawn - counts) - log_choose(everyone, drawn)


def least_of(p_values: Sequence[float]) -> float:
    """The p-value of several tests of one thing: the least, times their number."""
    return min(1.0, len(p_values) * min(p_values)) if p_values else 1.0
