"""One regression tree whose leaves of a level all ask the same question: a single kernel that all threads run at once.

A test (feature, bin, side of missing values) is worth the sum of what it gains in each leaf of the level. A leaf that
it cannot split (too few documents on a side, values in the wrong order for a monotone feature, no gain) adds nothing
and stays as it is.
"""

from __future__ import annotations

from typing import Any

from rankforce.compiling.jit import kernel, uncounted_subroutine
from rankforce.kernels.trees.building import add_parts, build_share
from rankforce.kernels.trees.category_levels import add_ordered_gains, note_best_set, places_to_split
from rankforce.kernels.trees.category_splits import is_categorical, note_set, sum_of_left
from rankforce.kernels.trees.growth_state import (
    BUILD,
    CHOOSE,
    COMMIT,
    COMMON_PLACES,
    DEAL,
    DONE,
    FIRST_WORD,
    IN_PARTS,
    LAST_WORD,
    N_LEAVES,
    N_QUEUED,
    NEXT,
    SCAN,
    SCAN_PIECES,
    first_of_piece,
    forget_taken,
    go_on,
    shares_to_visit,
    take,
    whose_turn,
)
from rankforce.kernels.trees.histograms import WORD, add_up_column, subtract_histogram
from rankforce.kernels.trees.leaf_table import (
    BEGIN,
    COUNT,
    LEAF_COLUMNS,
    SIZE,
    SLOT,
    TOTAL,
    bound_sides,
    choose_split,
    sum_of_bins,
    write_split,
)
from rankforce.kernels.trees.level_gains import NO_GAIN, add_gains
from rankforce.kernels.trees.partition import collect_share, count_dealt, deal_share, fill_own_sides

# Further places in ``plan``: the level; the leaf whose turn it is, where there is a single histogram for all of them;
# whether it is the first of its level; whether the best test was found, and its column is built once more for each
# leaf; the test; the number of leaves before it; whether the leaves' turns are first for the order of categories,
# where there is a single histogram.
LEVEL, TURN, FRESH, REVISITING, COLUMN, BIN, MISSING_LEFT, N_OLD, SUMMING = range(COMMON_PLACES, COMMON_PLACES + 9)
LEVEL_PLACES = COMMON_PLACES + 9
# What a split makes of a leaf: further columns of ``leaves``.
OTHER, SMALL = LEAF_COLUMNS, LEAF_COLUMNS + 1
LEVEL_COLUMNS = LEAF_COLUMNS + 2
NOT_SPLIT = -1


@uncounted_subroutine
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


@uncounted_subroutine
def _finish_column(j: Any, columns: Any, rules: Any, histograms: Any, tree: Any) -> Any:
    """The histogram of a column from that over its byte, in every built leaf; what remains is its sibling's."""
    leaves = tree.leaves
    start, byte, values = columns.starts[j], columns.byte[j], columns.values[j]
    stride, size = columns.stride[j], columns.size[j]
    for counting in range(2 if rules.check_documents else 1):
        made = histograms.counts if counting == 1 else histograms.sums
        parts = histograms.count_parts if counting == 1 else histograms.parts
        for place in range(tree.plan[N_QUEUED]):
            leaf = tree.queue[place]
            if columns.leads[j] == 1:  # before the others of its byte, which this thread has, too
                add_parts(
                    leaf, tree.plan[IN_PARTS] == leaf, byte, values, histograms.part_leaf, parts,
                    made[leaves[leaf, SLOT]],
                )  # fmt: skip
            add_up_column(made[leaves[leaf, SLOT]], start, byte, values, stride, size)
        for leaf in range(tree.plan[N_LEAVES] if len(histograms.sums) > 1 else 0):
            other = leaves[leaf, OTHER]
            if other != NOT_SPLIT:
                small = leaves[leaf, SMALL]
                large = other if small == leaf else leaf
                subtract_histogram(made[leaves[large, SLOT]], made[leaves[small, SLOT]], start, start + size)


@uncounted_subroutine
def _add_leaf(leaf: Any, j: Any, columns: Any, rules: Any, histograms: Any, tree: Any, sums: Any, gains: Any) -> Any:
    """Add what a leaf gains by every test on a column to ``gains``; return the sum of its entries."""
    slot = tree.leaves[leaf, SLOT]
    histogram = histograms.sums[slot]
    total = sum_of_bins(histogram, columns.starts[j], columns.size[j])
    if is_categorical(j, columns.categories):
        add_ordered_gains(leaf, j, total, False, columns, columns.categories, rules, histograms, tree, sums, gains)
        return total
    add_gains(
        histogram, histograms.counts[slot if rules.check_documents else 0], columns.starts[j], columns.size[j] - 1,
        total, tree.leaves[leaf, SIZE], rules.shift, rules.l2, rules.least, rules.min_documents,
        rules.check_documents, rules.min_gain, columns.monotone[j], rules.bounded,
        tree.bounds[leaf, 0], tree.bounds[leaf, 1], sums, gains,
    )  # fmt: skip
    return total


@uncounted_subroutine
def _scan_share(
    thread: Any, threads: Any, columns: Any, rules: Any, histograms: Any, space: Any, best: Any, tree: Any
) -> Any:
    """A thread's columns, and whatever is left of others'."""
    for turn in range(shares_to_visit(threads, tree.plan)):
        owner = whose_turn(thread, threads, turn)
        piece = take(owner, SCAN, tree.taken)
        while piece < SCAN_PIECES:
            piece += owner * SCAN_PIECES
            _scan_columns(thread, piece, threads * SCAN_PIECES, columns, rules, histograms, space, best, tree)
            piece = take(owner, SCAN, tree.taken)


@uncounted_subroutine
def _scan_columns(
    thread: Any, piece: Any, pieces: Any, columns: Any, rules: Any, histograms: Any, space: Any, best: Any, tree: Any
) -> Any:
    """Finish the histograms of one of so many pieces of the columns, and add up the gains of all tests on each.

    With a histogram for each leaf, all leaves are looked at in one turn. With a single one each has its own turn, and
    adds to the gains of those before.
    """
    plan, leaves = tree.plan, tree.leaves
    kept = len(histograms.sums) > 1
    first_leaf, last_leaf = (0, plan[N_LEAVES]) if kept else (plan[TURN], plan[TURN] + 1)
    for place in range(first_of_piece(piece, pieces, columns), first_of_piece(piece + 1, pieces, columns)):
        j = columns.order[place]
        if not plan[FIRST_WORD] <= columns.byte[j] // WORD < plan[LAST_WORD]:
            continue
        _finish_column(j, columns, rules, histograms, tree)
        if plan[REVISITING] == 1:
            continue
        best.worth[0, j] = NO_GAIN
        if columns.usable[j] == 0:
            continue
        gains = space.worths[thread if kept else j]
        bins = places_to_split(
            j, first_leaf, last_leaf, plan[FRESH] == 1, plan[SUMMING] == 1, columns, columns.categories, rules,
            histograms, tree,
        )  # fmt: skip
        if bins == 0:
            continue
        if plan[FRESH] == 1:
            for b in range(bins):
                gains[0, b] = 0.0
                gains[1, b] = 0.0
        for leaf in range(first_leaf, last_leaf):
            if leaves[leaf, SIZE] >= 2 * rules.min_documents:
                _add_leaf(leaf, j, columns, rules, histograms, tree, space.sums[thread], gains)
        for b in range(bins):
            for side in range(2):
                if gains[side, b] > best.worth[0, j]:
                    best.worth[0, j] = gains[side, b]
                    best.bin[0, j] = b
                    best.missing[0, j] = 1 - side
        note_best_set(j, columns.categories, best)


@uncounted_subroutine
def _plan_turn(leaf: Any, fresh: Any, rules: Any, tree: Any) -> Any:
    """Build the next leaf, from this one on, that could be split; False if there is none."""
    plan = tree.plan
    while leaf < plan[N_LEAVES] and tree.leaves[leaf, SIZE] < 2 * rules.min_documents:
        leaf += 1
    plan[NEXT] = BUILD
    plan[TURN] = leaf
    plan[FRESH] = fresh
    plan[N_QUEUED] = 1
    tree.queue[0] = leaf
    return leaf < plan[N_LEAVES]


@uncounted_subroutine
def _test_leaf(leaf: Any, columns: Any, rules: Any, histograms: Any, space: Any, tree: Any) -> Any:
    """Note what a leaf gains by the test that was chosen, and what its left side would hold."""
    plan = tree.plan
    j, split_bin, missing_left = plan[COLUMN], plan[BIN], plan[MISSING_LEFT]
    gains = space.worths[0]
    gains[1 - missing_left, split_bin] = NO_GAIN
    histogram = histograms.sums[tree.leaves[leaf, SLOT]]
    if is_categorical(j, columns.categories):
        total = sum_of_bins(histogram, columns.starts[j], columns.size[j])
        add_ordered_gains(
            leaf, j, total, True, columns, columns.categories, rules, histograms, tree, space.sums[0], gains
        )
    else:
        total = _add_leaf(leaf, j, columns, rules, histograms, tree, space.sums[0], gains)
    tree.leaves[leaf, TOTAL] = total
    tree.leaf_gain[leaf] = gains[1 - missing_left, split_bin]
    left = sum_of_left(histogram, 0, j, split_bin, missing_left == 1, columns, columns.categories)
    choose_split(leaf, left, tree)


@uncounted_subroutine
def _choose(columns: Any, rules: Any, histograms: Any, space: Any, best: Any, tree: Any) -> Any:
    """The best test of all, and the leaves that it splits; unless it is the turn of another leaf."""
    plan = tree.plan
    kept = len(histograms.sums) > 1
    n_leaves = plan[N_LEAVES]
    if plan[REVISITING] == 1:
        _test_leaf(plan[TURN], columns, rules, histograms, space, tree)
    if not kept and _plan_turn(plan[TURN] + 1, 0, rules, tree):
        return
    if plan[SUMMING] == 1:
        plan[SUMMING] = 0
        _plan_turn(0, 1, rules, tree)
        return
    if plan[REVISITING] == 0:
        chosen = 0
        for j in range(1, best.worth.shape[1]):
            if best.worth[0, j] > best.worth[0, chosen]:
                chosen = j
        if best.worth[0, chosen] <= NO_GAIN:
            plan[NEXT] = DONE
            return
        plan[COLUMN] = chosen
        plan[BIN] = best.bin[0, chosen]
        plan[MISSING_LEFT] = best.missing[0, chosen]
        for leaf in range(n_leaves):
            tree.leaf_gain[leaf] = NO_GAIN
            if kept and tree.leaves[leaf, SIZE] >= 2 * rules.min_documents:
                _test_leaf(leaf, columns, rules, histograms, space, tree)
        if not kept:
            plan[REVISITING] = 1
            plan[FIRST_WORD] = columns.byte[chosen] // WORD
            plan[LAST_WORD] = plan[FIRST_WORD] + 1
            _plan_turn(0, 0, rules, tree)
            return
    _choose_leaves(tree.leaf_gain, n_leaves, len(tree.leaves) - n_leaves, tree.leaves)
    plan[REVISITING] = 0
    plan[N_OLD] = n_leaves
    plan[NEXT] = DEAL


@uncounted_subroutine
def _deal(thread: Any, threads: Any, collecting: Any, rows: Any, columns: Any, documents: Any, tree: Any) -> Any:
    """Deal a range of all documents, leaf by leaf, or bring them to their places; then those of others."""
    plan, leaves, size = tree.plan, tree.leaves, len(documents.order)
    if not collecting:
        fill_own_sides(
            thread, 0, plan[COLUMN], plan[BIN], plan[MISSING_LEFT] == 1, rows, columns, columns.categories, documents
        )
    for turn in range(shares_to_visit(threads, plan)):
        owner = whose_turn(thread, threads, turn)
        if take(owner, COMMIT if collecting else DEAL, tree.taken) != 0:
            continue
        first, last = size * owner // threads, size * (owner + 1) // threads
        for leaf in range(plan[N_OLD]):
            start = leaves[leaf, BEGIN]
            begin = min(max(first, start), last)
            end = max(min(last, start + leaves[leaf, COUNT]), begin)
            if leaves[leaf, OTHER] == NOT_SPLIT:
                continue
            if collecting:
                collect_share(owner, threads, leaf, start, begin, end, begin, documents)
            else:
                deal_share(thread, owner, leaf, plan[COLUMN], begin, end, begin, rows, columns, documents)


@uncounted_subroutine
def _commit(threads: Any, n_words: Any, columns: Any, rules: Any, documents: Any, histograms: Any, tree: Any) -> Any:
    """Write the splits of a level down, and plan the next level. The others only read what stays as it is."""
    plan, leaves, dealt, elsewhere = tree.plan, tree.leaves, documents.dealt, documents.elsewhere
    kept = len(histograms.sums) > 1
    column = plan[COLUMN]
    n_left_of_all = 0
    n_missing = 0
    n_split = 0
    for leaf in range(plan[N_OLD]):
        if leaves[leaf, OTHER] != NOT_SPLIT:
            n_split += leaves[leaf, SIZE]
            n_left_of_all += count_dealt(threads, leaf, 0, dealt) + elsewhere[leaf, 0]
            n_missing += count_dealt(threads, leaf, 1, dealt) + elsewhere[leaf, 1]
    missing_left = plan[MISSING_LEFT] == 1 if n_missing > 0 else 2 * n_left_of_all >= n_split
    plan[N_QUEUED] = 0
    for leaf in range(plan[N_OLD]):
        other = leaves[leaf, OTHER]
        if other == NOT_SPLIT:
            continue
        n_left_here = count_dealt(threads, leaf, 0, dealt)
        n_left = n_left_here + elsewhere[leaf, 0]
        size = leaves[leaf, SIZE]
        bound_sides(leaf, other, columns.monotone[column], rules, leaves, tree.bounds)
        write_split(leaf, other, column, plan[BIN], missing_left, n_left, n_left_here, leaves, tree.splits)
        note_set(other - 1, 0, column, columns.categories)
        tree.split_gain[other - 1] = tree.leaf_gain[leaf]
        leaves[other, OTHER] = NOT_SPLIT
        # The larger leaf takes over the histogram, the smaller one gets a new one.
        small = other if 2 * n_left >= size else leaf
        leaves[leaf, SMALL] = small
        leaves[small, SLOT] = other if kept else 0
        tree.queue[plan[N_QUEUED]] = small
        plan[N_QUEUED] += 1
        plan[N_LEAVES] = other + 1
    plan[LEVEL] += 1
    plan[FRESH] = 1
    plan[FIRST_WORD] = 0
    plan[LAST_WORD] = n_words
    splittable = 0
    for leaf in range(plan[N_LEAVES]):
        splittable += leaves[leaf, SIZE] >= 2 * rules.min_documents
    if plan[LEVEL] == rules.max_depth or plan[N_LEAVES] == len(leaves) or splittable == 0:
        plan[NEXT] = DONE
    elif kept:
        plan[NEXT] = BUILD
    else:
        _plan_sums(columns.categories, plan)
        _plan_turn(0, 1, rules, tree)


@uncounted_subroutine
def _plan_sums(categories: Any, plan: Any) -> Any:
    if categories is not None:
        plan[SUMMING] = 1


@kernel(uncounted=True)
def grow_symmetric_tree(
    phase: Any,
    alone: Any,
    thread: Any,
    threads: Any,
    meeting: Any,
    rows: Any,
    columns: Any,
    rules: Any,
    documents: Any,
    histograms: Any,
    space: Any,
    best: Any,
    tree: Any,
) -> Any:
    """Grow a tree of at most ``max_depth`` levels; return its number of leaves (−1: a thread is missing).

    As ``grow_tree``, but that ``histograms`` are one for each leaf, or a single one; with a single one, the gains of
    all columns wait in ``space``.

    Of equal tests the lower feature wins, then the lower bin, then missing values on the left. Missing values of a
    feature that no document of the level misses go to the larger side of all documents. Should the last level make too
    many leaves, those are split that gain most (of equal ones the lower number).
    """
    plan = tree.plan
    came = True
    single = False  # whether the others wait for this thread
    while came and phase != DONE:  # the only way out, since every way out lets go of every array
        if phase == BUILD:
            build_share(thread, threads, rows, documents, histograms, tree)
        elif phase == SCAN:
            _scan_share(thread, threads, columns, rules, histograms, space, best, tree)
        elif phase == CHOOSE:
            if single or thread == 0:
                forget_taken(tree.taken)
                _choose(columns, rules, histograms, space, best, tree)
        elif phase == DEAL:
            _deal(thread, threads, False, rows, columns, documents, tree)
        elif phase == COMMIT:
            _deal(thread, threads, True, rows, columns, documents, tree)
            if single or thread == 0:
                _commit(threads, rows.n_words, columns, rules, documents, histograms, tree)
        if alone:
            phase = DONE
        else:
            phase, single, came = go_on(phase, single, threads, meeting, plan)
    return plan[N_LEAVES] if came else -1
