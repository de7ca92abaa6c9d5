"""Products of sums over products of sums, with errors by the bootstrap and by the delta method.

Everything that is added up over sessions (or queries) is a column; an estimate is a ratio of products of the columns'
sums. Units are drawn with replacement; all estimates see the same draws, so that differences of two have intervals,
too.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy import special

from rankforce.data.random_streams import Stream
from rankforce.evaluation.significance import Interval

MOST_UNITS = 20_000  # more are put into so many bundles at random, which are drawn in their place
_ENTRIES_AT_ONCE = 2_000_000


@dataclasses.dataclass(frozen=True)
class Ratio:
    """Which columns are multiplied, and which they are divided by."""

    above: tuple[int, ...]
    below: tuple[int, ...]

    def values(self, sums: np.ndarray) -> np.ndarray:
        """Its value for sums (draws, columns); NaN where there is nothing to divide by."""
        with np.errstate(invalid="ignore", divide="ignore"):
            found = sums[:, self.above].prod(axis=1) / sums[:, self.below].prod(axis=1)
        return np.where(np.isfinite(found), found, np.nan)

    def slopes(self, sums: np.ndarray) -> np.ndarray:
        """Its derivative in every column's sum."""
        slopes = np.zeros(len(sums))
        below = math.prod(sums[list(self.below)])
        value = math.prod(sums[list(self.above)]) / below if below else math.nan
        for column in self.above:
            slopes[column] += math.prod(sums[one] for one in self.above if one != column) / below if below else math.nan
        for column in self.below:
            slopes[column] -= value / sums[column] if sums[column] else math.nan
        return slopes


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A number with its interval by the bootstrap, and by the normal approximation as a check on it."""

    value: float
    interval: Interval
    standard_error: float
    normal_interval: Interval


def without_errors(estimate: Estimate) -> Estimate:
    """The value alone."""
    nowhere = Interval(math.nan, math.nan)
    return Estimate(estimate.value, nowhere, math.nan, nowhere)


class Resampled:
    """Columns (units, columns) and their sums in all draws."""

    def __init__(self, columns: np.ndarray, resamples: int, level: float, seed: int) -> None:
        self._columns = columns
        self._level = level
        self.sums = np.array([math.fsum(column.tolist()) for column in columns.T])
        generator = Stream.RESAMPLED_VIEWS.generator(seed)
        if len(columns) > MOST_UNITS:
            bundle = generator.permutation(len(columns)) % MOST_UNITS
            columns = np.stack([np.bincount(bundle, column, MOST_UNITS) for column in columns.T], axis=1)
        n = len(columns)
        self.draws = np.empty((resamples, columns.shape[1]))
        step = max(1, _ENTRIES_AT_ONCE // n)
        for first in range(0, resamples, step):
            size = min(step, resamples - first)
            drawn = generator.integers(0, n, size=(size, n)) + np.arange(0, size * n, n)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
            self.draws[first : first + size] = counts @ columns

    def estimate(self, ratio: Ratio, minus: Ratio | None = None) -> Estimate:
        """The ratio, or its difference to another."""
        value, draws, slopes = self._parts(ratio)
        if minus is not None:
            other_value, other_draws, other_slopes = self._parts(minus)
            value, draws, slopes = value - other_value, draws - other_draws, slopes - other_slopes
        n = len(self._columns)
        influences = self._columns @ slopes  # their sum is 0: the ratio does not change if everything is doubled
        error = math.sqrt(n / (n - 1) * math.fsum((influences**2).tolist())) if n > 1 else math.nan
        reach = float(special.stdtrit(n - 1, 0.5 + self._level / 2.0)) * error if n > 1 else math.nan
        return Estimate(value, self._quantiles(draws), error, Interval(value - reach, value + reach))

    def lift(self, ratio: Ratio, base: Ratio) -> Estimate:
        """ratio/base − 1, in the same way; NaN where the base is 0."""
        quotient = Ratio(ratio.above + base.below, ratio.below + base.above)
        found = self.estimate(quotient)
        return Estimate(
            found.value - 1.0,
            Interval(found.interval.low - 1.0, found.interval.high - 1.0),
            found.standard_error,
            Interval(found.normal_interval.low - 1.0, found.normal_interval.high - 1.0),
        )

    def _parts(self, ratio: Ratio) -> tuple[float, np.ndarray, np.ndarray]:
        return float(ratio.values(self.sums[None, :])[0]), ratio.values(self.draws), ratio.slopes(self.sums)

    def _quantiles(self, draws: np.ndarray) -> Interval:
        known = draws[~np.isnan(draws)]
        if len(self._columns) < 2 or not len(known):
            return Interval(math.nan, math.nan)
        low, high = np.quantile(known, [0.5 - self._level / 2.0, 0.5 + self._level / 2.0])
        return Interval(float(low), float(high))
