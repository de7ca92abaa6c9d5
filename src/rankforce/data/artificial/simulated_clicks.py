"""Simulated clicks: attractiveness that agrees with the grades as often as wished, seen through a biased ranking."""

from __future__ import annotations

import numpy as np

from rankforce.kinds import check_number


def observed_rates(
    grades: np.ndarray,
    production: np.ndarray,
    sizes: np.ndarray,
    random: np.random.Generator,
    *,
    agreement: float,
    position_bias: float = 0.0,
    shown: int | None = None,
    impressions: int | None = None,
) -> np.ndarray:
    """Click rates in [0, 1] of documents; NaN where the production ranking never shows the document.

    Parameters
    ----------
    grades, production : arrays of shape (documents,), the documents of a query adjacent
        Grades from 0, and the scores of the ranker that decides what users see.
    sizes : array of shape (queries,)
    agreement, position_bias, shown, impressions
        As in ``make_artificial``.
    """
    _check(agreement, position_bias, shown, impressions)
    strength = _strength(grades, sizes, agreement)
    attractiveness = (strength * grades + random.random(len(grades))) / (1.0 + strength * grades.max())
    query = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((-production, query))
    rank = np.empty(len(grades))
    rank[order] = np.arange(1, len(grades) + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rates = attractiveness * rank**-position_bias
    if impressions is not None:
        rates = random.binomial(impressions, rates) / impressions
    return rates if shown is None else np.where(rank <= shown, rates, np.nan)


def _strength(grades: np.ndarray, sizes: np.ndarray, agreement: float) -> float:
    """How much a grade adds to a uniform attractiveness for this agreement within queries.

    With u, v uniform in [0, 1] and a difference of grades Δ, P(u + tΔ > v) = 1 − max(0, 1 − tΔ)²/2: the agreement is
    the mean of this over the pairs of documents with different grades, and rises with t from ½ to 1.
    """
    differences = _differences(grades, sizes)
    if not differences.any():
        return 0.0  # no pair of different grades: any strength agrees
    shares = differences / differences.sum()
    steps = np.arange(1, len(shares) + 1)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        reached = 1.0 - float((shares * np.maximum(0.0, 1.0 - middle * steps) ** 2).sum()) / 2.0
        low, high = (middle, high) if reached < agreement else (low, middle)
    return high


def _differences(grades: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """How many pairs of documents of one query differ by 1, 2, ... grades."""
    count = int(grades.max()) + 1
    query = np.repeat(np.arange(len(sizes)), sizes)
    table = np.bincount(query * count + grades.astype(np.int64), minlength=len(sizes) * count).reshape(-1, count)
    return np.array([(table[:, step:] * table[:, :-step]).sum() for step in range(1, count)], dtype=np.float64)


def _check(agreement: float, position_bias: float, shown: int | None, impressions: int | None) -> None:
    check_number("click_agreement", agreement, 0.5, 1.0)  # a half: no relation; 1: always
    check_number("position_bias", position_bias, 0.0)
    for name, value in (("shown", shown), ("impressions", impressions)):
        check_number(name, value, 1, whole=True, optional=True)
