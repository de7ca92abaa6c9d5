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

from rankforce.compiling.intrinsics import bits_of, float_of
from rankforce.compiling.jit import uncounted_subroutine
from rankforce.compiling.vector_intrinsics import SUMMED, running_sums

NO_SPLIT = -math.inf  # bounded leaf values may be worth less than nothing
LEAST_SHIFT = 12  # with fewer bits for r, sums of q would have more of them than ``float_of`` takes
MOST_BINS = 256
VECTORS = 32  # bins that the compiled loops take at a time; a rest they would take one by one, four times as slowly
FEW_BINS = 8  # fewer are looked at one by one
ONE = np.uint64(1)


@uncounted_subroutine
def accumulate(histogram: Any, start: Any, bins: Any, sums: Any) -> Any:
    """Write the sum of the bins up to each one; return that of all."""
    origin = np.uint64(start)
    end = np.uint64(bins)
    in_vectors = end - end % np.uint64(SUMMED)
    left = running_sums(histogram, start, np.int64(in_vectors), sums)
    for b in range(in_vectors, end):
        left += histogram[origin + b]
        sums[b] = left
    return left


@uncounted_subroutine
def _best_of(
    before: Any,
    begin: Any,
    end: Any,
    total: Any,
    shift: Any,
    least: Any,
    l2: Any,
    sums: Any,
    worth_bits: Any,
) -> Any:
    """(bits of the worth, bin) of the best split from ``begin`` on; its left side holds ``before`` and a sum.

    Bits of floats that are not negative are in their order; where a side has too little they are −1. All is done in
    vectors, which unsigned places let the compiler see; only the place of the best of few bins is found one by one.
    """
    mask = (np.int64(1) << np.int64(shift)) - np.int64(1)
    most_left = (total & mask) - least
    q = float_of(total >> shift)
    r = float_of(total & mask)
    best = np.int64(-1)
    for k in range(begin, end):
        here = sums[k] + before
        r_here = here & mask
        q_left = float_of(here >> shift)
        r_left = float_of(r_here)
        q_right = q - q_left
        d_left = r_left + l2
        d_right = (r - r_left) + l2
        enough = (r_here >= least) & (r_here <= most_left)
        product = d_left * d_right if enough else 1.0
        bits = bits_of((q_left * q_left * d_right + q_right * q_right * d_left) / product)
        bits = bits if enough else np.int64(-1)
        worth_bits[k] = bits
        best = max(best, bits)
    if best < 0:  # perhaps there is no place at all
        return best, np.int64(-1)
    if end - begin <= np.uint64(2 * VECTORS):
        place = begin
        while worth_bits[place] != best:
            place += ONE
        return best, np.int64(place)
    first = end
    for k in range(begin, end):
        first = min(first, k if worth_bits[k] == best else end)
    return best, np.int64(first)


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

    ``total`` is the sum of the leaf's entries; entries are ``q·2^shift + r``, shift ≥ LEAST_SHIFT; least ≥ 1.
    Work space: ``sums`` int64, ``worths`` float64 and their bits ``worth_bits`` int64, (MOST_BINS,) each.

    Empty bins repeat a worth, which is never better: so do those that fill up the last vector. Those before the first
    value would send missing values alone to the left: there the sums are such that nothing is on that side.
    """
    end = np.uint64(bins)
    left = accumulate(histogram, start, bins, sums)
    whole = end if bins < FEW_BINS else end + (np.uint64(0) - end) % np.uint64(VECTORS)
    for b in range(end, whole):
        sums[b] = left
    missing = histogram[np.uint64(start) + end]
    begin = np.uint64(0)
    best = NO_SPLIT
    best_bin = np.int64(-1)
    missing_left = True
    for turn in range(2 if missing != 0 else 1):  # one call, for what is called twice is compiled twice
        before = np.int64(0)
        if turn == 1:
            before = missing
            while begin < end and sums[begin] == 0:
                sums[begin] = -missing
                begin += ONE
            begin -= np.uint64(0) if bins < FEW_BINS else begin % np.uint64(VECTORS)
        bits, b = _best_of(before, begin, whole, total, shift, least, l2, sums, worth_bits)
        if bits >= 0 and (worths[b] > best or (worths[b] == best and b <= best_bin)):
            best = worths[b]
            best_bin = b
            missing_left = missing == 0 or turn == 1
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
