"""Sums over the documents of a click log, from which propensities of positions are estimated.

A document (of one query) is a range of entries, one per position at which it was shown: how often, and how often it
was clicked there.
"""

from __future__ import annotations

from rankforce.compiling.jit import kernel
from rankforce.dtypes import Array, Number


@kernel
def harvest_sums(
    starts: Array,  # int64 (documents + 1): entries
    position: Array,  # int64 (entries), from 0
    shown: Array,  # float64 (entries)
    clicked: Array,  # float64 (entries)
    weights: Array,  # float64 (documents)
    propensity: Array,  # float64 (positions)
    shares: Array,  # float64 (positions): scratch
    gradient: Array,  # float64 (positions): added to
    hessian: Array,  # float64 (positions, positions): added to
) -> None:
    """Gradient and minus the Hessian, in log propensities, of Σ_d w_d Σ_k c_dk log(n_dk θ_k / Σ_j n_dj θ_j)."""
    for d in range(len(starts) - 1):
        first, last = starts[d], starts[d + 1]
        total = 0.0
        clicks = 0.0
        for e in range(first, last):
            total += shown[e] * propensity[position[e]]
            clicks += clicked[e]
        if clicks == 0.0 or total == 0.0 or weights[d] == 0.0:
            continue
        for e in range(first, last):
            shares[position[e]] = shown[e] * propensity[position[e]] / total
        for e in range(first, last):
            k = position[e]
            gradient[k] += weights[d] * (clicked[e] - clicks * shares[k])
            hessian[k, k] += weights[d] * clicks * shares[k]
            for f in range(first, last):
                hessian[k, position[f]] -= weights[d] * clicks * shares[k] * shares[position[f]]


@kernel
def expected_looks(
    starts: Array,  # int64 (documents + 1): entries
    position: Array,  # int64 (entries), from 0
    shown: Array,  # float64 (entries)
    clicked: Array,  # float64 (entries)
    weights: Array,  # float64 (documents)
    prior: Number,  # imaginary impressions of every document
    mean: Number,  # and what share of them attracts
    examination: Array,  # float64 (positions)
    attractiveness: Array,  # float64 (documents): updated
    looks: Array,  # float64 (positions): the expected number of impressions that were looked at, added to
) -> None:
    """One step of EM for the position-based model: P(click) = examination × attractiveness."""
    for d in range(len(starts) - 1):
        a = attractiveness[d]
        attracted = prior * mean
        total = prior
        for e in range(starts[d], starts[d + 1]):
            theta = examination[position[e]]
            missed = (shown[e] - clicked[e]) / max(1.0 - theta * a, 1e-12)
            looks[position[e]] += weights[d] * (clicked[e] + missed * theta * (1.0 - a))
            attracted += clicked[e] + missed * a * (1.0 - theta)
            total += shown[e]
        attractiveness[d] = attracted / total
