"""One regression tree, grown leaf by leaf, best gain first: a single kernel that all threads run at once.

One call grows the whole tree, so that small leaves cost no Python and no waking of threads. All threads follow the
same phases (``growth_state``); what is decided in one place is decided by one thread and read by the others after a
meeting.
"""

from __future__ import annotations

from typing import Any

from rankforce.compiling.jit import kernel, uncounted_subroutine
from rankforce.kernels.trees.building import add_parts, build_share
from rankforce.kernels.trees.category_splits import note_set, scan_categories, sum_of_left
from rankforce.kernels.trees.growth_state import (
    ALWAYS_FOR_ONE,
    BUILD,
    CHOOSE,
    COMMIT,
    COMMON_PLACES,
    COUNTS,
    DEAL,
    DONE,
    FIRST_WORD,
    FOR_ONE,
    IN_PARTS,
    KIND,
    LAST_WORD,
    N_LEAVES,
    N_QUEUED,
    NEXT,
    SCAN,
    SCAN_PIECES,
    SUMS,
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
    DEPTH,
    FAILURES,
    FEATURE,
    LEFT_TOTAL,
    NO_LEAF,
    NO_SLOT,
    ROUNDING,
    SIZE,
    SLOT,
    TOTAL,
    WHOLE,
    bound_sides,
    choose_split,
    sum_of_bins,
    write_split,
)
from rankforce.kernels.trees.partition import collect_share, count_dealt, deal_share, fill_own_sides, first_kept
from rankforce.kernels.trees.splits import NO_SPLIT, best_careful_split, best_split, leaf_worth

SMALL_LEAF = 1024  # documents below which one thread deals them out, while the others wait
PATIENCE = 4  # times that a leaf's best split may leave too few documents before all its features are counted
CLOSED = -1.0  # the gain of a leaf that will not be split

# Further places in ``plan``: the leaf that is split; the sibling of the leaf that is built, whose histogram is what
# remains of their parent's; whether a histogram that was given up is made again, which has no new splits to find.
LEAF, SIBLING, REBUILDING = range(COMMON_PLACES, COMMON_PLACES + 3)
LEAFWISE_PLACES = COMMON_PLACES + 3


@uncounted_subroutine
def can_split(leaf: Any, rules: Any, leaves: Any) -> Any:
    return leaves[leaf, SIZE] >= 2 * rules.min_documents and leaves[leaf, DEPTH] < rules.max_depth


@uncounted_subroutine
def scan_column(
    leaf: Any, j: Any, total: Any, counted: Any, columns: Any, rules: Any, histogram: Any, counts: Any, bounds: Any,
    sums: Any, worths: Any, worth_bits: Any, size: Any, best: Any,
) -> Any:  # fmt: skip
    """Note the best split of a leaf on one column."""
    if scan_categories(
        leaf, j, total, counted, columns, columns.categories, rules, histogram, counts, bounds, sums, worths,
        worth_bits, size, best,
    ):  # fmt: skip
        return
    start, bins = columns.starts[j], columns.size[j] - 1
    if counted or rules.bounded:
        worth, b, missing_left = best_careful_split(
            histogram, counts, start, bins, total, rules.shift, rules.least, rules.l2, counted, size,
            rules.min_documents, columns.monotone[j], rules.bounded, bounds[leaf, 0], bounds[leaf, 1],
        )  # fmt: skip
    else:
        worth, b, missing_left = best_split(
            histogram, start, bins, total, rules.shift, rules.least, rules.l2, sums, worths, worth_bits
        )
    best.worth[leaf, j] = worth
    best.bin[leaf, j] = b
    best.missing[leaf, j] = 1 if missing_left else 0
    best.verified[leaf, j] = 1 if counted else 0


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
    """Finish the histograms of one of so many pieces of the columns; find the best split of both new leaves on each."""
    plan, leaves, bounds = tree.plan, tree.leaves, tree.bounds
    starts, sizes, byte = columns.starts, columns.size, columns.byte
    counting = plan[KIND] == COUNTS
    built, sibling = tree.queue[0], plan[SIBLING]
    own = histograms.sums[max(leaves[built, SLOT], 0)]
    made = histograms.counts[0] if counting else own
    rest = histograms.sums[max(leaves[sibling, SLOT], 0) if sibling >= 0 else 0]
    sums, worths, worth_bits = space.sums[thread, 0], space.worths[thread, 0], space.worth_bits[thread, 0]
    known = plan[N_LEAVES] > 1
    for place in range(first_of_piece(piece, pieces, columns), first_of_piece(piece + 1, pieces, columns)):
        j = columns.order[place]
        if not plan[FIRST_WORD] <= byte[j] // WORD < plan[LAST_WORD]:
            continue
        if columns.leads[j] == 1:  # before the others of its byte, which this thread has, too
            add_parts(
                built, plan[IN_PARTS] == built, byte[j], columns.values[j], histograms.part_leaf, histograms.parts, made
            )
        add_up_column(made, starts[j], byte[j], columns.values[j], columns.stride[j], sizes[j])
        if plan[REBUILDING] == 1:
            continue
        if sibling >= 0:
            subtract_histogram(rest, made, starts[j], starts[j] + sizes[j])
        for turn in range(2 if sibling >= 0 else 1):
            leaf = built if turn == 0 else sibling
            histogram = own if turn == 0 else rest
            if not can_split(leaf, rules, leaves):
                continue
            if not known:  # of the root; others' totals are those of the sides of their parent's split
                leaves[leaf, TOTAL] = sum_of_bins(histogram, starts[j], sizes[j])
            best.worth[leaf, j] = NO_SPLIT
            if columns.usable[j] == 1:
                scan_column(
                    leaf, j, leaves[leaf, TOTAL], counting, columns, rules, histogram, made, bounds,
                    sums, worths, worth_bits, leaves[leaf, SIZE], best,
                )  # fmt: skip
        known = True


@uncounted_subroutine
def _choose_feature(leaf: Any, rules: Any, best: Any, tree: Any) -> Any:
    """Note the feature and the gain of the leaf's best split; CLOSED if there is none."""
    leaves, bounds = tree.leaves, tree.bounds
    most = NO_SPLIT
    for f in range(best.worth.shape[1]):
        if best.worth[leaf, f] > most:  # of equal ones the lower feature
            most = best.worth[leaf, f]
            leaves[leaf, FEATURE] = f
    tree.leaf_gain[leaf] = CLOSED
    if most != NO_SPLIT:
        q = float(leaves[leaf, TOTAL] >> rules.shift)
        r = leaves[leaf, TOTAL] & ((1 << rules.shift) - 1)
        whole, _ = leaf_worth(q, r, rules.l2, rules.bounded, bounds[leaf, 0], bounds[leaf, 1])
        if most - whole > ROUNDING * abs(most):
            tree.leaf_gain[leaf] = most - whole


@uncounted_subroutine
def _plan_build(leaf: Any, sibling: Any, kind: Any, rebuilding: Any, first_word: Any, last_word: Any, tree: Any) -> Any:
    plan = tree.plan
    tree.queue[0] = leaf
    plan[NEXT] = BUILD
    plan[N_QUEUED] = 1
    plan[KIND] = kind
    plan[SIBLING] = sibling
    plan[REBUILDING] = rebuilding
    plan[FIRST_WORD] = first_word
    plan[LAST_WORD] = last_word


@uncounted_subroutine
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


@uncounted_subroutine
def _choose(n_words: Any, columns: Any, rules: Any, histograms: Any, best: Any, tree: Any) -> Any:
    """The leaf with the best gain is split next, once its histogram is there."""
    plan, leaves, leaf_gain = tree.plan, tree.leaves, tree.leaf_gain
    if plan[LAST_WORD] > 0 and plan[REBUILDING] == 0:
        for turn in range(2):
            leaf = tree.queue[0] if turn == 0 else plan[SIBLING]
            if leaf >= 0 and can_split(leaf, rules, leaves):
                _choose_feature(leaf, rules, best, tree)
    chosen = 0
    for leaf in range(1, plan[N_LEAVES]):
        if leaf_gain[leaf] > leaf_gain[chosen]:
            chosen = leaf
    plan[LEAF] = chosen
    if leaf_gain[chosen] == CLOSED or leaf_gain[chosen] <= rules.min_gain:
        plan[NEXT] = DONE
    elif leaves[chosen, SLOT] == NO_SLOT:
        leaves[chosen, SLOT] = _take_slot(chosen, chosen, leaves, leaf_gain, plan[N_LEAVES])
        _plan_build(chosen, NO_LEAF, SUMS, 1, 0, n_words, tree)
    else:
        plan[NEXT] = DEAL
        plan[FOR_ONE] = ALWAYS_FOR_ONE | (1 << DEAL | 1 << COMMIT if leaves[chosen, COUNT] < SMALL_LEAF else 0)
        feature = leaves[chosen, FEATURE]
        left = sum_of_left(
            histograms.sums[leaves[chosen, SLOT]], chosen, feature, best.bin[chosen, feature],
            best.missing[chosen, feature] == 1, columns, columns.categories,
        )  # fmt: skip
        choose_split(chosen, left, tree)


@uncounted_subroutine
def _deal(
    thread: Any, threads: Any, collecting: Any, rows: Any, columns: Any, documents: Any, best: Any, tree: Any
) -> Any:
    """Deal a range of the leaf's documents, or bring it to its places; then those of others that have not begun."""
    leaf = tree.plan[LEAF]
    feature = tree.leaves[leaf, FEATURE]
    start, size = tree.leaves[leaf, BEGIN], tree.leaves[leaf, COUNT]
    chunks = threads if size >= SMALL_LEAF else 1
    for turn in range(shares_to_visit(threads, tree.plan)):
        owner = whose_turn(thread, threads, turn)
        if take(owner, COMMIT if collecting else DEAL, tree.taken) != 0:
            continue
        begin = start + size * min(owner, chunks) // chunks
        end = start + size * min(owner + 1, chunks) // chunks
        kept = first_kept(owner, threads, documents)
        if collecting:
            collect_share(owner, threads, 0, start, begin, end, kept, documents)
            continue
        if begin < end:
            fill_own_sides(
                thread, leaf, feature, best.bin[leaf, feature], best.missing[leaf, feature] == 1, rows, columns,
                columns.categories, documents,
            )  # fmt: skip
        deal_share(thread, owner, 0, feature, begin, end, kept, rows, columns, documents)


@uncounted_subroutine
def _commit(
    threads: Any, n_words: Any, columns: Any, rules: Any, documents: Any, histograms: Any, best: Any, tree: Any
) -> Any:
    """Write the split down: two leaves take the place of one. The others only read what stays as it is."""
    plan, leaves, leaf_gain = tree.plan, tree.leaves, tree.leaf_gain
    leaf, other = plan[LEAF], plan[N_LEAVES]
    feature = leaves[leaf, FEATURE]
    n_left_here = count_dealt(threads, 0, 0, documents.dealt)
    n_left = n_left_here + documents.elsewhere[0, 0]
    n_missing = count_dealt(threads, 0, 1, documents.dealt) + documents.elsewhere[0, 1]
    size = leaves[leaf, SIZE]
    missing_left = best.missing[leaf, feature] == 1 if n_missing > 0 else 2 * n_left >= size
    bound_sides(leaf, other, columns.monotone[feature], rules, leaves, tree.bounds)
    leaves[leaf, DEPTH] += 1
    leaves[leaf, FAILURES] = 0
    write_split(leaf, other, feature, best.bin[leaf, feature], missing_left, n_left, n_left_here, leaves, tree.splits)
    note_set(other - 1, leaf, feature, columns.categories)
    leaves[other, TOTAL] = leaves[leaf, TOTAL] - leaves[leaf, LEFT_TOTAL]
    leaves[leaf, TOTAL] = leaves[leaf, LEFT_TOTAL]
    tree.split_gain[other - 1] = leaf_gain[leaf]
    leaf_gain[leaf] = CLOSED
    leaf_gain[other] = CLOSED
    plan[N_LEAVES] = other + 1
    # The larger leaf takes over the histogram, the smaller one gets a new one.
    small = other if 2 * n_left >= size else leaf
    large = leaf if small == other else other
    leaves[small, SLOT] = other if other < len(histograms.sums) else NO_SLOT
    if other + 1 == len(leaves):
        plan[NEXT] = DONE
    elif can_split(small, rules, leaves) or can_split(large, rules, leaves):
        _plan_build(small, large, SUMS, 0, 0, n_words, tree)
        if leaves[small, SLOT] == NO_SLOT:
            leaves[small, SLOT] = _take_slot(leaf, other, leaves, leaf_gain, other + 1)
    else:
        plan[NEXT] = SCAN  # of no words
        plan[LAST_WORD] = 0


@uncounted_subroutine
def _plan_count(n_words: Any, columns: Any, tree: Any) -> Any:
    """Too few documents on one side: count those of this feature's bins, and of its neighbours in the row.

    After some failures those of all features. Then another split is chosen.
    """
    leaf = tree.plan[LEAF]
    leaves = tree.leaves
    leaves[leaf, FAILURES] += 1
    everything = leaves[leaf, FAILURES] > PATIENCE
    word = columns.byte[leaves[leaf, FEATURE]] // WORD
    _plan_build(leaf, NO_LEAF, COUNTS, 0, 0 if everything else word, n_words if everything else word + 1, tree)


@kernel(uncounted=True)
def grow_tree(
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
    """Grow a tree from ``phase`` on; return its number of leaves (−1 if a thread did not come).

    If ``alone``, a thread's share of this phase is all that is done. The bundles are those of ``growth_state``.
    Where there are fewer ``histograms`` than leaves, that of the leaf which gains least is given up, and made again
    should the leaf be split; there is one for counts. Missing values of a feature that the leaf has none of go to the
    larger side.
    """
    plan = tree.plan
    n_words = rows.n_words
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
                _choose(n_words, columns, rules, histograms, best, tree)
        elif phase == DEAL:
            _deal(thread, threads, False, rows, columns, documents, best, tree)
        elif phase == COMMIT:
            leaf = plan[LEAF]
            n_left = count_dealt(threads, 0, 0, documents.dealt) + documents.elsewhere[0, 0]
            enough = n_left >= rules.min_documents and tree.leaves[leaf, WHOLE] - n_left >= rules.min_documents
            feature = tree.leaves[leaf, FEATURE]
            if rules.check_documents and not enough and best.verified[leaf, feature] == 0:
                if single or thread == 0:
                    _plan_count(n_words, columns, tree)
            else:
                _deal(thread, threads, True, rows, columns, documents, best, tree)
                if single or thread == 0:
                    _commit(threads, n_words, columns, rules, documents, histograms, best, tree)
        if alone:
            phase = DONE
        else:
            phase, single, came = go_on(phase, single, threads, meeting, plan)
    return plan[N_LEAVES] if came else -1
