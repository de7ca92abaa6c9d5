"""The best split of a leaf on one feature, from its packed histogram.

The **value** of a set of documents with sums q (forces) and r (curvatures or counts) is q²/(r + l2), the loss that its
best leaf value removes; a split is worth value(left) + value(right), and its gain is that minus the value of the leaf.
All in units of the quantisation, where q and r are integers.

Bins 0 … bins − 1 hold values, bin ``bins`` the missing ones. A split at bin b sends bins ≤ b to the left, and missing
values to the side that is worth more. Of equal splits the one at the lower bin wins, then the one with missing values
on the left. A bin whose sum is 0 is no place to split. Both sides need Σr ≥ ``least``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankforce.compiling.intrinsics import float_of
from rankforce.compiling.jit import uncounted_subroutine

NO_SPLIT = -math.inf  # bounded leaf values may be worth less than nothing
LEAST_SHIFT = 12  # with fewer bits for r, sums of q would have more of them than ``float_of`` takes
MOST_BINS = 256
ONE = np.uint64(1)


@uncounted_subroutine
def _best_of(
    before: Any,
    first: Any,
    bins: Any,
    total: Any,
    shift: Any,
    least: Any,
    l2: Any,
    sums: Any,
    worths: Any,
    worth_bits: Any,
) -> Any:
    """(worth, bin) of the best split from bin ``first`` on; its left side holds ``before`` and the sum up to its bin.

    Empty bins repeat a worth, which is never better. Σr rises with the bin: places where both sides have enough of it
    follow each other, and are counted. Everything is done in vectors (which unsigned places let the compiler see).
    """
    mask = (np.int64(1) << np.int64(shift)) - np.int64(1)
    most_left = (total & mask) - least
    too_few = np.int64(0)
    not_too_many = np.int64(0)
    for k in range(first, bins):
        r_left = (sums[k] + before) & mask
        too_few += np.int64(r_left < least)
        not_too_many += np.int64(r_left <= most_left)
    if too_few >= not_too_many:
        return NO_SPLIT, -1
    begin = first + np.uint64(too_few)
    end = first + np.uint64(not_too_many)
    q = float_of(total >> shift)
    r = float_of(total & mask)
    for k in range(begin, end):
        here = sums[k] + before
        q_left = float_of(here >> shift)
        r_left = float_of(here & mask)
        q_right = q - q_left
        d_left = r_left + l2
        d_right = (r - r_left) + l2
        worths[k] = (q_left * q_left * d_right + q_right * q_right * d_left) / (d_left * d_right)
    best = np.int64(0)
    for k in range(begin, end):
        best = max(best, worth_bits[k])  # floats that are not negative are in the order of their bits
    place = begin
    while worth_bits[place] != best:
        place += ONE
    return worths[place], np.int64(place)


@uncounted_subroutine
def best_split(
    histogram: Any,
    start: Any,
    bins: Any,
    total: Any,
    shift: Any,
    least: Any,
    l2: Any,
    sums: Any,
    worths: Any,
    worth_bits: Any,
) -> Any:
    """(worth, bin, whether missing values go left) of the best split on the feature at ``start``; bin −1 if none.

    ``total`` is the sum of the leaf's entries; entries are ``q·2^shift + r``, shift ≥ LEAST_SHIFT.
    Work space: ``sums`` int64, ``worths`` float64 and their bits ``worth_bits`` int64, (MOST_BINS,) each.
    """
    origin = np.uint64(start)
    end = np.uint64(bins)
    left = np.int64(0)
    for b in range(end):
        left += histogram[origin + b]
        sums[b] = left
    first = np.uint64(0)
    while first < end and histogram[origin + first] == 0:
        first += ONE
    missing = histogram[origin + end]
    best = NO_SPLIT
    best_bin = np.int64(-1)
    missing_left = True
    for side in range(2 if missing != 0 else 1):  # one call, for what is called twice is compiled twice
        before = missing if side == 0 else np.int64(0)
        worth, b = _best_of(before, first, end, total, shift, least, l2, sums, worths, worth_bits)
        if worth > best or (worth == best and b < best_bin):
            best = worth
            best_bin = b
            missing_left = side == 0
    return best, best_bin, missing_left


@uncounted_subroutine
def leaf_worth(q: Any, r: Any, l2: Any, bounded: Any, lower: Any, upper: Any) -> Any:
    """(worth, value) of a leaf whose value is kept between two bounds: 2qv − (r + l2)v² at the nearest allowed v."""
    denominator = r + l2
    if not bounded:
        return q * q / denominator, 0.0
    value = min(max(q / denominator, lower), upper)
    return 2.0 * q * value - denominator * value * value, value


@uncounted_subroutine
def best_careful_split(
    histogram: Any,
    counts: Any,
    start: Any,
    bins: Any,
    total: Any,
    shift: Any,
    least: Any,
    l2: Any,
    counted: Any,
    n_documents: Any,
    min_documents: Any,
    direction: Any,
    bounded: Any,
    lower: Any,
    upper: Any,
) -> Any:
    """As ``best_split``, where documents must be counted or leaf values are bounded.

    ``counted``: both sides need ``min_documents``, and ``counts`` has the number of documents in every bin.
    ``bounded``: leaf values lie in [lower, upper] (in units of the quantisation), and with ``direction`` +1 (−1) the
    left value must not exceed (fall below) the right one.
    """
    mask = (1 << shift) - 1
    q = total >> shift
    r = total & mask
    best = NO_SPLIT
    best_bin = -1
    best_missing_left = True
    left = 0
    n_left = 0
    for b in range(bins):
        if counted:
            n_left += counts[start + b]
        if histogram[start + b] == 0:
            continue
        left += histogram[start + b]
        for side in range(2):
            missing_left = side == 0
            here = left + histogram[start + bins] if missing_left else left
            r_left = here & mask
            r_right = r - r_left
            if r_left < least or r_right < least:
                continue
            if counted:
                n_here = n_left + counts[start + bins] if missing_left else n_left
                if n_here < min_documents or n_documents - n_here < min_documents:
                    continue
            q_left = float(here >> shift)
            q_right = float(q - (here >> shift))
            d_left = r_left + l2
            d_right = r_right + l2
            if bounded:
                worth_left, value_left = leaf_worth(q_left, r_left, l2, True, lower, upper)
                worth_right, value_right = leaf_worth(q_right, r_right, l2, True, lower, upper)
                if direction * value_left > direction * value_right:
                    continue
                worth = worth_left + worth_right
            else:
                worth = (q_left * q_left * d_right + q_right * q_right * d_left) / (d_left * d_right)
            if worth > best:
                best = worth
                best_bin = b
                best_missing_left = missing_left
    return best, best_bin, best_missing_left
