"""What the leaves of a level gain by every test on a column."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.intrinsics import float_of
from rankforce.compiling.jit import uncounted_subroutine
from rankforce.kernels.trees.leaf_table import ROUNDING
from rankforce.kernels.trees.splits import accumulate, leaf_worth

NO_GAIN = 0.0


@uncounted_subroutine
def add_gains(
    histogram: Any,
    counts: Any,
    start: Any,
    bins: Any,
    total: Any,
    n_documents: Any,
    shift: Any,
    l2: Any,
    least: Any,
    min_documents: Any,
    counted: Any,
    min_gain: Any,
    direction: Any,
    bounded: Any,
    lower: Any,
    upper: Any,
    sums: Any,
    gains: Any,
) -> Any:
    """Add what one leaf gains by every test on one column to the first two rows of ``gains``; 0 if it cannot be split.

    ``gains`` float64 (3, bins): missing values to the left, to the right, work space. ``sums`` int64 (2, bins) is work
    space, too, its second row 0 if documents are not counted. No turn of the longest loop depends on another one or
    jumps, and places are unsigned: it is done in vectors.
    """
    one = np.int64(1)
    mask = (one << np.int64(shift)) - one
    first = np.uint64(start)
    end = np.uint64(bins)
    accumulate(histogram, start, bins, sums[0])
    n_missing = np.int64(0)
    fewest = np.int64(0)
    if counted:
        fewest = np.int64(min_documents)
        n_missing = counts[first + end]
        accumulate(counts, start, bins, sums[1])
    missing = histogram[first + end]
    both = missing != 0 or n_missing != 0
    q = float_of(total >> shift)
    r = total & mask
    whole, _ = leaf_worth(q, float_of(max(r, one)), l2, bounded, lower, upper)
    for side in range(2 if both else 1):
        more = missing if side == 0 else np.int64(0)
        n_more = n_missing if side == 0 else np.int64(0)
        for b in range(end):
            here = sums[0, b] + more
            n_here = sums[1, b] + n_more
            r_left = here & mask
            r_right = r - r_left
            q_left = float_of(here >> shift)
            # where a side has nothing, anything but a division by 0: it will not be split off
            worth_left, value_left = leaf_worth(q_left, float_of(max(r_left, one)), l2, bounded, lower, upper)
            worth_right, value_right = leaf_worth(q - q_left, float_of(max(r_right, one)), l2, bounded, lower, upper)
            worth = worth_left + worth_right
            gain = worth - whole
            splits = (r_left >= least) & (r_right >= least) & (n_here >= fewest) & (n_documents - n_here >= fewest)
            ordered = direction * value_left <= direction * value_right
            enough = (gain > ROUNDING * abs(worth)) & (gain > min_gain)
            gains[2, b] = gain if splits & ordered & enough else NO_GAIN
        for row in range(side, side + 1 if both else 2):
            for b in range(end):
                gains[row, b] += gains[2, b]
