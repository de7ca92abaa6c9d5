"""One regression tree, grown leaf by leaf, best gain first: a single kernel that all threads run at once.

One call grows the whole tree, so that small leaves cost no Python and no waking of threads. All threads follow the
same steps; what is decided in one place is decided by thread 0 and read by the others after a meeting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.kernels.trees.barrier import meet
from rankforce.kernels.trees.histograms import WORD, make_histogram, subtract_histogram
from rankforce.kernels.trees.leaf_table import (
    DEPTH,
    FAILURES,
    FEATURE,
    LEAF_COLUMNS,
    NO_SLOT,
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
from rankforce.kernels.trees.splits import NO_SPLIT, best_careful_split, best_split, leaf_worth

SMALL_LEAF = 1024  # documents below which one thread deals them out
PATIENCE = 4  # times that a leaf's best split may leave too few documents before all its features are counted
CLOSED = -1.0  # the gain of a leaf that will not be split

# What is to be done next: places in ``plan`` int64.
STEP, N_LEAVES, LEAF, SMALL, LARGE, FIRST_WORD, LAST_WORD = range(7)
PLAN_SIZE = 7
# Values of STEP.
DONE, BUILD, COUNT, REBUILD = range(4)


@subroutine
def _scan_column(
    leaf: Any,
    j: Any,
    start: Any,
    bins: Any,
    direction: Any,
    histogram: Any,
    counts: Any,
    total: Any,
    shift: Any,
    least: Any,
    l2: Any,
    counted: Any,
    n_documents: Any,
    min_documents: Any,
    bounded: Any,
    bounds: Any,
    sums: Any,
    worths: Any,
    worth_bits: Any,
    best_worth: Any,
    best_bin: Any,
    best_missing: Any,
    verified: Any,
) -> Any:
    """Note the best split of a leaf on one column."""
    if counted or bounded:
        worth, b, missing_left = best_careful_split(
            histogram, counts, start, bins, total, shift, least, l2,
            counted, n_documents, min_documents, direction, bounded, bounds[leaf, 0], bounds[leaf, 1],
        )  # fmt: skip
    else:
        worth, b, missing_left = best_split(histogram, start, bins, total, shift, least, l2, sums, worths, worth_bits)
    best_worth[leaf, j] = worth
    best_bin[leaf, j] = b
    best_missing[leaf, j] = 1 if missing_left else 0
    verified[leaf, j] = 1 if counted else 0


@subroutine
def _choose_feature(
    leaf: Any, leaves: Any, shift: Any, l2: Any, bounded: Any, bounds: Any, best_worth: Any, leaf_gain: Any
) -> Any:
    """Note the feature and the gain of the leaf's best split; CLOSED if there is none."""
    best = NO_SPLIT
    for f in range(best_worth.shape[1]):
        if best_worth[leaf, f] > best:  # of equal ones the lower feature
            best = best_worth[leaf, f]
            leaves[leaf, FEATURE] = f
    leaf_gain[leaf] = CLOSED
    if best != NO_SPLIT:
        q = float(leaves[leaf, TOTAL] >> shift)
        r = leaves[leaf, TOTAL] & ((1 << shift) - 1)
        whole, _ = leaf_worth(q, r, l2, bounded, bounds[leaf, 0], bounds[leaf, 1])
        if best - whole > ROUNDING * abs(best):
            leaf_gain[leaf] = best - whole


@subroutine
def _plan_build(plan: Any, leaves: Any, min_documents: Any, max_depth: Any, n_words: Any) -> Any:
    """Have the histograms of the leaves SMALL and LARGE made, unless neither can be split."""
    plan[STEP] = BUILD
    plan[FIRST_WORD] = 0
    plan[LAST_WORD] = 0
    for leaf in (plan[SMALL], plan[LARGE]):
        if leaf >= 0 and leaves[leaf, SIZE] >= 2 * min_documents and leaves[leaf, DEPTH] < max_depth:
            plan[LAST_WORD] = n_words


@subroutine
def _take_slot(leaf: Any, other: Any, leaves: Any, leaf_gain: Any, n_leaves: Any) -> Any:
    """A histogram for a leaf or its sibling: that of the leaf which gains least, and will want it last if at all."""
    least = -1
    for owner in range(n_leaves):
        if leaves[owner, SLOT] == NO_SLOT or owner == leaf or owner == other:
            continue
        if least < 0 or leaf_gain[owner] < leaf_gain[least]:
            least = owner
    slot = leaves[least, SLOT]
    leaves[least, SLOT] = NO_SLOT
    return slot


@kernel
def grow_tree(
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
    max_depth: Any,
    bounded: Any,
    documents: Any,
    scratch: Any,
    pool: Any,
    sums: Any,
    worths: Any,
    worth_bits: Any,
    best_worth: Any,
    best_bin: Any,
    best_missing: Any,
    verified: Any,
    plan: Any,
    dealt: Any,
    sides: Any,
    leaves: Any,
    leaf_gain: Any,
    bounds: Any,
    splits: Any,
    split_gain: Any,
) -> Any:
    """Grow a tree on ``documents``; return its number of leaves (−1 if a thread did not come).

    Read: ``words`` uint32 (documents, words), rows of bytes;
    ``cells`` uint8, the bytes or the columns with their strides; per column where its histogram ``starts`` int64, the
    ``share`` float64 of all columns' entries before its own, its ``byte``, its ``stride`` and ``size_of`` int32 in it
    (bins and one for missing values), ``usable`` uint8, ``monotone`` int8; ``entries`` int64 ``q·2^shift + r``; ``l2``
    and ``min_gain`` in units of the quantisation. ``column_stride`` is 0 if cells are bytes. ``least``: Σr that each
    side needs.
    ``check_documents``: r is no count, so that ``min_documents`` has to be checked by counting. ``bounded``: there are
    monotone features.

    Work space: ``pool`` int64, two or more histograms and one for counts: where there are fewer than leaves, that of
    the leaf which gains least is given up, and made again should the leaf be split; ``sums`` int64, ``worths`` float64
    and their bits ``worth_bits`` int64 (threads, MOST_BINS); per leaf and feature the best split (``best_worth``
    float64, ``best_bin`` int32, ``best_missing`` uint8) and whether its documents were counted (``verified`` uint8);
    ``plan`` int64; ``dealt`` int64 (threads, 8); ``sides`` uint8 (threads, 256).
    ``documents`` int32 end up sorted by leaf, those of a leaf in their old order.

    Written: ``leaves`` int64 (leaves, 8) and, a row per split in the order of splitting, ``splits`` int32 (splits, 5),
    as ``leaf_table`` names their columns; ``split_gain`` float64 (in units); ``bounds`` float64 (leaves, 2), what leaf
    values must lie between. Missing values of a feature that the leaf has none of go to the larger
    side.
    """
    most_leaves = len(leaves)
    n_columns = len(starts)
    n_words = words.shape[1]
    counts_slot = len(pool) - 1
    own_sums, own_bits, own_worths = sums[thread], worth_bits[thread], worths[thread]
    if thread == 0:
        for column in range(LEAF_COLUMNS):
            leaves[0, column] = 0
        leaves[0, SIZE] = len(documents)
        leaves[0, PARENT] = -1
        bounds[0, 0] = -np.inf
        bounds[0, 1] = np.inf
        plan[N_LEAVES] = 1
        plan[SMALL] = 0  # the leaf whose histogram is built
        plan[LARGE] = -1  # the leaf whose histogram is what then remains of its parent's; the root has no sibling
        _plan_build(plan, leaves, min_documents, max_depth, n_words)
    came = meet(meeting, threads)
    while came and plan[STEP] != DONE:  # the only way out, since every way out lets go of every array
        # The histogram of the newest leaf, some of the bytes per thread.
        counting = plan[STEP] == COUNT
        rebuilding = plan[STEP] == REBUILD
        built = plan[LEAF] if counting or rebuilding else plan[SMALL]
        made = pool[counts_slot if counting else leaves[built, SLOT]]
        span = plan[LAST_WORD] - plan[FIRST_WORD]
        first_word = plan[FIRST_WORD] + span * thread // threads
        last_word = plan[FIRST_WORD] + span * (thread + 1) // threads
        if first_word < last_word:
            start = leaves[built, START]
            make_histogram(
                words, documents[start : start + leaves[built, SIZE]], entries, counting,
                starts, byte, stride, size_of, first_word, last_word, made,
            )  # fmt: skip
        came = meet(meeting, threads)
        if not came:
            continue

        # What remains is its sibling's. The best split of both on each column, some of the columns per thread.
        if span > 0 and not rebuilding:
            for turn in range(2):
                leaf = built if turn == 0 else plan[LARGE]
                if turn == 1 and (counting or leaf < 0):
                    break
                histogram = pool[leaves[leaf, SLOT]]
                splittable = leaves[leaf, SIZE] >= 2 * min_documents and leaves[leaf, DEPTH] < max_depth
                total = np.int64(0)
                for j in range(n_columns):
                    if int(share[j] * threads) != thread:
                        continue
                    if counting and not plan[FIRST_WORD] <= byte[j] // WORD < plan[LAST_WORD]:
                        continue
                    if turn == 1:
                        subtract_histogram(histogram, made, starts[j], starts[j] + size_of[j])
                    if not splittable:
                        continue
                    if total == 0:
                        total = sum_of_bins(histogram, starts[j], size_of[j])
                        leaves[leaf, TOTAL] = total
                    best_worth[leaf, j] = NO_SPLIT
                    if usable[j] == 0:
                        continue
                    _scan_column(
                        leaf, j, starts[j], size_of[j] - 1, monotone[j], histogram, made, total, shift, least, l2,
                        counting, leaves[leaf, SIZE], min_documents, bounded, bounds,
                        own_sums, own_worths, own_bits, best_worth, best_bin, best_missing, verified,
                    )  # fmt: skip
        came = meet(meeting, threads)
        if not came:
            continue

        # The leaf with the best gain is split next.
        if thread == 0:
            n_leaves = plan[N_LEAVES]
            if span > 0 and not rebuilding:
                for leaf in (plan[LEAF], plan[LEAF]) if counting else (plan[SMALL], plan[LARGE]):
                    if leaf >= 0 and leaves[leaf, SIZE] >= 2 * min_documents and leaves[leaf, DEPTH] < max_depth:
                        _choose_feature(leaf, leaves, shift, l2, bounded, bounds, best_worth, leaf_gain)
            chosen = 0
            for leaf in range(1, n_leaves):
                if leaf_gain[leaf] > leaf_gain[chosen]:
                    chosen = leaf
            plan[LEAF] = chosen
            if leaf_gain[chosen] == CLOSED or leaf_gain[chosen] <= min_gain:
                plan[STEP] = DONE
            elif leaves[chosen, SLOT] == NO_SLOT:
                leaves[chosen, SLOT] = _take_slot(chosen, chosen, leaves, leaf_gain, n_leaves)
                plan[STEP] = REBUILD
                plan[FIRST_WORD] = 0
                plan[LAST_WORD] = n_words
            else:
                plan[STEP] = BUILD
        came = meet(meeting, threads)
        if not came or plan[STEP] == DONE or plan[STEP] == REBUILD:
            continue

        # Its documents are dealt out, a range of them per thread.
        leaf = plan[LEAF]
        feature = leaves[leaf, FEATURE]
        missing_bin = size_of[feature] - 1
        chosen_bin = best_bin[leaf, feature]
        missing_left = best_missing[leaf, feature] == 1
        start = leaves[leaf, START]
        size = leaves[leaf, SIZE]
        chunks = threads if size >= SMALL_LEAF else 1
        chunk_begin = start + size * min(thread, chunks) // chunks
        chunk_end = start + size * min(thread + 1, chunks) // chunks
        by_column = column_stride > 0
        fill_sides(
            1 if by_column else stride[feature], 256 if by_column else size_of[feature],
            chosen_bin, missing_left, missing_bin, sides[thread],
        )  # fmt: skip
        dealt[thread, 0], dealt[thread, 1] = deal(
            cells, row_stride, feature * column_stride if by_column else byte[feature], sides[thread],
            documents, chunk_begin, chunk_end, scratch,
        )  # fmt: skip
        came = meet(meeting, threads)
        if not came:
            continue
        n_left = 0
        n_missing = 0
        left_before = 0
        for chunk in range(threads):
            if chunk == thread:
                left_before = n_left
            n_left += dealt[chunk, 0]
            n_missing += dealt[chunk, 1]
        enough = n_left >= min_documents and size - n_left >= min_documents
        if check_documents and not enough and verified[leaf, feature] == 0:
            # Too few on one side: count the documents of this feature's bins (and of its neighbours in the row), or
            # after some failures of all features, and choose again.
            if thread == 0:
                leaves[leaf, FAILURES] += 1
                everything = leaves[leaf, FAILURES] > PATIENCE
                plan[STEP] = COUNT
                plan[FIRST_WORD] = 0 if everything else byte[feature] // WORD
                plan[LAST_WORD] = n_words if everything else byte[feature] // WORD + 1
            came = meet(meeting, threads)
            continue
        collect(
            scratch, chunk_begin, chunk_end, dealt[thread, 0],
            start + left_before, start + n_left + (chunk_begin - start - left_before), documents,
        )  # fmt: skip

        # The split is written down, and two leaves take the place of one. The others only read what stays as it is.
        if thread == 0:
            other = plan[N_LEAVES]
            if n_missing == 0:
                missing_left = 2 * n_left >= size
            bound_sides(
                leaf, other, pool[leaves[leaf, SLOT]], starts[feature], missing_bin, chosen_bin,
                best_missing[leaf, feature] == 1, monotone[feature], leaves[leaf, TOTAL], shift, l2, bounds,
            )  # fmt: skip
            leaves[leaf, DEPTH] += 1
            leaves[leaf, FAILURES] = 0
            write_split(leaf, other, feature, chosen_bin, missing_left, n_left, leaves, splits)
            split_gain[other - 1] = leaf_gain[leaf]
            leaf_gain[leaf] = CLOSED
            leaf_gain[other] = CLOSED
            # The larger leaf takes over the histogram, the smaller one gets a new one.
            small = other if 2 * n_left >= size else leaf
            leaves[small, SLOT] = other if other < counts_slot else NO_SLOT
            plan[N_LEAVES] = other + 1
            plan[SMALL] = small
            plan[LARGE] = leaf if small == other else other
            if other + 1 == most_leaves:
                plan[STEP] = DONE
            else:
                _plan_build(plan, leaves, min_documents, max_depth, n_words)
                if leaves[small, SLOT] == NO_SLOT and plan[LAST_WORD] > 0:
                    leaves[small, SLOT] = _take_slot(leaf, other, leaves, leaf_gain, other + 1)
        came = meet(meeting, threads)
    return plan[N_LEAVES] if came else -1
