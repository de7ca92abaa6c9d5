"""Sorting by digits, against NumPy's sort."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.kernels.radix_sort import sort_bits

EXTREMES = np.array(
    [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-45, -1e-45, 3.4e38, -3.4e38, 1.0, -1.0],
    dtype=np.float32,
)


def by_digits(values):
    made = values.copy()
    sort_bits(made.view(np.uint32), np.empty(len(made), dtype=np.uint32))
    return made


@pytest.mark.parametrize("size", [0, 1, 2, 13, 300, 3000])
@pytest.mark.parametrize("kind", ["normal", "few values", "all bits", "small", "one value", "extremes"])
def test_the_order_is_that_of_numpy(size, kind):
    rng = np.random.default_rng(size)
    values = {
        "normal": rng.normal(size=size),
        "few values": rng.integers(-2, 3, size),
        "all bits": rng.integers(0, 2**32, size, dtype=np.uint32).view(np.float32),
        "small": rng.normal(size=size) * 1e-40,
        "one value": np.full(size, -7.25),
        "extremes": rng.choice(EXTREMES, size),
    }[kind].astype(np.float32)
    with np.errstate(invalid="ignore"):
        expected = np.sort(values) + np.float32(0.0)  # zeros have no sign
    np.testing.assert_array_equal(by_digits(values), expected)
    assert not (np.signbit(by_digits(values)) & (expected == 0)).any()


def test_sorted_and_reversed_stay_and_turn():
    rising = np.linspace(-5, 5, 1001, dtype=np.float32)
    assert by_digits(rising).tobytes() == (rising + np.float32(0)).tobytes()
    assert by_digits(rising[::-1].copy()).tobytes() == (rising + np.float32(0)).tobytes()
