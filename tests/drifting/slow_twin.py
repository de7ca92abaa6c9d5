"""Drift by the letter: loops over queries and documents, permutations of whole queries."""

from __future__ import annotations

import math

import numpy as np

import rankforce as rf
from rankforce.data.distributions import ENOUGH, Distribution


def bin_of(distribution: Distribution, value: float) -> int:
    """The place of a value among the bins; after the last for a missing one."""
    if math.isnan(value):
        return len(distribution.counts)
    if distribution.categories is not None:
        return distribution.cuts.index(value) if value in distribution.cuts else len(distribution.cuts)
    return sum(value > np.float32(cut) for cut in distribution.cuts)


def counts_by_query(distribution: Distribution, data: rf.Dataset, place: int) -> list[list[int]]:
    counts = []
    for rows in data.each_query():
        of_query = [0] * (len(distribution.counts) + 1)
        for row in rows:
            of_query[bin_of(distribution, float(data.features[row, place]))] += 1
        counts.append(of_query)
    return counts


def noise(counts: list[list[int]]) -> dict[str, float]:
    """Trace, squares, spread and steps from a vector z per query, as the module defines them."""
    held = [b for b in range(len(counts[0])) if sum(1 for one in counts if one[b]) >= ENOUGH]
    if len(held) < 2:
        return {"trace": 0.0, "squares": 0.0, "spread": 0.0, "steps": 0.0}
    kept = np.array(counts, dtype=float)[:, held]
    sizes = kept.sum(axis=1)
    p = kept.sum(axis=0) / kept.sum()
    half = (kept.sum(axis=0) + 0.5) / (kept.sum() + 0.5 * len(held))
    plain = (kept - sizes[:, None] * p) / sizes.mean()
    z = plain / np.sqrt(half)
    covariance = z.T @ z / (len(z) - 1)
    lengths = (z**2).sum(axis=1)
    cumulated = np.cumsum(plain, axis=1)
    return {
        "trace": float(np.trace(covariance)),
        "squares": float((covariance**2).sum()),
        "spread": float(lengths.var(ddof=1)),
        "steps": float(((cumulated**2).sum(axis=0) / (len(z) - 1)).max()),
    }


def psi(then: list[int], now: list[int]) -> float:
    pairs = [(a + 0.5, b + 0.5) for a, b in zip(then, now, strict=True) if a or b]
    a_sum, b_sum = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    return sum((b / b_sum - a / a_sum) * math.log((b / b_sum) / (a / a_sum)) for a, b in pairs)


def changed_share(one: list[float], other: list[float]) -> float:
    pairs = [(i, j) for i in range(len(one)) for j in range(i)]
    if not pairs:
        return math.nan

    def direction(scores: list[float], i: int, j: int) -> int:
        return (scores[i] > scores[j]) - (scores[i] < scores[j])

    return sum(abs(direction(one, i, j) - direction(other, i, j)) / 2 for i, j in pairs) / len(pairs)
