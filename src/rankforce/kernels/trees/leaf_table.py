"""What both ways of growing a tree know about its leaves and write down about its splits."""

from __future__ import annotations

from typing import Any

from rankforce.compiling.jit import uncounted_subroutine
from rankforce.kernels.trees.splits import leaf_worth

ROUNDING = 2.0**-40  # a gain below this share of the terms it is the difference of is rounding

# What is known about a leaf: columns of ``leaves`` int64. START and HERE say where its documents are in this process,
# SIZE how many there are in all processes. BEGIN, COUNT and WHOLE repeat the three while its documents are dealt to
# both sides; TOTAL is the sum of its entries, LEFT_TOTAL that of the left side.
START, HERE, SIZE, DEPTH, TOTAL, LEFT_TOTAL, SLOT, FEATURE, PARENT, FAILURES, BEGIN, COUNT, WHOLE = range(13)
LEAF_COLUMNS = 13
# What is known about a split: columns of ``splits`` int32. A child ≥ 0 is a split, else the leaf ~child.
ON_COLUMN, AT_BIN, MISSING_TO_LEFT, LEFT_CHILD, RIGHT_CHILD = range(5)
SPLIT_COLUMNS = 5
NO_SLOT = -1  # of a leaf whose histogram is not kept
NO_LEAF = -1


@uncounted_subroutine
def sum_of_bins(histogram: Any, start: Any, count: Any) -> Any:
    total = 0
    for b in range(count):
        total += histogram[start + b]
    return total


@uncounted_subroutine
def choose_split(leaf: Any, left_total: Any, tree: Any) -> Any:
    """A leaf will be split: note what its left side will be worth, and where its documents are to be found."""
    leaves = tree.leaves
    leaves[leaf, LEFT_TOTAL] = left_total
    leaves[leaf, BEGIN] = leaves[leaf, START]
    leaves[leaf, COUNT] = leaves[leaf, HERE]
    leaves[leaf, WHOLE] = leaves[leaf, SIZE]


@uncounted_subroutine
def write_split(
    leaf: Any,
    other: Any,
    column: Any,
    split_bin: Any,
    missing_left: Any,
    n_left: Any,
    n_left_here: Any,
    leaves: Any,
    splits: Any,
) -> Any:
    """Split a leaf in two: ``n_left`` documents stay in ``leaf``, the others go to the new leaf ``other``.

    What else is known of the leaf is taken over; splits are numbered like the leaves that they make, one less.
    """
    node = other - 1
    splits[node, ON_COLUMN] = column
    splits[node, AT_BIN] = split_bin
    splits[node, MISSING_TO_LEFT] = 1 if missing_left else 0
    splits[node, LEFT_CHILD] = ~leaf
    splits[node, RIGHT_CHILD] = ~other
    parent = leaves[leaf, PARENT]
    if parent >= 0:
        splits[parent, LEFT_CHILD if splits[parent, LEFT_CHILD] == ~leaf else RIGHT_CHILD] = node
    leaves[leaf, PARENT] = node
    for what in range(leaves.shape[1]):
        leaves[other, what] = leaves[leaf, what]
    leaves[other, START] += n_left_here
    leaves[other, HERE] -= n_left_here
    leaves[other, SIZE] -= n_left
    leaves[leaf, HERE] = n_left_here
    leaves[leaf, SIZE] = n_left


@uncounted_subroutine
def bound_sides(leaf: Any, other: Any, direction: Any, rules: Any, leaves: Any, bounds: Any) -> Any:
    """Hand the bounds of a leaf to both sides of its split; the middle of their values is another, if it is monotone.

    ``direction`` is that of the feature (0: any).
    """
    lower = bounds[leaf, 0]
    upper = bounds[leaf, 1]
    bounds[other, 0] = lower
    bounds[other, 1] = upper
    if direction != 0:
        left = leaves[leaf, LEFT_TOTAL]
        right = leaves[leaf, TOTAL] - left
        mask = (1 << rules.shift) - 1
        _, left_value = leaf_worth(float(left >> rules.shift), left & mask, rules.l2, True, lower, upper)
        _, right_value = leaf_worth(float(right >> rules.shift), right & mask, rules.l2, True, lower, upper)
        middle = 0.5 * (left_value + right_value)
        side = 1 if direction > 0 else 0
        bounds[leaf, side] = middle
        bounds[other, 1 - side] = middle
