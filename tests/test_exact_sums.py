"""Exact sums are ``math.fsum``, and sums of parts are sums of the whole."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankforce.exact_sums import ExactSum

random = np.random.default_rng(5)


def any_floats(count):
    """Numbers of every magnitude, subnormal ones too: random bits."""
    values = random.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    return values[np.isfinite(values) & (np.abs(values) < 1e300)]


@pytest.mark.parametrize(
    "values",
    [
        np.empty(0),
        np.array([-0.0]),
        np.array([5e-324, 5e-324, -5e-324]),
        np.array([1.0, 1e100, 1.0, -1e100]),
        np.array([1.7e308, 1.7e308, -1.7e308]),
        np.array([0.1] * 10),
        np.array([1.0, 2.0**-53, 2.0**-106]),  # just above the middle of two numbers
        np.array([1.0, 2.0**-53]),  # the middle: to the even one
        np.array([1.0 + 2.0**-52, 2.0**-53]),
    ],
)
def test_chosen(values):
    wanted = 1.7e308 if len(values) and values[0] == 1.7e308 else math.fsum(values)  # fsum overflows on the way
    assert ExactSum.of(values).rounded() == wanted


@pytest.mark.parametrize("case", range(300))
def test_random_is_fsum(case):
    kind = case % 3
    if kind == 0:
        values = any_floats(1 + case)
    elif kind == 1:
        values = random.normal(size=1 + case) * 10.0 ** random.integers(-30, 30, 1 + case)
    else:
        values = random.normal(size=1 + case)
        values = np.concatenate([values, -values[: case // 2] * (1 + 2**-52)])
    assert ExactSum.of(values).rounded() == math.fsum(values)
    cut = case // 2
    parts = ExactSum.of(values[:cut]).parts + ExactSum.of(values[cut:]).parts
    assert ExactSum.from_parts(parts).rounded() == math.fsum(values)


def test_many_equal_digits_do_not_overflow():
    values = np.full(3_000_000, np.nextafter(1.0, 0.0))
    assert ExactSum.of(values).rounded() == math.fsum(values)


@pytest.mark.parametrize(
    ("values", "result"),
    [
        ([math.inf, 1.0], math.inf),
        ([-math.inf, 1e308], -math.inf),
        ([math.inf, -math.inf], math.nan),
        ([math.nan], math.nan),
    ],
)
def test_not_finite(values, result):
    assert repr(ExactSum.of(np.array(values)).rounded()) == repr(result)


def test_beyond_all_numbers():
    with pytest.raises(OverflowError):
        ExactSum.of(np.full(3, 1.7e308)).rounded()
