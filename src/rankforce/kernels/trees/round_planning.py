"""What is split in a round, and which of the splits made ahead have their turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import uncounted_subroutine
from rankforce.kernels.trees.category_order import SET_WORDS
from rankforce.kernels.trees.category_splits import note_set
from rankforce.kernels.trees.growth_state import KIND, N_LEAVES, SUMS
from rankforce.kernels.trees.histograms import WORD
from rankforce.kernels.trees.leaf_table import (
    BEGIN,
    COUNT,
    DEPTH,
    FAILURES,
    FEATURE,
    HERE,
    LEFT_TOTAL,
    NO_SLOT,
    ROUNDING,
    SIZE,
    SLOT,
    START,
    TOTAL,
    WHOLE,
    write_split,
)
from rankforce.kernels.trees.leafwise import CLOSED, PATIENCE
from rankforce.kernels.trees.rounds import (
    AT_BIN,
    AT_SET,
    BIN,
    BOTH,
    BUILT_NODE,
    BUILT_SLOT,
    BUSY,
    CHILD,
    COLUMN,
    COUNTED,
    ENTRY,
    FIRST_BYTE,
    FIRST_CHILD,
    FLAGS,
    FROM,
    GIVEN,
    LAST_BYTE,
    LEFT,
    LEFT_SIDE,
    LOOK,
    MADE,
    MISSING,
    N_BUILT,
    N_ENTRIES,
    N_FREE,
    N_JOBS,
    N_MISSING,
    N_RECORDS,
    N_TRAVELLING,
    NEITHER,
    NO_CHILD,
    NO_NODE,
    NODE,
    RECOUNT,
    REST,
    RIGHT_SIDE,
    ROOT,
    ROW_BYTES,
    SPLIT,
    TASK,
    TO,
    TO_LEFT,
    TRAVELS,
    UNSEEN,
    VERIFIED,
    WAS_VERIFIED,
    WORTH,
    free_slot,
    pop,
    push,
    take_slot,
)
from rankforce.kernels.trees.splits import NO_SPLIT, leaf_worth

# A split is thought to leave this share of its gain to each of its sides, when it is guessed which leaves will be split
# at all. Only how long a tree takes depends on it: with less, there are more rounds; with more, more is split in vain.
HOPE = 0.7
# A leaf of fewer than so many times ``min_documents`` is often split in vain, since one side has too few: documents are
# dealt and counted in one round, and histograms are built in the next.
DOUBTFUL = 32
ENTRY_BYTES = 8  # of a document's entry, and of one of a histogram


# ------------------------------------------------------------------------------------------------ what owners have told


@uncounted_subroutine
def _take_over_set(node: Any, record: Any, categories: Any) -> Any:
    if categories is not None:
        number = categories.number[record[COLUMN]]
        if number >= 0:
            for word in range(SET_WORDS):
                categories.sets[node, number, word] = record[AT_SET + word]


@uncounted_subroutine
def adopt(columns: Any, rules: Any, rounds: Any) -> Any:
    """Of the splits that owners have told of each node take the best, of equal ones that on the lower column."""
    table, records, length = rounds.nodes, rounds.records, rounds.record
    nodes, gain = table.leaves, table.leaf_gain
    n_records = table.plan[N_RECORDS]
    for place in range(n_records):
        node = rounds.scanned[place]
        most = NO_SPLIT
        best = np.int64(-1)
        for member in range(len(rounds.edges) - 1):
            start = (member * n_records + place) * length
            column = records[start + COLUMN]
            if column < 0:
                continue
            worth = rounds.worths[start + WORTH]
            if best < 0 or worth > most or (worth == most and column < records[best + COLUMN]):
                most = worth
                best = start
        gain[node] = CLOSED
        if best >= 0:
            record = records[best : best + length]
            nodes[node, FEATURE] = record[COLUMN]
            nodes[node, BIN] = record[AT_BIN]
            nodes[node, MISSING] = record[FLAGS] & TO_LEFT
            nodes[node, VERIFIED] = record[FLAGS] // WAS_VERIFIED
            nodes[node, LEFT_TOTAL] = record[LEFT]
            _take_over_set(node, record, columns.categories)
            q = float(nodes[node, TOTAL] >> rules.shift)
            r = nodes[node, TOTAL] & ((1 << rules.shift) - 1)
            whole, _ = leaf_worth(q, r, rules.l2, rules.bounded, table.bounds[node, 0], table.bounds[node, 1])
            if most - whole > ROUNDING * abs(most):
                gain[node] = most - whole
        if gain[node] == CLOSED:
            free_slot(nodes[node, SLOT], rounds.owners)
            nodes[node, SLOT] = NO_SLOT
    table.plan[N_RECORDS] = 0


@uncounted_subroutine
def make_splits(columns: Any, rules: Any, tree: Any, rounds: Any) -> Any:
    """Split the leaf that gains most (of equal ones the lower) while that was done ahead; return whether it was all."""
    plan, node_of = tree.plan, rounds.node_of
    nodes, gain, bounds = rounds.nodes.leaves, rounds.nodes.leaf_gain, rounds.nodes.bounds
    while plan[N_LEAVES] < len(tree.leaves):
        leaf = 0
        for other in range(1, plan[N_LEAVES]):
            if gain[node_of[other]] > gain[node_of[leaf]]:
                leaf = other
        node, other = node_of[leaf], plan[N_LEAVES]
        if gain[node] == CLOSED or gain[node] <= rules.min_gain:
            return True
        child = nodes[node, FIRST_CHILD]
        if child == NO_CHILD or (nodes[node, UNSEEN] == 1 and other + 1 < len(tree.leaves)):
            return False
        n_left = nodes[child, SIZE]
        missing_left = nodes[node, MISSING] == 1 if nodes[node, N_MISSING] > 0 else 2 * n_left >= nodes[node, SIZE]
        feature = nodes[node, FEATURE]
        write_split(
            leaf, other, feature, nodes[node, BIN], missing_left, n_left, nodes[child, HERE], tree.leaves, tree.splits
        )
        note_set(other - 1, node, feature, columns.categories)
        tree.split_gain[other - 1] = gain[node]
        node_of[leaf] = child
        node_of[other] = child + 1
        for end in range(2):
            tree.bounds[leaf, end] = bounds[child, end]
            tree.bounds[other, end] = bounds[child + 1, end]
        plan[N_LEAVES] = other + 1
    return True


# ----------------------------------------------------------------------------------------------------- the next round


@uncounted_subroutine
def _row_bytes(expected: Any, rounds: Any) -> Any:
    """About what each member sends of so many documents of all members."""
    members = len(rounds.spans)
    return expected * (len(rounds.offsets) - 1 + ENTRY_BYTES * members) // members


@uncounted_subroutine
def _note_built(slot: Any, first_byte: Any, last_byte: Any, node: Any, expected: Any, rounds: Any) -> Any:
    """A histogram to build, of about ``expected`` documents of all members."""
    plan = rounds.nodes.plan
    entry = rounds.built[plan[N_BUILT]]
    # Decided by all members alike; the rows of a leaf with few documents are less than its histogram.
    sent = _row_bytes(expected, rounds)
    pays = sent + rounds.toll * (len(rounds.spans) - 1) < ENTRY_BYTES * rounds.offsets[-1]
    entry[TRAVELS] = 1 if node != NO_NODE and pays else 0
    plan[N_TRAVELLING] += entry[TRAVELS]
    plan[ROW_BYTES] += entry[TRAVELS] * sent
    entry[BUILT_SLOT] = slot
    entry[FIRST_BYTE] = first_byte
    entry[LAST_BYTE] = last_byte
    entry[BUILT_NODE] = node
    plan[N_BUILT] += 1


@uncounted_subroutine
def _plan_recount(node: Any, job: Any, n_words: Any, columns: Any, rounds: Any) -> Any:
    """Too few documents on one side: count those of its feature's bins, and of the neighbours in the row.

    After some failures those of all features.
    """
    nodes = rounds.nodes.leaves
    everything = nodes[node, FAILURES] > PATIENCE
    word = columns.byte[nodes[node, FEATURE]] // WORD
    job[TASK] = RECOUNT
    job[FROM] = 0 if everything else word
    job[TO] = n_words if everything else word + 1
    job[MADE] = take_slot(rounds)
    _note_built(job[MADE], job[FROM] * WORD, job[TO] * WORD, NO_NODE, nodes[node, SIZE], rounds)
    if nodes[node, SLOT] == NO_SLOT:  # its sums are wanted, too
        nodes[node, SLOT] = take_slot(rounds)
        rounds.owners[nodes[node, SLOT]] = node
        _note_built(nodes[node, SLOT], 0, n_words * WORD, node, nodes[node, SIZE], rounds)


@uncounted_subroutine
def _plan_histograms(node: Any, side: Any, expected: Any, job: Any, n_words: Any, rounds: Any) -> Any:
    """The histogram of one of the job's children, the other's being what remains of the node's; else those of both.

    ``expected``: about how many documents are on that side.
    """
    nodes, child = rounds.nodes.leaves, job[CHILD]
    job[MADE] = take_slot(rounds)
    if nodes[node, SLOT] != NO_SLOT:
        job[GIVEN] = side
        job[REST] = nodes[node, SLOT]
        nodes[child + side, SLOT] = job[MADE]
        _note_built(job[MADE], 0, n_words * WORD, child + side, expected, rounds)
        return
    job[GIVEN] = BOTH
    job[REST] = take_slot(rounds)
    nodes[child, SLOT] = job[MADE]
    nodes[child + 1, SLOT] = job[REST]
    on_left = expected if side == LEFT_SIDE else nodes[node, SIZE] - expected
    _note_built(job[MADE], 0, n_words * WORD, child, on_left, rounds)
    _note_built(job[REST], 0, n_words * WORD, child + 1, nodes[node, SIZE] - on_left, rounds)


@uncounted_subroutine
def _plan_split(node: Any, job: Any, last: Any, n_words: Any, rules: Any, rounds: Any) -> Any:
    """Deal its documents, and build histograms unless that is in doubt, or no child will be split.

    ``last``: when its turn comes, none is left for its children.
    """
    table = rounds.nodes
    nodes, plan = table.leaves, table.plan
    plan[N_FREE] -= 1
    child = rounds.pairs[plan[N_FREE]]
    job[TASK] = SPLIT
    job[CHILD] = child
    nodes[node, BEGIN] = nodes[node, START]
    nodes[node, COUNT] = nodes[node, HERE]
    nodes[node, WHOLE] = nodes[node, SIZE]
    nodes[child, SLOT] = NO_SLOT
    nodes[child + 1, SLOT] = NO_SLOT
    job[MADE] = NO_SLOT
    job[REST] = NO_SLOT
    least = rules.min_documents
    too_small = nodes[node, DEPTH] + 1 >= rules.max_depth or nodes[node, SIZE] < 3 * least
    doubtful = rules.check_documents and nodes[node, VERIFIED] == 0 and nodes[node, SIZE] < DOUBTFUL * least
    nodes[node, UNSEEN] = 1 if (last or doubtful) and not too_small else 0
    if last or doubtful or too_small:
        job[GIVEN] = NEITHER
        return
    # The smaller side, as Σr has it: any is right, since siblings are subtracted in integers.
    mask = (1 << rules.shift) - 1
    left, whole = nodes[node, LEFT_TOTAL] & mask, nodes[node, TOTAL] & mask
    smaller_left = 2 * left < whole
    expected = np.int64(nodes[node, SIZE] * (min(left, whole - left) / max(whole, 1)))
    _plan_histograms(node, LEFT_SIDE if smaller_left else RIGHT_SIDE, expected, job, n_words, rounds)


@uncounted_subroutine
def _plan_job(node: Any, job: Any, last: Any, n_words: Any, columns: Any, rules: Any, rounds: Any) -> Any:
    """Split the node; or count again, if that left too few documents; or look at its children, if that was put off."""
    nodes, plan = rounds.nodes.leaves, rounds.nodes.plan
    child = nodes[node, FIRST_CHILD]
    nodes[node, BUSY] = 1
    job[NODE] = node
    job[ENTRY] = plan[N_BUILT]
    if child != NO_CHILD:
        job[TASK] = LOOK
        job[CHILD] = child
        smaller = LEFT_SIDE if nodes[child, SIZE] < nodes[child + 1, SIZE] else RIGHT_SIDE
        _plan_histograms(node, smaller, nodes[child + smaller, SIZE], job, n_words, rounds)
    elif nodes[node, COUNTED] == 1:
        _plan_recount(node, job, n_words, columns, rounds)
    else:
        _plan_split(node, job, last, n_words, rules, rounds)
    job[N_ENTRIES] = plan[N_BUILT] - job[ENTRY]


@uncounted_subroutine
def plan_root(n_words: Any, rounds: Any) -> Any:
    """The first round: the histogram of the root alone."""
    job = rounds.jobs[0]
    job[NODE] = 0
    job[TASK] = ROOT
    job[MADE] = take_slot(rounds)
    rounds.nodes.leaves[0, SLOT] = job[MADE]
    rounds.nodes.plan[N_JOBS] = 1
    rounds.nodes.plan[N_BUILT] = 0
    rounds.nodes.plan[N_TRAVELLING] = 0
    rounds.nodes.plan[ROW_BYTES] = 0
    rounds.nodes.plan[KIND] = SUMS
    _note_built(job[MADE], 0, n_words * WORD, 0, rounds.nodes.leaves[0, SIZE], rounds)
    job[ENTRY] = 0
    job[N_ENTRIES] = 1


@uncounted_subroutine
def plan_round(n_words: Any, columns: Any, rules: Any, tree: Any, rounds: Any) -> Any:
    """Choose the leaves of a round: go on as the tree will grow, as far as that is known, and hope where it is not.

    The first is the leaf whose turn it is. The last that can have its turn needs no histograms of its children, unless
    one before it turns out to leave too few documents. There are always nodes enough for what must be split.
    """
    table, heap_gain, heap_node = rounds.nodes, rounds.heap_gain, rounds.heap_node
    nodes, gain, plan = table.leaves, table.leaf_gain, table.plan
    splits_left = len(tree.leaves) - tree.plan[N_LEAVES]
    waiting = 0  # in the heap, for their turn: nodes, and NO_NODE for children that are hoped for
    for leaf in range(tree.plan[N_LEAVES]):
        node = rounds.node_of[leaf]
        if gain[node] > rules.min_gain:
            waiting = push(gain[node], node, waiting, heap_gain, heap_node)
    n_jobs = 0
    plan[N_BUILT] = 0
    plan[N_TRAVELLING] = 0
    plan[ROW_BYTES] = 0
    turns = 0
    certain = 0  # turns of nodes: they come before the next one, whatever is found of others
    ahead = 0  # those of them that gain more than the node whose turn it is
    least = heap_gain[0]
    while waiting > 0 and turns < splits_left and n_jobs < len(rounds.jobs):
        sums = plan[N_BUILT] - plan[N_TRAVELLING]
        if plan[N_BUILT] + 2 > len(rounds.built) or sums + 2 > rounds.most_sums:
            break
        if n_jobs > 0 and plan[ROW_BYTES] > rounds.most_row_bytes:
            break
        most, node = heap_gain[0], heap_node[0]
        waiting = pop(waiting, heap_gain, heap_node)
        turns += 1
        if node != NO_NODE:
            if most < least:
                least = most
                ahead = certain
            certain += 1
            last = ahead + 1 >= splits_left
            child = nodes[node, FIRST_CHILD]
            if child != NO_CHILD and (nodes[node, UNSEEN] == 0 or last):  # split ahead, and what follows is known
                for side in range(2):
                    if gain[child + side] > rules.min_gain:
                        waiting = push(gain[child + side], child + side, waiting, heap_gain, heap_node)
                continue
            takes_nodes = child == NO_CHILD and nodes[node, COUNTED] != 1
            if n_jobs > 0 and takes_nodes and plan[N_FREE] <= splits_left:
                break
            _plan_job(node, rounds.jobs[n_jobs], last, n_words, columns, rules, rounds)
            n_jobs += 1
        if most * HOPE > rules.min_gain:
            for _ in range(2):
                waiting = push(most * HOPE, NO_NODE, waiting, heap_gain, heap_node)
    plan[N_JOBS] = n_jobs
