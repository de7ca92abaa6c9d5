"""One regression tree whose leaves of a level all ask the same question: a single kernel that all threads run at once.

A test (feature, bin, side of missing values) is worth the sum of what it gains in each leaf of the level. A leaf that
it cannot split (too few documents on a side, values in the wrong order for a monotone feature, no gain) adds nothing
and stays as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.intrinsics import float_of
from rankforce.compiling.jit import kernel, subroutine
from rankforce.kernels.trees.barrier import meet
from rankforce.kernels.trees.histograms import WORD, make_histogram, subtract_histogram
from rankforce.kernels.trees.leaf_table import (
    LEAF_COLUMNS,
    PARENT,
    ROUNDING,
    SIZE,
    SLOT,
    START,
    TOTAL,
    bound_sides,
    sum_of_bins,
    write_split,
)
from rankforce.kernels.trees.partition import collect, deal, fill_sides
from rankforce.kernels.trees.splits import leaf_worth

# What a level does: places in ``plan`` int64.
GOING_ON, N_LEAVES, LEVEL, COLUMN, BIN, MISSING_LEFT = range(6)
PLAN_SIZE = 6
# What a split makes of a leaf: further columns of ``leaves``.
OTHER, SMALL = LEAF_COLUMNS, LEAF_COLUMNS + 1
LEVEL_COLUMNS = LEAF_COLUMNS + 2
NOT_SPLIT = -1
NO_GAIN = 0.0


@subroutine
def _add_gains(
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
    left = np.int64(0)
    for b in range(end):
        left += histogram[first + b]
        sums[0, b] = left
    n_missing = np.int64(0)
    fewest = np.int64(0)
    if counted:
        fewest = np.int64(min_documents)
        n_missing = counts[first + end]
        n_left = np.int64(0)
        for b in range(end):
            n_left += counts[first + b]
            sums[1, b] = n_left
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


@subroutine
def _choose_leaves(leaf_gain: Any, n_leaves: Any, room: Any, leaves: Any) -> Any:
    """Give every leaf that gains a new leaf beside it; if there is room for few only, those that gain most."""
    wanted = 0
    for leaf in range(n_leaves):
        leaves[leaf, OTHER] = NOT_SPLIT
        wanted += leaf_gain[leaf] > NO_GAIN
    refused = wanted - room
    while refused > 0:
        worst = -1
        for leaf in range(n_leaves):  # of equal ones the last
            if leaf_gain[leaf] > NO_GAIN and (worst < 0 or leaf_gain[leaf] <= leaf_gain[worst]):
                worst = leaf
        leaf_gain[worst] = NO_GAIN
        refused -= 1
    other = n_leaves
    for leaf in range(n_leaves):
        if leaf_gain[leaf] > NO_GAIN:
            leaves[leaf, OTHER] = other
            other += 1


@kernel
def grow_symmetric_tree(
    thread: Any,
    threads: Any,
    meeting: Any,
    words: Any,
    cells: Any,
    row_stride: Any,
    column_stride: Any,
    starts: Any,
    share: Any,
    byte: Any,
    stride: Any,
    size_of: Any,
    usable: Any,
    monotone: Any,
    entries: Any,
    shift: Any,
    l2: Any,
    min_gain: Any,
    least: Any,
    min_documents: Any,
    check_documents: Any,
    levels: Any,
    bounded: Any,
    documents: Any,
    scratch: Any,
    pool: Any,
    counts: Any,
    best_gain: Any,
    best_bin: Any,
    best_missing: Any,
    gains: Any,
    sums: Any,
    plan: Any,
    dealt: Any,
    sides: Any,
    leaves: Any,
    leaf_gain: Any,
    bounds: Any,
    splits: Any,
    split_gain: Any,
) -> Any:
    """Grow a tree of at most ``levels`` levels on ``documents``; return its number of leaves (−1: a thread is missing).

    Arguments as for ``grow_tree``, but: ``pool`` int64, a histogram for each leaf or a single one; ``counts`` int64, as
    many of counts if ``check_documents``; per column the best test (``best_gain`` float64, ``best_bin``
    int32, ``best_missing`` uint8); ``gains`` float64 (threads, 3, 256), or with a single histogram (columns, 3, 256);
    ``sums`` int64 (threads, 2, 256), all 0; ``dealt`` int64 (threads, leaves, 2); ``leaves`` int64 (leaves, 10).

    Of equal tests the lower feature wins, then the lower bin, then missing values on the left. Missing values of a
    feature that no document of the level misses go to the larger side of all documents. Should the last level make too
    many leaves, those are split that gain most (of equal ones the lower number).
    """
    most_leaves = len(bounds)
    n_columns = len(starts)
    n_words = words.shape[1]
    first_word = n_words * thread // threads
    last_word = n_words * (thread + 1) // threads
    first_document = len(documents) * thread // threads
    last_document = len(documents) * (thread + 1) // threads
    kept = len(pool) > 1
    if thread == 0:
        for column in range(LEAF_COLUMNS):
            leaves[0, column] = 0
        leaves[0, SIZE] = len(documents)
        leaves[0, PARENT] = -1
        leaves[0, OTHER] = 0  # the root's histogram is made as if it had just been split off
        leaves[0, SMALL] = 0
        bounds[0, 0] = -np.inf
        bounds[0, 1] = np.inf
        plan[N_LEAVES] = 1
        plan[LEVEL] = 0
        plan[GOING_ON] = 1
    came = meet(meeting, threads)
    while came and plan[GOING_ON] == 1:  # the only way out, since every way out lets go of every array
        n_leaves = plan[N_LEAVES]

        # With a histogram for each leaf, all leaves are looked at in one turn; with a single one, each in its own.
        for turn in range(1 if kept else n_leaves):
            first_leaf, last_leaf = (0, n_leaves) if kept else (turn, turn + 1)

            # The histogram of the smaller side of every new pair of leaves, some of the bytes per thread.
            for leaf in range(first_leaf, last_leaf):
                if first_word == last_word or not (
                    leaves[leaf, OTHER] != NOT_SPLIT if kept else leaves[leaf, SIZE] >= 2 * min_documents
                ):
                    continue
                built = leaves[leaf, SMALL] if kept else leaf
                slot = leaves[built, SLOT] if kept else 0
                for counting in range(2 if check_documents else 1):
                    make_histogram(
                        words, documents[leaves[built, START] : leaves[built, START] + leaves[built, SIZE]], entries,
                        counting == 1, starts, byte, stride, size_of, first_word, last_word,
                        (counts if counting == 1 else pool)[slot],
                    )  # fmt: skip
            came = meet(meeting, threads)
            if not came:
                break

            # What remains is its sibling's. Then the gains of all tests on each column, some columns per thread.
            for j in range(n_columns):
                if int(share[j] * threads) != thread:
                    continue
                mine = gains[thread if kept else j]
                start, bins = starts[j], size_of[j] - 1
                for leaf in range(n_leaves if kept else 0):
                    other = leaves[leaf, OTHER]
                    if other == NOT_SPLIT or other == leaf:
                        continue
                    small = leaves[leaf, SMALL]
                    large = other if small == leaf else leaf
                    for counting in range(2 if check_documents else 1):
                        histograms = counts if counting == 1 else pool
                        subtract_histogram(
                            histograms[leaves[large, SLOT]], histograms[leaves[small, SLOT]], start, start + bins + 1
                        )
                best_gain[j] = NO_GAIN
                if usable[j] == 0:
                    continue
                if turn == 0:
                    for b in range(bins):
                        mine[0, b] = 0.0
                        mine[1, b] = 0.0
                for leaf in range(first_leaf, last_leaf):
                    if leaves[leaf, SIZE] < 2 * min_documents:
                        continue
                    slot = leaves[leaf, SLOT] if kept else 0
                    histogram = pool[slot]
                    _add_gains(
                        histogram, counts[slot if check_documents else 0], start, bins,
                        sum_of_bins(histogram, start, bins + 1), leaves[leaf, SIZE], shift, l2, least, min_documents,
                        check_documents, min_gain, monotone[j], bounded, bounds[leaf, 0], bounds[leaf, 1],
                        sums[thread], mine,
                    )  # fmt: skip
                if last_leaf < n_leaves:
                    continue
                for b in range(bins):
                    for side in range(2):
                        if mine[side, b] > best_gain[j]:
                            best_gain[j] = mine[side, b]
                            best_bin[j] = b
                            best_missing[j] = 1 - side
            came = meet(meeting, threads)
            if not came:
                break
        if not came:
            continue

        # The best test of all, and the leaves that it splits.
        if thread == 0:
            chosen = 0
            for j in range(1, n_columns):
                if best_gain[j] > best_gain[chosen]:
                    chosen = j
            plan[GOING_ON] = 1 if best_gain[chosen] > NO_GAIN else 0
            plan[COLUMN] = chosen
            plan[BIN] = best_bin[chosen]
            plan[MISSING_LEFT] = best_missing[chosen]
            start, bins = starts[chosen], size_of[chosen] - 1
            mine = gains[0]
            for leaf in range(n_leaves):
                leaf_gain[leaf] = NO_GAIN
                if plan[GOING_ON] == 0 or leaves[leaf, SIZE] < 2 * min_documents:
                    continue
                slot = leaves[leaf, SLOT] if kept else 0
                for counting in range(0 if kept else 2 if check_documents else 1):
                    make_histogram(
                        words, documents[leaves[leaf, START] : leaves[leaf, START] + leaves[leaf, SIZE]], entries,
                        counting == 1, starts, byte, stride, size_of, byte[chosen] // WORD, byte[chosen] // WORD + 1,
                        (counts if counting == 1 else pool)[0],
                    )  # fmt: skip
                histogram = pool[slot]
                leaves[leaf, TOTAL] = sum_of_bins(histogram, start, bins + 1)
                mine[1 - plan[MISSING_LEFT], plan[BIN]] = NO_GAIN
                _add_gains(
                    histogram, counts[slot if check_documents else 0], start, bins,
                    leaves[leaf, TOTAL], leaves[leaf, SIZE], shift, l2, least, min_documents,
                    check_documents, min_gain, monotone[chosen], bounded, bounds[leaf, 0], bounds[leaf, 1],
                    sums[thread], mine,
                )  # fmt: skip
                leaf_gain[leaf] = mine[1 - plan[MISSING_LEFT], plan[BIN]]
            _choose_leaves(leaf_gain, n_leaves, most_leaves - n_leaves, leaves)
        came = meet(meeting, threads)
        if not came or plan[GOING_ON] == 0:
            continue

        # Documents are dealt out, a range of them per thread, leaf by leaf.
        column, chosen_bin, missing_left = plan[COLUMN], plan[BIN], plan[MISSING_LEFT] == 1
        by_column = column_stride > 0
        fill_sides(
            1 if by_column else stride[column], 256 if by_column else size_of[column],
            chosen_bin, missing_left, size_of[column] - 1, sides[thread],
        )  # fmt: skip
        for leaf in range(n_leaves):
            begin = max(first_document, leaves[leaf, START])
            end = min(last_document, leaves[leaf, START] + leaves[leaf, SIZE])
            dealt[thread, leaf, 0] = 0
            dealt[thread, leaf, 1] = 0
            if leaves[leaf, OTHER] != NOT_SPLIT and begin < end:
                dealt[thread, leaf, 0], dealt[thread, leaf, 1] = deal(
                    cells, row_stride, column * column_stride if by_column else byte[column], sides[thread],
                    documents, begin, end, scratch,
                )  # fmt: skip
        came = meet(meeting, threads)
        if not came:
            continue
        for leaf in range(n_leaves):
            start = leaves[leaf, START]
            begin = max(first_document, start)
            end = min(last_document, start + leaves[leaf, SIZE])
            if leaves[leaf, OTHER] == NOT_SPLIT or begin >= end:
                continue
            n_left = 0
            left_before = 0
            for t in range(threads):
                if t == thread:
                    left_before = n_left
                n_left += dealt[t, leaf, 0]
            collect(
                scratch, begin, end, dealt[thread, leaf, 0],
                start + left_before, start + n_left + (begin - start - left_before), documents,
            )  # fmt: skip
        came = meet(meeting, threads)
        if not came:
            continue

        # The splits are written down. The others wait for the next level.
        if thread == 0:
            n_left_of_all = 0
            n_missing = 0
            n_split = 0
            for leaf in range(n_leaves):
                if leaves[leaf, OTHER] == NOT_SPLIT:
                    continue
                n_split += leaves[leaf, SIZE]
                for t in range(threads):
                    n_left_of_all += dealt[t, leaf, 0]
                    n_missing += dealt[t, leaf, 1]
            later_left = 2 * n_left_of_all >= n_split if n_missing == 0 else missing_left
            for leaf in range(n_leaves):
                other = leaves[leaf, OTHER]
                if other == NOT_SPLIT:
                    continue
                n_left = 0
                for t in range(threads):
                    n_left += dealt[t, leaf, 0]
                size = leaves[leaf, SIZE]
                if not kept and monotone[column] != 0:
                    make_histogram(
                        words, documents[leaves[leaf, START] : leaves[leaf, START] + size], entries, False,
                        starts, byte, stride, size_of, byte[column] // WORD, byte[column] // WORD + 1, pool[0],
                    )  # fmt: skip
                bound_sides(
                    leaf, other, pool[leaves[leaf, SLOT] if kept else 0], starts[column], size_of[column] - 1,
                    chosen_bin, missing_left, monotone[column], leaves[leaf, TOTAL], shift, l2, bounds,
                )  # fmt: skip
                write_split(leaf, other, column, chosen_bin, later_left, n_left, leaves, splits)
                split_gain[other - 1] = leaf_gain[leaf]
                leaves[other, OTHER] = NOT_SPLIT
                # The larger leaf takes over the histogram, the smaller one gets a new one.
                small = other if 2 * n_left >= size else leaf
                leaves[leaf, SMALL] = small
                leaves[small, SLOT] = other
                plan[N_LEAVES] = other + 1
            plan[LEVEL] += 1
            splittable = 0
            for leaf in range(plan[N_LEAVES]):
                splittable += leaves[leaf, SIZE] >= 2 * min_documents
            if plan[LEVEL] == levels or plan[N_LEAVES] == most_leaves or splittable == 0:
                plan[GOING_ON] = 0
        came = meet(meeting, threads)
    return plan[N_LEAVES] if came else -1
