"""One set of categories for all leaves of a symmetric tree's level.

Each function does nothing where its bundle of ``categories`` is None: it is compiled to nothing then.
"""

from __future__ import annotations

from typing import Any

from rankforce.compiling.jit import uncounted_subroutine
from rankforce.kernels.trees.category_order import (
    add_pulls,
    clear_pulls,
    order_bins,
    place_others,
    put_in_order,
    smooth_in_order,
    turning_place,
    write_set,
)
from rankforce.kernels.trees.category_splits import FIRST, collapse
from rankforce.kernels.trees.growth_state import N_LEAVES
from rankforce.kernels.trees.leaf_table import SIZE, SLOT, sum_of_bins
from rankforce.kernels.trees.level_gains import NO_GAIN, add_gains


@uncounted_subroutine
def add_ordered_gains(
    leaf: Any, j: Any, total: Any, chosen: Any, columns: Any, categories: Any, rules: Any, histograms: Any, tree: Any,
    sums: Any, gains: Any,
) -> Any:  # fmt: skip
    """Add what a leaf gains by every set of categories in their order, or at place 0 by the set that was ``chosen``."""
    if categories is None:
        return
    slot, size = tree.leaves[leaf, SLOT], tree.leaves[leaf, SIZE]
    start, bins, number = columns.starts[j], columns.size[j] - 1, categories.number[j]
    order, ordered, count = categories.order[number, 0], categories.ordered[number], categories.n_ordered[number]
    put_in_order(histograms.sums[slot], start, bins, order, count, ordered[0])
    smoothed = smooth_in_order(total, rules.shift, order, count, categories.keys[number], ordered[0])
    if rules.check_documents:
        put_in_order(histograms.counts[slot], start, bins, order, count, ordered[1])
        place_others(size, count, categories.turn[number], ordered[1])
    if chosen:
        for counting in range(2 if rules.check_documents else 1):
            collapse(order, count, categories.sets[0, number], ordered[counting])
    add_gains(
        ordered[0], ordered[1], FIRST, 2 if chosen else count, smoothed, size, rules.shift,
        rules.l2, rules.least, rules.min_documents, rules.check_documents, rules.min_gain, columns.monotone[j],
        rules.bounded, tree.bounds[leaf, 0], tree.bounds[leaf, 1], sums, gains,
    )  # fmt: skip


@uncounted_subroutine
def places_to_split(
    j: Any, first_leaf: Any, last_leaf: Any, fresh: Any, summing: Any, columns: Any, categories: Any, rules: Any,
    histograms: Any, tree: Any,
) -> Any:  # fmt: skip
    """How many places there are to split a column at; 0 while the order of categories is not known.

    That order is of sums over all leaves of the level that could be split. With a single histogram the leaves have a
    turn each to be added up (``summing``), before the turns in which they add their gains; ``fresh`` are the first turn
    of all and the first of these.
    """
    bins = columns.size[j] - 1
    if categories is None:
        return bins
    leaves, number = tree.leaves, categories.number[j]
    if number < 0:
        return 0 if summing else bins
    pulls = categories.pulls[number]
    if summing or len(histograms.sums) > 1:
        if fresh:
            clear_pulls(pulls)
        for leaf in range(first_leaf, last_leaf):
            if leaves[leaf, SIZE] >= 2 * rules.min_documents:
                histogram = histograms.sums[leaves[leaf, SLOT]]
                total = sum_of_bins(histogram, columns.starts[j], columns.size[j])
                add_pulls(histogram, columns.starts[j], bins, total, rules.shift, pulls)
    if summing:
        return 0
    if fresh:
        n_documents = 0
        for leaf in range(tree.plan[N_LEAVES]):
            n_documents += leaves[leaf, SIZE] if leaves[leaf, SIZE] >= 2 * rules.min_documents else 0
        order = categories.order[number]
        categories.n_ordered[number] = order_bins(
            pulls, bins, n_documents, categories.smoothing, categories.keys[number], order
        )
        categories.turn[number] = turning_place(order[0], categories.n_ordered[number], bins, pulls)
    return categories.n_ordered[number]


@uncounted_subroutine
def note_best_set(j: Any, categories: Any, best: Any) -> Any:
    """The best place in the order of categories becomes a set."""
    if categories is None:
        return
    number = categories.number[j]
    if number >= 0 and best.worth[0, j] > NO_GAIN:
        missing_left = write_set(
            categories.order[number, 0], categories.n_ordered[number], categories.turn[number], best.bin[0, j],
            best.missing[0, j] == 1, categories.sets[0, number],
        )  # fmt: skip
        best.bin[0, j] = 0
        best.missing[0, j] = 1 if missing_left else 0
