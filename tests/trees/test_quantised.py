"""Forces as integers: scales, rounding, and the hash where rounding would lose too much."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankforce.data.hashing import combine
from rankforce.data.random_streams import Stream
from rankforce.kernels.trees.splits import LEAST_SHIFT
from rankforce.threads import FEW_IN_A_PASS, using_threads
from rankforce.trees.quantised import Scales, quantise

STARTS = np.array([0, 3, 50, 60, 200], dtype=np.int64)
HASHES = combine(7, np.arange(4))


def packed(forces, curvatures, seed=0, tree=0, documents=None):
    n = len(forces)
    entries = np.zeros(n, dtype=np.int64)
    rows = np.arange(n, dtype=np.int32) if documents is None else documents
    scales = quantise(forces, curvatures, rows, STARTS, HASHES, seed, tree, entries)
    q = np.array([int(entry) >> scales.shift for entry in entries])
    r = np.array([int(entry) & ((1 << scales.shift) - 1) for entry in entries])
    return q, r, scales


@pytest.mark.parametrize("size", [1e-200, 1e-9, 1.0, 3e7, 1e200])
def test_rounded_half_up_at_the_finest_scale_that_fits(size):
    rng = np.random.default_rng(0)
    forces, curvatures = size * rng.normal(size=200), rng.random(200)
    q, r, scales = packed(forces, curvatures)
    assert scales.shift == 32
    np.testing.assert_array_equal(q, np.floor(np.ldexp(forces, scales.force_exponent) + 0.5))
    np.testing.assert_array_equal(r, np.floor(np.ldexp(curvatures, scales.curvature_exponent) + 0.5))
    for values, exponent, limit in (
        (forces, scales.force_exponent, 2**31 - 1),
        (curvatures, scales.curvature_exponent, 2**32 - 1),
    ):
        needed = [math.fsum(np.abs(values)) * 2.0 ** (exponent + more) + 200 for more in (0, 1)]
        assert needed[0] <= limit
        assert needed[1] > limit * (1 - 1e-6)


def test_least_squares_counts_documents():
    forces = np.random.default_rng(1).normal(size=200)
    q, r, scales = packed(forces, None)
    assert scales == Scales(LEAST_SHIFT, scales.force_exponent, 0)
    assert (r == 1).all()
    assert np.abs(q).sum() < 2**51
    np.testing.assert_allclose(np.ldexp(q.astype(float), -scales.force_exponent), forces, atol=2.0**-44)


def test_units():
    scales = Scales(32, 5, 3)
    assert scales.gain_unit == 2.0**-7  # (q·2^−5)² / (r·2^−3)
    assert scales.value_unit == 2.0**-2


def test_many_small_forces_are_rounded_by_hash():
    forces = np.full(200, 1e-12)
    forces[::2] *= -1
    forces[7] = 1.0
    curvatures = np.ones(200)
    q, r, scales = packed(forces, curvatures, seed=5, tree=9)
    positions = np.arange(200) - np.repeat(STARTS[:-1], np.diff(STARTS))
    u = Stream.FORCE_ROUNDING.uniform(5, 9, np.repeat(HASHES, np.diff(STARTS)), positions)
    np.testing.assert_array_equal(q, np.floor(np.ldexp(forces, scales.force_exponent) + u))
    np.testing.assert_array_equal(r, packed(np.ones(200), curvatures)[1])
    assert set(q.tolist()) >= {0, int(q[7])}


def test_only_the_documents_asked_for():
    forces = np.ones(200)
    forces[100:] = 1e9
    rows = np.arange(100, dtype=np.int32)
    q, _, scales = packed(forces, np.ones(200), documents=rows)
    assert (q[100:] == 0).all()
    assert scales == packed(forces[:100], np.ones(100))[2]


def test_zeros():
    q, r, _ = packed(np.zeros(200), np.zeros(200))
    assert not q.any()
    assert not r.any()


@pytest.mark.compiled_only
@pytest.mark.parametrize("curved", [True, False])
@pytest.mark.parametrize("spread", [1.0, 9.0])  # with the wider one, forces are rounded by hash
def test_threads_do_not_matter(curved, spread):
    rng = np.random.default_rng(3)
    n = FEW_IN_A_PASS + 1001
    forces = np.exp(spread * rng.normal(size=n)) * rng.choice([-1, 1], n)
    curvatures = rng.random(n) if curved else None
    starts, documents = np.arange(0, n + 1, 1001, dtype=np.int64), np.arange(n, dtype=np.int32)
    starts[-1] = n
    found = []
    for threads in (1, 2, 3):
        entries = np.zeros(n, dtype=np.int64)
        with using_threads(threads):
            hashes = combine(1, np.arange(len(starts) - 1))
            scales = quantise(forces, curvatures, documents, starts, hashes, 0, 0, entries)
        found.append((scales, entries.tobytes()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("curved", [True, False])
@pytest.mark.parametrize("factor", [1.0, 0.99, 1e-30, 1e30, 0.0])
def test_the_tree_before_does_not_matter(curved, factor):
    """Whatever its scales: the guess that they make is right, a little or wildly wrong."""
    rng = np.random.default_rng(4)
    forces, curvatures = rng.normal(size=200), rng.random(200) if curved else None
    arguments = np.arange(200, dtype=np.int32), STARTS, HASHES, 0, 0
    entries, with_guess = np.zeros(200, dtype=np.int64), np.zeros(200, dtype=np.int64)
    before = quantise(factor * forces, None if curvatures is None else factor * curvatures, *arguments, with_guess)
    scales = quantise(forces, curvatures, *arguments, entries)
    assert quantise(forces, curvatures, *arguments, with_guess, None, before) == scales
    assert with_guess.tobytes() == entries.tobytes()
    other_kind = quantise(forces, np.ones(200) if curvatures is None else None, *arguments, with_guess)
    assert quantise(forces, curvatures, *arguments, with_guess, None, other_kind) == scales
    assert with_guess.tobytes() == entries.tobytes()
