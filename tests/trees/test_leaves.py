from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rankforce.errors import DataError
from rankforce.threads import FEW_IN_A_PASS, using_threads
from rankforce.trees.leaves import leaf_sums

MANY = FEW_IN_A_PASS + 1001  # enough for several threads


@pytest.mark.parametrize("size", [1e-300, 1e-5, 1.0, 1e300])
def test_sums_equal_exact_ones(size):
    rng = np.random.default_rng(0)
    values = size * rng.normal(size=3000)
    leaf_of = rng.integers(-1, 7, 3000).astype(np.int32)
    (result,) = leaf_sums(leaf_of, 7, values)
    for leaf in range(7):
        exact = float(sum((Fraction(v) for v in values[leaf_of == leaf]), Fraction(0)))
        assert abs(result[leaf] - exact) <= 3000 * np.abs(values).max() * 2.0**-48


@pytest.mark.compiled_only
def test_order_and_threads_do_not_matter():
    rng = np.random.default_rng(1)
    values = np.exp(8 * rng.normal(size=MANY)) * rng.choice([-1, 1], MANY)
    leaf_of = rng.integers(0, 31, MANY).astype(np.int32)
    with using_threads(1):
        (one,) = leaf_sums(leaf_of, 31, values)
    shuffled = rng.permutation(MANY)
    with using_threads(2):
        assert one.tobytes() == leaf_sums(leaf_of[shuffled], 31, values[shuffled])[0].tobytes()


def test_several_values_at_once_are_as_one_by_one():
    rng = np.random.default_rng(2)
    leaf_of = rng.integers(-1, 5, 5000).astype(np.int32)
    both = rng.normal(size=5000), 1e-310 * rng.random(5000)
    for together, given in zip(leaf_sums(leaf_of, 5, *both), both, strict=True):
        assert together.tobytes() == leaf_sums(leaf_of, 5, given)[0].tobytes()
        assert together.any()


def test_nothing_and_too_much():
    assert leaf_sums(np.zeros(3, dtype=np.int32), 2, np.zeros(3))[0].tolist() == [0.0, 0.0]
    assert leaf_sums(np.zeros(0, dtype=np.int32), 1, np.zeros(0))[0].tolist() == [0.0]
    with pytest.raises(DataError, match="finite"):
        leaf_sums(np.zeros(2, dtype=np.int32), 1, np.array([1.0, np.nan]))
