"""Reductions of forces to integers, against exact ones."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from rankforce.kernels.trees.leaves import largest
from rankforce.kernels.trees.quantised import (
    BLOCK,
    CHUNK,
    FINE_BITS,
    largest_magnitude,
    pack_as_guessed,
    pack_entries,
    sum_of_magnitudes,
)
from rankforce.trees.magnitudes import magnitude_of

ALL, SOME = slice(None), slice(1, None, 3)


def drawn(n, part):
    rng = np.random.default_rng(n)
    values = np.exp(3 * rng.normal(size=n)) * rng.choice([-1.0, 0.0, -0.0, 1.0], n)
    return values, np.arange(n, dtype=np.int32)[part]


@pytest.mark.parametrize("part", [ALL, SOME])
def test_the_largest_magnitude_and_the_negative_ones(part):
    values, documents = drawn(101, part)
    chosen = values[documents][3:30]
    top, negative = largest_magnitude(values.view(np.int64), documents, 3, 30)
    assert (magnitude_of(top), negative) == (np.abs(chosen).max(), (chosen < 0).sum())
    assert magnitude_of(largest(values.view(np.int64), 3, 30)) == np.abs(values[3:30]).max()
    assert magnitude_of(largest(values.view(np.int64), 3, 3)) == 0.0


@pytest.mark.parametrize("bad", [math.nan, -math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_infinite(bad):
    values, documents = drawn(50, ALL)
    values[17] = bad
    bits = values.view(np.int64)
    assert magnitude_of(largest(bits, 0, 50)) == math.inf
    assert magnitude_of(largest_magnitude(bits, documents, 0, 50)[0]) == math.inf
    assert math.isfinite(magnitude_of(largest(bits, 18, 50)))


@pytest.mark.parametrize("part", [ALL, SOME])
def test_sums_of_magnitudes_are_exact(part):
    values, documents = drawn(60, part)
    scale = 2.0 ** (FINE_BITS - math.frexp(np.abs(values).max())[1])
    exact = sum(math.ceil(abs(Fraction(values[document])) * Fraction(scale)) for document in documents[2:])
    assert sum_of_magnitudes(values, documents, scale, 2, len(documents)) == exact


@pytest.mark.compiled_only
def test_sums_of_many_magnitudes_are_exact():
    n = 3 * BLOCK + 5
    values = np.full(n, np.nextafter(1.0, 0.0))  # the largest ones, whose sums have the most bits
    values[::7] = 2.0**-FINE_BITS
    ones = len(values[::7])
    documents = np.arange(n, dtype=np.int32)
    assert sum_of_magnitudes(values, documents, 2.0**FINE_BITS, 0, n) == ones + (n - ones) * 2**FINE_BITS


@pytest.mark.parametrize("part", [ALL, SOME])
@pytest.mark.parametrize("counting", [False, True])
def test_entries_are_rounded_values(part, counting):
    forces, documents = drawn(60, part)
    curvatures = np.abs(drawn(61, ALL)[0][:60])
    entries = np.full(60, -1, dtype=np.int64)
    counts = pack_entries(forces, curvatures, documents, 2.0, 4.0, 32, counting, 0, len(documents), entries)
    expected = np.full(60, -1, dtype=np.int64)
    q = np.floor(2.0 * forces + 0.5).astype(np.int64)
    r = 1 if counting else np.floor(4.0 * curvatures + 0.5).astype(np.int64)
    expected[documents] = ((q << 32) + r)[documents]
    np.testing.assert_array_equal(entries, expected)
    moving = forces[documents] != 0
    assert counts == (moving.sum(), (moving & (q[documents] == 0)).sum())


@pytest.mark.parametrize("part", [ALL, SOME])
@pytest.mark.parametrize("counting", [False, True])
@pytest.mark.parametrize("n", [60, pytest.param(5 * CHUNK + 7, marks=pytest.mark.compiled_only)])
def test_one_pass_finds_what_others_find(part, counting, n):
    forces, documents = drawn(n, part)
    curvatures = drawn(n + 1, ALL)[0][:n]  # some of them negative
    fine, scales, first, last = np.array([2.0**20, 2.0**19]), (2.0, 4.0, 32, counting), 3, len(documents) - 2
    alone, together = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    bits = forces.view(np.int64), curvatures.view(np.int64)
    found = pack_as_guessed(
        forces, curvatures, *bits, documents, fine, *scales, first, last, together
    )  # fmt: skip
    tops = [largest_magnitude(of, documents, first, last) for of in bits]
    sums = [sum_of_magnitudes(of, documents, fine[k], first, last) for k, of in enumerate((forces, curvatures))]
    counts = pack_entries(forces, curvatures, documents, *scales, first, last, alone)
    of_curvatures = (0, 0, 0) if counting else (*tops[1], sums[1])
    assert found == (tops[0][0], *of_curvatures[:2], sums[0], of_curvatures[2], *counts)
    np.testing.assert_array_equal(together, alone)
