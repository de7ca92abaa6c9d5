"""Thresholds for other comparisons: the side of every float32 beside them, and of every double."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.export.hard_models import HARD, LARGEST

from rankforce.export.thresholds import (
    SOLR_SLACK,
    for_less,
    for_less_in_double,
    for_less_or_equal_in_double,
    for_solr,
    written,
)

FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False).map(np.float32)


def around(threshold: np.float32) -> np.ndarray:
    with np.errstate(over="ignore"):
        near = [np.nextafter(threshold, np.float32(side)) for side in (-np.inf, np.inf)]
    values = np.array([threshold, *near, 0.0, -0.0, 1e-45, -1e-45, 1e30, -1e30], dtype=np.float32)
    return values[np.isfinite(values) & (values != LARGEST)]


@given(FINITE)
def test_less(threshold: np.float32) -> None:
    cut = for_less(np.array([threshold]))[0]
    assert np.isfinite(cut)
    assert cut.dtype == np.float32
    values = around(threshold)
    assert np.array_equal(values < cut, values <= threshold)


@given(FINITE, st.floats(-2.0, 2.0))
def test_doubles_go_where_their_nearest_float32_goes(threshold: np.float32, share: float) -> None:
    at_most, below = (cut(np.array([threshold]))[0] for cut in (for_less_or_equal_in_double, for_less_in_double))
    exact = float(threshold)
    with np.errstate(over="ignore"):
        step = float(np.nextafter(threshold, np.float32(np.inf))) - exact
    step = step if np.isfinite(step) else exact - float(np.nextafter(threshold, np.float32(-np.inf)))
    middle = exact + step / 2
    values = np.array(
        [exact, middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf), exact + share * step, 0.0, -0.0,
         np.nextafter(exact, np.inf), np.nextafter(exact, -np.inf), exact - step / 2]
    )  # fmt: skip
    with np.errstate(over="ignore"):
        nearest = values.astype(np.float32)
    values, nearest = values[np.isfinite(nearest)], nearest[np.isfinite(nearest)]
    assert np.array_equal(values <= at_most, nearest <= threshold)
    assert np.array_equal(values < below, nearest <= threshold)


@given(FINITE)
def test_solr_where_it_says_exact(threshold: np.float32) -> None:
    found, exact = for_solr(np.array([threshold]))
    values = around(threshold)
    with np.errstate(over="ignore"):
        left = values <= found[0] + SOLR_SLACK
    if exact[0]:
        assert np.array_equal(left, values <= threshold)
    else:
        assert left[0], "a document on the threshold still goes left"
        assert 0 <= float(found[0] + SOLR_SLACK) - float(threshold) <= 1e-6
    assert exact[0] or 0 < abs(threshold) < 32


def test_solr_is_exact_at_zero_and_for_large_numbers() -> None:
    special = np.array([0.0, -0.0, 1e-6, 32.0, -32.0, 1e7, -1e20, LARGEST], dtype=np.float32)
    assert for_solr(special)[1].all()


@pytest.mark.parametrize("value", HARD.tolist())
def test_numbers_are_read_back(value: float) -> None:
    assert np.float32(written(np.float32(value))) == np.float32(value)
    assert float(written(np.float32(value))) == float(np.float32(value))
