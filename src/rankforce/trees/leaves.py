"""Exact sums per leaf, from which leaf values are made."""

from __future__ import annotations

import math

import numpy as np

from rankforce import dtypes
from rankforce.errors import DataError
from rankforce.kernels.leaves import sums_by_leaf
from rankforce.threads import over_ranges


def leaf_sums(values: np.ndarray, leaf_of: np.ndarray, n_leaves: int) -> np.ndarray:
    """Σ values over the documents of each leaf: float64 (leaves,). A document with a negative leaf is left out.

    Each value is rounded once, to a multiple of 2^−k with the largest k for which no sum can overflow 63 bits (43 bits
    below the largest value for half a million documents), and the sums are of integers: they depend neither on the
    order of the documents nor on threads.
    """
    values = np.ascontiguousarray(values, dtype=np.float64)
    leaf_of = np.ascontiguousarray(leaf_of, dtype=dtypes.INDEX)
    largest = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
    if not math.isfinite(largest):
        raise DataError("values summed by leaf must be finite")
    if largest == 0.0:
        return np.zeros(n_leaves)
    _, exponent = math.frexp(largest)  # largest < 2^exponent
    k = 62 - len(values).bit_length() - exponent
    if k > 1000:  # beyond what a scale can be
        return np.ldexp(leaf_sums(np.ldexp(values, 200), leaf_of, n_leaves), -200)
    parts: list[np.ndarray] = []

    def add(first: int, last: int) -> None:
        sums = np.zeros(n_leaves, dtype=np.int64)
        sums_by_leaf(values, leaf_of, math.ldexp(1.0, k), first, last, sums)
        parts.append(sums)

    over_ranges(len(values), add)
    return np.ldexp(np.sum(parts, axis=0).astype(np.float64), -k)
