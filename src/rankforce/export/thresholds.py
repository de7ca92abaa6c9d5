"""Thresholds as a target compares them, so that every document goes to the side it goes to here: left if x <= t.

Features are float32. In targets that compare doubles, a double goes where its nearest float32 goes.
"""

from __future__ import annotations

import numpy as np

LARGEST = np.finfo(np.float32).max
SOLR_SLACK = np.float32(1e-6)
WITHOUT_SLACK = 32.0  # from here on less than half a unit of float32


def for_less_or_equal(thresholds: np.ndarray) -> np.ndarray:
    """For targets with ``x <= t`` in float32: t itself."""
    return thresholds.astype(np.float32)


def for_less(thresholds: np.ndarray) -> np.ndarray:
    """For targets with ``x < t`` in float32: the next number above.

    Above the largest number there is only infinity, which no text format has: it stands for itself, and sends all but
    itself left.
    """
    kept = thresholds.astype(np.float32)
    with np.errstate(over="ignore"):
        return np.minimum(np.nextafter(kept, np.float32(np.inf)), LARGEST)


def for_less_or_equal_in_double(thresholds: np.ndarray) -> np.ndarray:
    """For targets with ``x <= t`` in float64: the largest double that float32 rounds to t or below.

    This is the middle between t and its successor, or the double before it: what lies in the middle is rounded to the
    float32 whose last bit is 0. The largest float32 becomes the largest double.
    """
    low = thresholds.astype(np.float32)
    with np.errstate(over="ignore"):
        high = np.nextafter(low, np.float32(np.inf))
    middle = low.astype(np.float64) + (high.astype(np.float64) - low) / 2.0
    goes_left = low.view(np.uint32) % 2 == 0
    cut = np.where(goes_left, middle, np.nextafter(middle, -np.inf))
    return np.where(low == LARGEST, np.finfo(np.float64).max, cut)


def for_less_in_double(thresholds: np.ndarray) -> np.ndarray:
    """For targets with ``x < t`` in float64: the double after the last that goes left."""
    last = for_less_or_equal_in_double(thresholds)
    with np.errstate(over="ignore"):
        return np.minimum(np.nextafter(last, np.inf), np.finfo(np.float64).max)


def for_solr(thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(thresholds, mask of those that are exact) for Solr, which asks ``x <= t + 1e-6f`` in float32.

    Looked for is the float32 with the smallest sum that is at least t. From 32 on the slack is rounded away and t is
    itself the answer. Near 0, and for some negative t beside powers of two, no sum is t: then documents between t and
    the sum go left instead of right, unless the feature is scaled.
    """
    wanted = thresholds.astype(np.float32)
    with np.errstate(over="ignore"):
        candidate = wanted - SOLR_SLACK
        for _ in range(4):  # rounding moves the sum by few units
            candidate = np.nextafter(candidate, np.float32(-np.inf))
        found = candidate
        for _ in range(9):
            found = np.where(found + SOLR_SLACK >= wanted, found, candidate)
            candidate = np.nextafter(candidate, np.float32(np.inf))
    kept = np.abs(wanted) >= WITHOUT_SLACK
    return np.where(kept, wanted, found), kept | (found + SOLR_SLACK == wanted)


def written(value: float | np.floating) -> str:
    """A number as every parser reads it: the shortest text of the double, which is exact for float32, too."""
    return repr(float(value))
