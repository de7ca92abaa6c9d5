"""Artificial ranking data whose truth is known: a random cubic polynomial of uniform features."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.cached_properties import cached_property
from rankforce.data.artificial.simulated_clicks import observed_rates
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import checked_seed
from rankforce.data.random_streams import Stream
from rankforce.errors import SettingsError
from rankforce.kinds import MOST, Number, Several, check_number, check_switches, shown

WEB_SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)  # of the grades 0 to 4
_ROWS_AT_A_TIME = 8192


def make_artificial(
    queries: int = 1000,
    documents: int | tuple[int, int] = 50,
    features: int = 50,
    seed: int = 0,
    *,
    function_seed: int = 0,
    drift: float = 0.0,
    drift_seed: int = 1,
    shares: Sequence[float] = WEB_SHARES,
    noise: float = 0.0,
    missing: float = 0.0,
    clicks: bool = False,
    click_agreement: float = 0.8,
    position_bias: float = 0.0,
    shown: int | None = None,
    impressions: int | None = None,
    first_query: int = 1,
) -> Dataset:
    """Data as in the experiments of Burges, Ragno and Le (2006).

    Features x are uniform in [−1, 1]^d. The target is the mean of three terms, each shifted and scaled to mean 0 and
    variance 1 over the distribution of x: v·x with v uniform in [−1, 1]^d; Σ_i x_i x_Q(i); Σ_i x_i x_Q1(i) x_Q2(i),
    where the Q are random permutations. Grades cut the target at quantiles over all documents of the data set.

    Parameters
    ----------
    queries, features : int
    documents : int, or (fewest, most)
        Documents per query; drawn evenly from a range, both ends included.
    seed : int
        Decides everything but the function.
    function_seed : int
        Decides v and the permutations: data sets with the same function seed have the same truth. For parts with
        the very same thresholds between grades make one data set and split it.
    drift : float from 0 to 1
        How far the truth has moved, as from one market to another: every coefficient of the polynomial is
        (1 − drift) × that of ``function_seed`` + drift × that of the function of ``drift_seed``.
    drift_seed : int
    shares : sequence of float
        The share of each grade, from grade 0.
    noise : float
        Standard deviation of normal noise on the target, in units of the target's own.
    missing : float
        Share of feature values that are then replaced by NaN.
    clicks : bool
        Add the label source ``"clicks"``: click rates in [0, 1].
    click_agreement : float from 0.5 to 1
        Of two documents of one query with different grades, the probability that the better one attracts more
        clicks. At 1 it always does, and documents of equal grade still differ.
    position_bias : float
        The click rate of a document is its attractiveness × rank^−``position_bias``, where a production ranker (the
        target with as much noise) decides the rank. 0: no bias.
    shown : int, optional
        Only this many documents of the production ranking are ever shown; the others have no click rate (NaN).
    impressions : int, optional
        Rates are the observed share of this many impressions that were clicked, so that they may be 0; by default
        the true rates.
    first_query : int
        The id of the first query, so that data sets made apart need not share ids.
    """
    for name, value in (("queries", queries), ("features", features)):
        check_number(name, value, 1, whole=True)
    check_number("noise", noise, 0.0)
    check_number("missing", missing, 0.0, 1.0)
    check_number("drift", drift, 0.0, 1.0)
    check_switches(clicks=clicks)
    check_number("first_query", first_query, -MOST, whole=True)
    random = Stream.ARTIFICIAL_DATA.generator(checked_seed(seed))
    sizes = query_sizes(queries, documents, random)
    function = Cubic.draw(features, function_seed)
    elsewhere = Cubic.draw(features, drift_seed)
    n = int(sizes.sum())
    matrix = np.empty((n, features), dtype=dtypes.FEATURE)
    target = np.empty(n)
    for first in range(0, n, _ROWS_AT_A_TIME):
        block = matrix[first : first + _ROWS_AT_A_TIME]
        random.random(out=block, dtype=np.float32)
        block *= 2.0
        block -= 1.0
        part = target[first : first + len(block)]
        part[:] = function(block)
        if drift:
            part[:] = (1.0 - drift) * part + drift * elsewhere(block)
    if noise:
        target += noise * target.std() * random.standard_normal(n)
    grades = grades_by_quantile(target, shares)
    labels = {}
    if clicks:
        labels["clicks"] = observed_rates(
            grades,
            target + target.std() * random.standard_normal(n),
            sizes,
            random,
            agreement=click_agreement,
            position_bias=position_bias,
            shown=shown,
            impressions=impressions,
        )
    if missing:
        for first in range(0, n, _ROWS_AT_A_TIME):
            block = matrix[first : first + _ROWS_AT_A_TIME]
            block[random.random(block.shape, dtype=np.float32) < missing] = np.nan
    ids = np.repeat(np.arange(first_query, first_query + queries), sizes)
    return Dataset(matrix, grades, ids, labels=labels)


@dataclasses.dataclass(frozen=True)
class Cubic:
    """(t₁ + t₂ + t₃) / 3 with standardised t₁ = v·x, t₂ = Σ x_i x_Q(i), t₃ = Σ x_i x_Q1(i) x_Q2(i)."""

    linear: np.ndarray
    pairs: np.ndarray  # Q
    triples: tuple[np.ndarray, np.ndarray]  # Q1, Q2

    @staticmethod
    def draw(features: int, seed: int) -> Cubic:
        random = Stream.ARTIFICIAL_FUNCTION.generator(checked_seed(seed))
        return Cubic(
            random.uniform(-1.0, 1.0, features),
            random.permutation(features),
            (random.permutation(features), random.permutation(features)),
        )

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The target of every row of x."""
        wide = x.astype(np.float64)
        terms = (
            (wide * self.linear).sum(axis=1),
            (wide * wide[:, self.pairs]).sum(axis=1),
            (wide * wide[:, self.triples[0]] * wide[:, self.triples[1]]).sum(axis=1),
        )
        scaled = [(term - mean) / math.sqrt(var) for term, (mean, var) in zip(terms, self._term_moments, strict=True)]
        return (scaled[0] + scaled[1] + scaled[2]) / 3.0

    @cached_property
    def _term_moments(self) -> tuple[tuple[float, float], ...]:
        """Mean and variance of each term."""
        every = range(len(self.linear))
        return (
            (0.0, float((self.linear**2).sum()) / 3.0),
            _moments(list(zip(every, self.pairs.tolist(), strict=True))),
            _moments(list(zip(every, self.triples[0].tolist(), self.triples[1].tolist(), strict=True))),
        )


def _moments(monomials: Sequence[tuple[int, ...]]) -> tuple[float, float]:
    """Mean and variance of a sum of monomials (tuples of variables) of independent variables uniform in [−1, 1].

    E x^k is 1/(k + 1) for even k and 0 for odd k, so only monomials with the same set of odd exponents have a product
    whose mean is not 0.
    """
    alike: dict[frozenset[int], Counter[tuple[int, ...]]] = defaultdict(Counter)
    for monomial in monomials:
        odd = frozenset(variable for variable, power in Counter(monomial).items() if power % 2)
        alike[odd][tuple(sorted(monomial))] += 1
    mean = sum(count * _mean_of(monomial) for monomial, count in alike[frozenset()].items())
    square = sum(
        one_count * other_count * _mean_of(one + other)
        for group in alike.values()
        for one, one_count in group.items()
        for other, other_count in group.items()
    )
    return mean, square - mean**2


def _mean_of(monomial: tuple[int, ...]) -> float:
    powers = Counter(monomial).values()
    return 0.0 if any(power % 2 for power in powers) else math.prod(1.0 / (power + 1) for power in powers)


def grades_by_quantile(target: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """Grades 0, 1, ... whose shares are these (up to whole documents), rising with the target."""
    if not Several(Number(0.0)).holds(shares):
        raise SettingsError("shares must be numbers that are not negative, one for each grade")
    if max(shares) > 1.0:
        raise SettingsError(f"the shares of the grades must add up to 1: {shown(max(shares))} is more")
    if abs(math.fsum(shares) - 1.0) > 1e-6:
        raise SettingsError(f"the shares of the grades must add up to 1, not to {math.fsum(shares):g}")
    ends = np.rint(np.cumsum(shares) * len(target)).astype(np.int64)
    grades = np.empty(len(target))
    # a stable order, so that equal targets give the same grades everywhere
    grades[np.argsort(target, kind="stable")] = np.searchsorted(ends[:-1], np.arange(len(target)), side="right")
    return grades


def query_sizes(queries: int, documents: Any, random: np.random.Generator) -> np.ndarray:
    """Documents of each query: a number for all, or drawn evenly from (fewest, most)."""
    if not isinstance(documents, (tuple, list)):
        check_number("documents", documents, 1, whole=True)
        _check_size(queries, documents)
        return np.full(queries, documents)
    if len(documents) != 2:
        raise SettingsError(f"documents must be a number or (fewest, most), not {documents!r}")
    fewest, most = documents
    for name, value in (("fewest", fewest), ("most", most)):
        check_number(name, value, 1, whole=True)
    _check_size(queries, most)
    if fewest > most:
        raise SettingsError(f"documents must be a number or (fewest, most), not {documents!r}")
    return random.integers(fewest, most, size=queries, endpoint=True)


def _check_size(queries: int, documents: int) -> None:
    if int(queries) * int(documents) > MOST:
        raise SettingsError(f"queries × documents must be at most {MOST}, not {int(queries) * int(documents)}")
