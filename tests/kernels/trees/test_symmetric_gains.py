"""Gains of all tests on a column: the loop in vectors against test by test, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.compiling.jit import kernel
from rankforce.kernels.trees.level_gains import add_gains

SHIFT, BINS, START = 32, 37, 5


@kernel
def in_vectors(histogram, counts, total, n, l2, least, minimum, counted, min_gain, bounded, direction, sums, gains):
    add_gains(
        histogram, counts, START, BINS, total, n, SHIFT, l2, least, minimum, counted, min_gain,
        direction, bounded, -900.0, 400.0, sums, gains,
    )  # fmt: skip


def worth_of(q, r, l2, bounded):
    value = q / (r + l2)
    if not bounded:
        return q * q / (r + l2), 0.0
    value = min(max(value, -900.0), 400.0)
    return 2.0 * q * value - (r + l2) * value * value, value


def alone(q, r, n, q_left, r_left, n_left, l2, least, minimum, counted, min_gain, bounded, direction):
    """The gain of one test, from sums of whole numbers."""
    if min(r_left, r - r_left) < least or (counted and min(n_left, n - n_left) < minimum):
        return 0.0
    worth_left, value_left = worth_of(q_left, r_left, l2, bounded)
    worth_right, value_right = worth_of(q - q_left, r - r_left, l2, bounded)
    if direction * value_left > direction * value_right:
        return 0.0
    gain = worth_left + worth_right - worth_of(q, r, l2, bounded)[0]
    return gain if gain > 2.0**-40 * abs(worth_left + worth_right) and gain > min_gain else 0.0


@pytest.mark.parametrize(("bounded", "direction"), [(False, 0), (True, 0), (True, 1), (True, -1)])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("missing", ["none", "some", "uncurved"])
@pytest.mark.parametrize("seed", range(3))
def test_every_test_gains_what_it_gains_alone(seed, missing, counted, bounded, direction):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(2.0, START + BINS + 1)
    counts[START : START + 3] = 0  # the first bins are empty
    r = counts * rng.integers(0, 1000, len(counts))  # documents without curvature, too
    q = rng.integers(-(10**6), 10**6, len(counts)) * (counts > 0)
    if missing == "none":
        counts[-1] = r[-1] = q[-1] = 0
    if missing == "uncurved":
        counts[-1], r[-1], q[-1] = 3, 0, 0
    histogram = q * 2**SHIFT + r
    total, n = histogram[START:].sum(), int(counts[START:].sum())
    settings = (float(seed), 5, 4, counted, 10.0 * seed, bounded, direction)
    found = np.zeros((3, BINS))
    found[:2] = wanted = rng.normal(size=(2, BINS)) ** 2  # gains of other leaves
    in_vectors(histogram, counts, total, n, *settings, np.zeros((2, BINS), dtype=np.int64), found)
    gained = 0
    for b in range(BINS):
        for side in range(2):
            inside = [*range(START, START + b + 1), *([START + BINS] if side == 0 else [])]
            left = [int(values[inside].sum()) for values in (q, r, counts)]
            whole = [int(values[START:].sum()) for values in (q, r, counts)]
            gain = alone(*whole, *left, *settings)
            gained += gain > 0.0
            assert found[side, b] == wanted[side, b] + gain
    assert gained > 0
