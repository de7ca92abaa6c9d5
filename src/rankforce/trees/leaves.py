"""Exact sums per leaf, from which leaf values are made."""

from __future__ import annotations

import math

import numpy as np

from rankforce import dtypes
from rankforce.collective import collective, highest, total
from rankforce.errors import DataError
from rankforce.kernels.trees.leaves import largest, sums_by_leaf
from rankforce.threads import FEW_IN_A_PASS, over_ranges
from rankforce.trees.magnitudes import magnitude_of


def leaf_sums(leaf_of: np.ndarray, n_leaves: int, *values: np.ndarray) -> list[np.ndarray]:
    """Of each of ``values``, Σ over the documents of each leaf: float64 (leaves,). A negative leaf leaves one out.

    Each value is rounded once, to a multiple of 2^−k with the largest k for which no sum can overflow 63 bits (43 bits
    below the largest value for half a million documents), and the sums are of integers: they depend neither on the
    order of the documents nor on threads.
    """
    leaf_of = np.ascontiguousarray(leaf_of, dtype=dtypes.INDEX)
    here = len(leaf_of)
    n = total(here)
    summed = [np.ascontiguousarray(given, dtype=np.float64) for given in values]
    bits = [given.view(np.int64) for given in summed]
    tops: list[list[int]] = []
    over_ranges(here, lambda first, last: tops.append([largest(of, first, last) for of in bits]), FEW_IN_A_PASS)
    exponents = []
    for which, top_bits in enumerate(highest(*map(max, zip(*tops, strict=True)))):
        top = magnitude_of(top_bits)
        if not math.isfinite(top):
            raise DataError("values summed by leaf must be finite")
        _, exponent = math.frexp(top)  # top < 2^exponent
        k = 62 - n.bit_length() - exponent
        if k > 1000:  # beyond what a scale can be: half of it now
            summed[which] = np.ldexp(summed[which], k // 2)
        exponents.append(k)
    scales = [math.ldexp(1.0, k - k // 2 if k > 1000 else k) for k in exponents]
    parts: list[np.ndarray] = []

    def add(first: int, last: int) -> None:
        sums = np.zeros((len(summed), n_leaves), dtype=np.int64)
        for given, scale, out in zip(summed, scales, sums, strict=True):
            sums_by_leaf(given, leaf_of, scale, first, last, out)
        parts.append(sums)

    over_ranges(here, add, FEW_IN_A_PASS)
    sums = collective().add(np.sum(parts, axis=0)).astype(np.float64)
    return [np.ldexp(of_values, -k) for of_values, k in zip(sums, exponents, strict=True)]
