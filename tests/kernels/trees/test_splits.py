"""The best split of one feature against every possible one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankforce.compiling.jit import kernel
from rankforce.kernels.trees.splits import LEAST_SHIFT, MOST_BINS, accumulate, best_careful_split, best_split


@kernel
def fast_with(histogram, start, bins, total, shift, least, l2, sums, worths, bits):
    return best_split(histogram, start, bins, total, shift, least, l2, sums, worths, bits)


def fast(*arguments):
    worths = np.empty(MOST_BINS)
    return fast_with(*arguments, np.empty(MOST_BINS, dtype=np.int64), worths, worths.view(np.int64))


@kernel
def careful(histogram, counts, bins, total, l2, counted, n, minimum, direction, bounded, lower, upper):
    return best_careful_split(
        histogram, counts, 0, bins, total, 32, 1, l2, counted, n, minimum, direction, bounded, lower, upper
    )


@kernel
def one_by_one(histogram, bins, total, shift, least, l2):
    return best_careful_split(histogram, histogram, 0, bins, total, shift, least, l2, False, 0, 0, 0, False, 0.0, 0.0)


def exhaustive(q, r, counts, l2, least=1, minimum=0, direction=0, bounds=None):
    """(worth, bin, missing left) of all splits, best first; the last bin holds the missing values."""
    found = []
    bins = len(q) - 1
    for b in range(bins):
        if q[b] == r[b] == 0:
            continue
        for missing_left in (True, False):
            left = [*range(b + 1), *([bins] if missing_left else [])]
            right = [k for k in range(bins + 1) if k not in left]
            sides = [(sum(q[k] for k in side), sum(r[k] for k in side)) for side in (left, right)]
            if min(side[1] for side in sides) < least:
                continue
            if min(sum(counts[k] for k in side) for side in (left, right)) < minimum:
                continue
            values = [a / (w + l2) for a, w in sides]
            if bounds is not None:
                values = [min(max(value, bounds[0]), bounds[1]) for value in values]
            if direction * values[0] > direction * values[1]:
                continue
            worth = sum(2 * a * v - (w + l2) * v * v for (a, w), v in zip(sides, values, strict=True))
            found.append((worth, b, missing_left))
    return found


def histogram_of(q, r):
    return np.array([a * 2**32 + w for a, w in zip(q, r, strict=True)], dtype=np.int64)


def drawn(seed, bins=9):
    rng = np.random.default_rng(seed)
    q = [int(v) for v in rng.integers(-1000, 1000, bins + 1)]
    r = [int(v) for v in rng.integers(0, 500, bins + 1)]
    counts = rng.integers(0, 30, bins + 1)
    for b in np.flatnonzero(rng.random(bins + 1) < 0.25):
        q[b] = r[b] = 0
    return q, r, counts


def check(result, found, strict=True):
    worth, b, missing_left = result
    if not found:
        assert b == -1
        return
    best = max(one[0] for one in found)
    assert worth == pytest.approx(best, rel=1e-12)
    near = [(b, not left) for w, b, left in found if math.isclose(w, best, rel_tol=1e-12)]
    if strict:
        assert (b, not missing_left) == min(near)  # the lower bin, then missing values on the left
    else:
        assert (b, not missing_left) in near


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("l2", [0.0, 77.5])
def test_best_of_all_splits(seed, l2):
    q, r, counts = drawn(seed)
    histogram = histogram_of(q, r)
    total = int(histogram.sum())
    check(fast(histogram, 0, 9, total, 32, 1, l2), exhaustive(q, r, counts, l2))
    check(fast(histogram, 0, 9, total, 32, 300, l2), exhaustive(q, r, counts, l2, least=300))
    n = int(counts.sum())
    unbounded = (0, False, -math.inf, math.inf)
    check(careful(histogram, counts, 9, total, l2, False, n, 40, *unbounded), exhaustive(q, r, counts, l2))
    check(careful(histogram, counts, 9, total, l2, True, n, 40, *unbounded), exhaustive(q, r, counts, l2, minimum=40))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_best_of_all_bounded_splits(seed, direction):
    q, r, counts = drawn(seed)
    histogram = histogram_of(q, r)
    bounds = (-0.4, 0.3)
    result = careful(
        histogram, counts, 9, int(histogram.sum()), 5.0, True, int(counts.sum()), 20, direction, True, *bounds
    )
    check(result, exhaustive(q, r, counts, 5.0, minimum=20, direction=direction, bounds=bounds), strict=False)


def test_a_tie_goes_to_the_lower_bin_and_left():
    histogram = histogram_of([5, 0, 5, 0], [2, 0, 2, 0])
    assert tuple(fast(histogram, 0, 3, int(histogram.sum()), 32, 1, 0.0))[1:] == (0, True)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("shift", [LEAST_SHIFT, 17, 32, 40])
def test_vectors_find_what_one_bin_after_the_other_finds(seed, shift):
    """To the last bit, with sums as large as entries allow."""
    rng = np.random.default_rng(seed)
    bins = int(rng.choice([1, 2, 5, 8, 30, 65, 100, MOST_BINS - 1]))
    q = rng.normal(size=bins + 1)
    q = (q * ((2.0 ** (63 - shift) - 2 * bins) / np.abs(q).sum())).astype(np.int64)
    r = (rng.dirichlet(np.full(bins + 1, 0.3)) * (2.0**shift - 1)).astype(np.int64)
    for b in np.flatnonzero(rng.random(bins + 1) < rng.choice([0.0, 0.4, 0.9])):
        q[b] = r[b] = 0
    if seed % 3 == 0:
        q[bins] = r[bins] = 0  # no missing values
    histogram = (q << shift) + r
    total = histogram.sum()
    for least in (1, 2 ** (shift - 3)):
        for l2 in (0.0, 0.75):
            expected = one_by_one(histogram, bins, total, shift, least, l2)
            assert tuple(fast(histogram, 0, bins, total, shift, least, l2)) == tuple(expected)


@pytest.mark.parametrize("bins", [1, 2, 7, 8, 9, 31, 32, 33, 64, 65, 100, 255])
def test_where_all_or_only_missing_values_are(bins):
    """Nothing to split; or one split, of the values from the missing ones: at the only bin that is not empty."""
    total = np.int64((-3 << 32) + 9)
    only_missing = np.zeros(bins + 1, dtype=np.int64)
    only_missing[bins] = total
    assert fast(only_missing, 0, bins, total, 32, 1, 0.0)[1] == -1
    for place in {0, bins // 2, bins - 1}:
        histogram = only_missing.copy()
        histogram[place] = (5 << 32) + 4
        everything = histogram.sum()
        expected = one_by_one(histogram, bins, everything, 32, 1, 0.0)
        assert expected[1] == place
        assert tuple(fast(histogram, 0, bins, everything, 32, 1, 0.0)) == tuple(expected)


@kernel
def accumulated(histogram, start, bins, sums):
    return accumulate(histogram, start, bins, sums)


@pytest.mark.parametrize("bins", [0, 1, 7, 8, 9, 16, 250, 255])
def test_sums_up_to_each_bin(bins):
    histogram = np.random.default_rng(bins).integers(-(2**62), 2**62, 300)
    sums = np.zeros(MOST_BINS, dtype=np.int64)
    with np.errstate(over="ignore"):
        expected = np.cumsum(histogram[3 : 3 + bins])
        assert accumulated(histogram, 3, bins, sums) == (expected[-1] if bins else 0)
    np.testing.assert_array_equal(sums[:bins], expected)
    assert not sums[bins:].any()
