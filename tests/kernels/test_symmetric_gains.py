"""Gains of all tests on a column: the loop in vectors against the one that goes bin by bin, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.jit import kernel
from rankforce.kernels.symmetric_growth import _add_gains, _add_gains_in_vectors

SHIFT, BINS, START = 32, 37, 5


@kernel
def one_by_one(histogram, counts, total, n, l2, least, minimum, counted, min_gain, gains):
    _add_gains(
        histogram,
        counts,
        START,
        BINS,
        total,
        n,
        SHIFT,
        l2,
        least,
        minimum,
        counted,
        min_gain,
        0,
        False,
        0.0,
        0.0,
        gains,
    )


@kernel
def in_vectors(histogram, counts, total, n, l2, least, minimum, counted, min_gain, sums, gains):
    _add_gains_in_vectors(
        histogram, counts, START, BINS, total, n, SHIFT, l2, least, minimum, counted, min_gain, sums, gains
    )


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("missing", ["none", "some", "uncurved"])
@pytest.mark.parametrize("seed", range(4))
def test_both_find_the_same_gains(seed, missing, counted):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(2.0, BINS + 1 + START)
    counts[START : START + 3] = 0  # the first bins are empty
    r = counts * rng.integers(0, 1000, len(counts))  # documents without curvature, too
    q = rng.integers(-(10**6), 10**6, len(counts)) * (counts > 0)
    if missing == "none":
        counts[-1] = r[-1] = q[-1] = 0
    if missing == "uncurved":
        counts[-1], r[-1], q[-1] = 3, 0, 0
    histogram = q * 2**SHIFT + r
    total, n = histogram[START:].sum(), int(counts[START:].sum())
    settings = (float(seed), 5, 4, counted, 10.0 * seed)
    found = np.zeros((2, 3, BINS))
    found[:, :2] = rng.normal(size=(2, BINS)) ** 2  # gains of other leaves
    sums = np.zeros((2, BINS), dtype=np.int64)
    one_by_one(histogram, counts, total, n, *settings, found[0])
    in_vectors(histogram, counts, total, n, *settings, sums, found[1])
    assert found[0, :2].tobytes() == found[1, :2].tobytes()
    assert found[0, :2].sum() > 10.0 * BINS
