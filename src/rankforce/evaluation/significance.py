"""Means of per-query values with their errors, and tests whether two rankings differ.

Everything takes plain arrays: ``values`` (one per query) and ``weights`` (one per query, or None for equal weights).
A query of weight 0 is no observation: it is left out.
Sums are ``math.fsum``: exact before rounding, so that neither the order of the queries nor threads matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankforce.collective import anybody, exact_total, gathered, total
from rankforce.data.random_streams import Stream
from rankforce.errors import SettingsError
from rankforce.kinds import Number
from rankforce.measures.mean import weighted_mean

EXACT_UP_TO = 16  # differences other than 0: 65,536 patterns of signs are tried one by one
RESAMPLES = 10_000
FLIPS = 100_000
EQUAL = 1e-12  # values nearer than this are the same: they differ by rounding only
_CHUNK = 2_000_000  # entries of a random block held at once


class Interval(NamedTuple):
    low: float
    high: float


class Significance(NamedTuple):
    """The outcome of a two-sided test of "no difference"."""

    statistic: float
    p_value: float


def with_weight(values: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Values and weights of the queries whose weight is not 0."""
    if weights is None or (weights > 0.0).all():
        return values, weights
    return values[weights > 0.0], weights[weights > 0.0]


def standard_error(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The standard error of the mean: √(n/(n−1) · Σ w²(x − mean)²) / Σ w; with equal weights s/√n."""
    values, weights = with_weight(values, weights)
    n = total(len(values))
    if n < 2:
        return math.nan
    share = np.ones(len(values)) if weights is None else weights
    weight = exact_total(share)
    if not weight > 0.0:
        return math.nan
    squares = exact_total((share * (values - weighted_mean(values, weights))) ** 2)
    return math.sqrt(n / (n - 1) * squares) / weight


def t_interval(values: np.ndarray, weights: np.ndarray | None = None, level: float = 0.95) -> Interval:
    """mean ± t(n − 1)·standard error."""
    values, weights = with_weight(values, weights)
    centre = weighted_mean(values, weights)
    error = standard_error(values, weights)
    if math.isnan(error):
        return Interval(math.nan, math.nan)
    from scipy import special  # a fifth of a second, for what not every evaluation asks

    reach = float(special.stdtrit(total(len(values)) - 1, 0.5 + level / 2.0)) * error
    return Interval(centre - reach, centre + reach)


def bootstrap_interval(
    values: np.ndarray,
    weights: np.ndarray | None = None,
    level: float = 0.95,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """The percentile bootstrap over queries: quantiles of the mean of ``resamples`` draws with replacement."""
    values, weights = with_weight(values, weights)
    n = len(values)
    if n < 2:
        return Interval(math.nan, math.nan)
    generator = Stream.BOOTSTRAP.generator(seed)
    means = np.empty(resamples)
    for first, last in _chunks(resamples, n):
        samples = generator.integers(0, n, size=(last - first, n), dtype=np.int32)
        if weights is None:
            means[first:last] = values[samples].mean(axis=1)
        else:
            with np.errstate(invalid="ignore"):
                means[first:last] = (weights * values)[samples].sum(axis=1) / weights[samples].sum(axis=1)
    low, high = np.nanquantile(means, [0.5 - level / 2.0, 0.5 + level / 2.0])
    return Interval(float(low), float(high))


def paired_interval(differences: np.ndarray, weights: np.ndarray | None = None, level: float = 0.95) -> Interval:
    """``t_interval`` of differences; NaN where ``paired_t_test`` is undefined, as both divide by the same error."""
    if math.isnan(paired_t_test(differences, weights).p_value):
        return Interval(math.nan, math.nan)
    return t_interval(differences, weights, level)


def paired_t_test(differences: np.ndarray, weights: np.ndarray | None = None) -> Significance:
    """Student's t-test on the differences of each query: the test of the papers. p = 1 if all differences are 0.

    NaN for fewer than two queries, and where all differences are the same and not 0: their spread, 0 in the sample,
    says nothing about that of other queries, and t would be infinite after two.
    """
    differences, weights = with_weight(differences, weights)
    centre = weighted_mean(differences, weights)
    error = standard_error(differences, weights)
    if math.isnan(error):
        return Significance(math.nan, math.nan)
    if error == 0.0 and centre == 0.0:
        return Significance(0.0, 1.0)
    if not anybody(bool((np.abs(differences - centre) > EQUAL * max(1.0, abs(centre))).any())):
        return Significance(math.nan, math.nan)
    statistic = centre / error
    from scipy import special  # a fifth of a second, for what not every evaluation asks

    return Significance(statistic, float(2.0 * special.stdtr(total(len(differences)) - 1, -abs(statistic))))


def randomisation_test(
    differences: np.ndarray, weights: np.ndarray | None = None, *, flips: int = FLIPS, seed: int = 0
) -> Significance:
    """Fisher's randomisation test: how often does a random exchange of the two rankings, query by query, give a mean
    difference at least as large as the one found?

    All patterns of signs are tried for up to 16 differences other than 0; otherwise ``flips`` random ones, and
    p = (1 + as large) / (1 + flips). The statistic is the mean difference.
    """
    if not len(differences):
        return Significance(math.nan, math.nan)
    shares = differences if weights is None else differences * weights
    shares = shares[shares != 0.0]
    observed_mean = weighted_mean(differences, weights)
    n = len(shares)
    if n == 0:
        return Significance(observed_mean, 1.0)
    # A sum that is equal in exact arithmetic must count as equally large however its terms are rounded.
    bound = abs(math.fsum(shares.tolist())) - 1e-12 * math.fsum(np.abs(shares).tolist())
    tables = _signed_sums(shares)
    if n <= EXACT_UP_TO:
        patterns = np.arange(2**n, dtype="<u8").view(np.uint8).reshape(-1, 8)[:, : len(tables)]
        return Significance(observed_mean, float((np.abs(_sums(tables, patterns)) >= bound).mean()))
    generator = Stream.SIGN_FLIPS.generator(seed)
    as_large = 0
    for first, last in _chunks(flips, len(tables)):
        patterns = generator.integers(0, 256, size=(last - first, len(tables)), dtype=np.uint8)
        as_large += int((np.abs(_sums(tables, patterns)) >= bound).sum())
    return Significance(observed_mean, (1 + as_large) / (1 + flips))


def deciding_p(differences: np.ndarray, weights: np.ndarray | None = None, *, seed: int = 0) -> float:
    """The p-value by which two rankings differ or do not: that of the paired t-test.

    Where all differences are the same and not 0 it is that of the randomisation test; NaN for fewer than two queries.
    """
    p = paired_t_test(differences, weights).p_value
    if not math.isnan(p) or total(len(with_weight(differences, weights)[0])) < 2:
        return p
    everybody = None if weights is None else gathered(weights)
    return randomisation_test(gathered(differences), everybody, seed=seed).p_value


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: p-values that hold for all of several tests together. NaN stays NaN."""
    indices = [place for place, p in enumerate(p_values) if not math.isnan(p)]
    corrected = [math.nan] * len(p_values)
    largest = 0.0
    for step, place in enumerate(sorted(indices, key=lambda place: p_values[place])):
        largest = max(largest, min(1.0, (len(indices) - step) * p_values[place]))
        corrected[place] = largest
    return corrected


def check_level(level: float) -> float:
    """A confidence level, or an error."""
    if not Number(0.0, above=True).holds(level) or level >= 1.0:
        raise SettingsError(f"level must lie between 0 and 1 (0.95 for 95 %), not {level!r}")
    return float(level)


def _signed_sums(shares: np.ndarray) -> np.ndarray:
    """For each eight neighbouring differences, their sum under each of the 256 patterns of signs.

    One random byte then stands for eight coin flips, and one look-up for eight additions.
    """
    padded = np.zeros(-(-len(shares) // 8) * 8)
    padded[: len(shares)] = shares
    signs = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    return padded.reshape(-1, 8) @ signs.T


def _sums(tables: np.ndarray, patterns: np.ndarray) -> np.ndarray:
    return np.take(tables.ravel(), patterns + 256 * np.arange(len(tables))).sum(axis=1)


def _chunks(count: int, width: int) -> Iterator[tuple[int, int]]:
    step = max(1, _CHUNK // max(width, 1))
    for first in range(0, count, step):
        yield first, min(first + step, count)
