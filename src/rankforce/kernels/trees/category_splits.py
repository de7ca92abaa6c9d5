"""Splits on categorical columns: the best set of a leaf's categories, and what a set makes of a leaf.

Each function does nothing where its bundle of ``categories`` is None: it is compiled to nothing then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.intrinsics import float_of
from rankforce.compiling.jit import uncounted_subroutine
from rankforce.kernels.trees.category_order import (
    SET_WORDS,
    add_pulls,
    clear_pulls,
    is_in_set,
    order_bins,
    place_others,
    put_in_order,
    smooth_in_order,
    turning_place,
    write_set,
)
from rankforce.kernels.trees.leaf_table import sum_of_bins
from rankforce.kernels.trees.splits import NO_SPLIT, best_careful_split, best_split, leaf_worth

FIRST = np.int64(0)  # where a histogram that was put in order begins


@uncounted_subroutine
def is_categorical(j: Any, categories: Any) -> Any:
    if categories is None:
        return False
    return categories.number[j] >= 0


@uncounted_subroutine
def _worth_of(leaf: Any, total: Any, rules: Any, bounds: Any) -> Any:
    one = np.int64(1)
    r = float_of(max(total & ((one << np.int64(rules.shift)) - one), one))
    worth, _ = leaf_worth(float_of(total >> rules.shift), r, rules.l2, rules.bounded, bounds[leaf, 0], bounds[leaf, 1])
    return worth


@uncounted_subroutine
def scan_categories(
    leaf: Any, j: Any, total: Any, counted: Any, columns: Any, categories: Any, rules: Any, histogram: Any,
    counts: Any, bounds: Any, sums: Any, worths: Any, worth_bits: Any, size: Any, best: Any,
) -> Any:  # fmt: skip
    """Note the best split of a leaf on one column, if that is categorical; return whether it is.

    A column in order is searched as a numeric one.
    """
    if categories is None:
        return False
    number = categories.number[j]
    if number < 0:
        return False
    start, bins = columns.starts[j], columns.size[j] - 1
    pulls, order, ordered = categories.pulls[number], categories.order[number], categories.ordered[number]
    clear_pulls(pulls)
    add_pulls(histogram, start, bins, total, rules.shift, pulls)
    count = order_bins(pulls, bins, size, categories.smoothing, categories.keys[number], order)
    turn = turning_place(order[0], count, bins, pulls)
    put_in_order(histogram, start, bins, order[0], count, ordered[0])
    smoothed = smooth_in_order(total, rules.shift, order[0], count, categories.keys[number], ordered[0])
    if counted or rules.bounded:
        if counted:
            put_in_order(counts, start, bins, order[0], count, ordered[1])
            place_others(size, count, turn, ordered[1])
        worth, place, missing_left = best_careful_split(
            ordered[0], ordered[1], FIRST, count, smoothed, rules.shift, rules.least, rules.l2, counted, size,
            rules.min_documents, columns.monotone[j], rules.bounded, bounds[leaf, 0], bounds[leaf, 1],
        )  # fmt: skip
    else:
        worth, place, missing_left = best_split(
            ordered[0], FIRST, count, smoothed, rules.shift, rules.least, rules.l2, sums, worths, worth_bits
        )
    if worth != NO_SPLIT:
        worth += _worth_of(leaf, total, rules, bounds) - _worth_of(leaf, smoothed, rules, bounds)
        missing_left = write_set(order[0], count, turn, place, missing_left, categories.sets[leaf, number])
    best.worth[leaf, j] = worth
    best.bin[leaf, j] = 0
    best.missing[leaf, j] = 1 if missing_left else 0
    best.verified[leaf, j] = 1 if counted else 0
    return True


@uncounted_subroutine
def collapse(order: Any, count: Any, of_bins: Any, ordered: Any) -> Any:
    """Of a histogram in order make two bins, what a set holds and what else there is, and missing values behind."""
    left = np.int64(0)
    right = np.int64(0)
    for k in range(count):
        if is_in_set(of_bins, order[k]):
            left += ordered[k]
        else:
            right += ordered[k]
    missing = ordered[count]
    ordered[0] = left
    ordered[1] = right
    ordered[2] = missing


@uncounted_subroutine
def sum_of_left(
    histogram: Any, row: Any, j: Any, split_bin: Any, missing_left: Any, columns: Any, categories: Any
) -> Any:
    """The sum of the entries that a split sends to the left; sets are those of leaf ``row``."""
    start, bins = columns.starts[j], columns.size[j] - 1
    left = np.int64(0)
    if is_categorical(j, categories):
        left = _sum_of_set(histogram, row, j, start, bins, categories)
    else:
        left = sum_of_bins(histogram, start, split_bin + 1)
    return left + histogram[start + bins] if missing_left else left


@uncounted_subroutine
def _sum_of_set(histogram: Any, row: Any, j: Any, start: Any, bins: Any, categories: Any) -> Any:
    total = np.int64(0)
    if categories is not None:
        of_bins = categories.sets[row, categories.number[j]]
        for b in range(bins):
            if is_in_set(of_bins, b):
                total += histogram[start + b]
    return total


@uncounted_subroutine
def note_set(node: Any, row: Any, j: Any, categories: Any) -> Any:
    """Write down the set of a split that is made; sets are those of leaf ``row``."""
    if categories is not None:
        number = categories.number[j]
        if number >= 0:
            for word in range(SET_WORDS):
                categories.chosen[node, word] = categories.sets[row, number, word]
