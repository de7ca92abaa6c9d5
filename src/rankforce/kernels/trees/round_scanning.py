"""The second half of a round: the sums of the own bytes are searched for the best splits, which are told to all."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, uncounted_subroutine
from rankforce.kernels.trees.barrier import meet
from rankforce.kernels.trees.category_order import SET_WORDS
from rankforce.kernels.trees.category_splits import sum_of_left
from rankforce.kernels.trees.growth_state import first_of_piece
from rankforce.kernels.trees.histograms import REGION, WORD, add_up_column, subtract_histogram
from rankforce.kernels.trees.leaf_table import (
    DEPTH,
    FAILURES,
    FEATURE,
    LEFT_TOTAL,
    NO_SLOT,
    SIZE,
    SLOT,
    TOTAL,
    bound_sides,
)
from rankforce.kernels.trees.leafwise import CLOSED, can_split, scan_column
from rankforce.kernels.trees.rounds import (
    AT_BIN,
    AT_PLACE,
    AT_SET,
    BOTH,
    BUILT_SLOT,
    BUSY,
    CHILD,
    COLUMN,
    COUNTED,
    ENTRY,
    FAILED,
    FIRST_BYTE,
    FIRST_CHILD,
    FLAGS,
    FROM,
    GIVEN,
    LAST_BYTE,
    LEFT,
    LOOK,
    MADE,
    N_ENTRIES,
    N_FREE,
    N_JOBS,
    N_MISSING,
    N_RECORDS,
    N_TRAVELLING,
    NEITHER,
    NO_CHILD,
    NODE,
    NUMBERS,
    RECOUNT,
    REST,
    ROOT,
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
)
from rankforce.kernels.trees.splits import NO_SPLIT


@uncounted_subroutine
def _hand_over(job: Any, rules: Any, rounds: Any) -> Any:
    """The histograms of a job become those of its children, which are searched for splits if they can be split."""
    table = rounds.nodes
    nodes, left = table.leaves, job[CHILD]
    nodes[job[NODE], SLOT] = NO_SLOT
    given = left if job[GIVEN] == BOTH else left + job[GIVEN]
    other = 2 * left + 1 - given
    nodes[given, SLOT] = job[MADE]
    nodes[other, SLOT] = job[REST]
    rounds.owners[job[MADE]] = given
    rounds.owners[job[REST]] = other
    for child in range(left, left + 2):
        if can_split(child, rules, nodes):
            rounds.scanned[table.plan[N_RECORDS]] = child
            table.plan[N_RECORDS] += 1


@uncounted_subroutine
def _settle_split(place: Any, n_left: Any, n_missing: Any, columns: Any, rules: Any, rounds: Any) -> Any:
    """Two nodes below one, now that all documents were counted; or nothing, if there are too few on a side."""
    table = rounds.nodes
    nodes, bounds, plan, owners = table.leaves, table.bounds, table.plan, rounds.owners
    job = rounds.jobs[place]
    node, left, right = job[NODE], job[CHILD], job[CHILD] + 1
    size = nodes[node, SIZE]
    enough = n_left >= rules.min_documents and size - n_left >= rules.min_documents
    if rules.check_documents and not enough and nodes[node, VERIFIED] == 0:
        nodes[node, FAILURES] += 1
        nodes[node, COUNTED] = 1
        free_slot(job[MADE], owners)
        if job[GIVEN] == BOTH:
            free_slot(job[REST], owners)
        rounds.pairs[plan[N_FREE]] = left
        plan[N_FREE] += 1
        job[TASK] = FAILED
        return
    nodes[node, FIRST_CHILD] = left
    nodes[node, N_MISSING] = n_missing
    for end in range(2):
        bounds[left, end] = bounds[node, end]
    nodes[left, TOTAL] = nodes[node, TOTAL]
    nodes[left, LEFT_TOTAL] = nodes[node, LEFT_TOTAL]
    bound_sides(left, right, columns.monotone[nodes[node, FEATURE]], rules, nodes, bounds)
    nodes[left, TOTAL] = nodes[node, LEFT_TOTAL]
    nodes[right, TOTAL] = nodes[node, TOTAL] - nodes[node, LEFT_TOTAL]
    nodes[left, SIZE] = n_left
    nodes[right, SIZE] = size - n_left
    splittable = False
    for child in range(left, right + 1):
        nodes[child, DEPTH] = nodes[node, DEPTH] + 1
        nodes[child, FAILURES] = 0
        nodes[child, FIRST_CHILD] = NO_CHILD
        nodes[child, COUNTED] = 0
        nodes[child, UNSEEN] = 0
        nodes[child, BUSY] = 0
        table.leaf_gain[child] = CLOSED
        splittable |= can_split(child, rules, nodes)
    if splittable and job[GIVEN] != NEITHER:
        _hand_over(job, rules, rounds)
        return
    nodes[left, SLOT] = NO_SLOT
    nodes[right, SLOT] = NO_SLOT
    free_slot(job[MADE], owners)
    if job[GIVEN] == BOTH:
        free_slot(job[REST], owners)
    job[GIVEN] = NEITHER
    if not splittable:
        nodes[node, UNSEEN] = 0
        free_slot(nodes[node, SLOT], owners)
        nodes[node, SLOT] = NO_SLOT


@uncounted_subroutine
def _settle(columns: Any, rules: Any, rounds: Any) -> Any:
    """What everybody's numbers make of the jobs; which nodes are searched for splits."""
    nodes, plan = rounds.nodes.leaves, rounds.nodes.plan
    numbers = rounds.parts[rounds.rank + 1] - NUMBERS * plan[N_JOBS]
    if plan[N_TRAVELLING] > 0:  # how many each member sends stands last
        numbers -= len(rounds.spans)
    plan[N_RECORDS] = 0
    for place in range(plan[N_JOBS]):
        job = rounds.jobs[place]
        node = job[NODE]
        nodes[node, BUSY] = 0
        one, other = rounds.message[numbers], rounds.message[numbers + 1]
        if rounds.adding:
            one += rounds.numbers[place, 0]
            other += rounds.numbers[place, 1]
        numbers += NUMBERS
        if job[TASK] == SPLIT:
            _settle_split(place, one, other, columns, rules, rounds)
            continue
        if job[TASK] == LOOK:
            nodes[node, UNSEEN] = 0
            _hand_over(job, rules, rounds)
            continue
        if job[TASK] == ROOT:
            nodes[node, TOTAL] = one
            rounds.owners[job[MADE]] = node
        nodes[node, COUNTED] = 0
        rounds.scanned[plan[N_RECORDS]] = node
        plan[N_RECORDS] += 1


@uncounted_subroutine
def _finish(place: Any, j: Any, columns: Any, histograms: Any, rounds: Any) -> Any:
    """Have the sums of a column in the histogram at ``place``, by the message, unless they are there already.

    Once: of two members what came is added to what is there.
    """
    byte, offsets = columns.byte[j], rounds.offsets
    entry = rounds.built[place]
    if not entry[FIRST_BYTE] <= byte < entry[LAST_BYTE]:
        return
    histogram = histograms.sums[entry[BUILT_SLOT]]
    if entry[TRAVELS] == 0 and columns.leads[j] == 1:  # before the others of its byte, which this thread has, too
        start = np.uint64(byte * REGION)
        source = np.uint64(entry[AT_PLACE] + offsets[byte])
        keep = -1 if rounds.adding else 0
        for k in range(np.uint64(offsets[byte + 1] - offsets[byte])):
            histogram[start + k] = (histogram[start + k] & keep) + rounds.message[source + k]
    add_up_column(histogram, columns.starts[j], byte, columns.values[j], columns.stride[j], columns.size[j])


@uncounted_subroutine
def _scan_share(
    thread: Any, threads: Any, columns: Any, rules: Any, histograms: Any, space: Any, best: Any, rounds: Any
) -> Any:
    """Finish the histograms of a thread's columns, and find the best split of all new nodes on each."""
    table = rounds.nodes
    nodes = table.leaves
    first, last = first_of_piece(thread, threads, columns), first_of_piece(thread + 1, threads, columns)
    for place in range(table.plan[N_JOBS]):
        job = rounds.jobs[place]
        task = job[TASK]
        splitting = task == SPLIT or task == LOOK
        if task == FAILED or (splitting and job[GIVEN] == NEITHER):
            continue
        for column in range(first, last):
            j = columns.order[column]
            for entry in range(job[ENTRY], job[ENTRY] + job[N_ENTRIES]):
                _finish(entry, j, columns, histograms, rounds)
            if splitting and job[GIVEN] != BOTH:
                start = columns.starts[j]
                subtract_histogram(
                    histograms.sums[job[REST]], histograms.sums[job[MADE]], start, start + columns.size[j]
                )
            if task == RECOUNT and not job[FROM] <= columns.byte[j] // WORD < job[TO]:
                continue
            for turn in range(2 if splitting else 1):
                node = job[CHILD] + turn if splitting else job[NODE]
                if not can_split(node, rules, nodes):
                    continue
                best.worth[node, j] = NO_SPLIT
                if columns.usable[j] == 1:
                    sums = histograms.sums[nodes[node, SLOT]]
                    scan_column(
                        node, j, nodes[node, TOTAL], task == RECOUNT, columns, rules, sums,
                        histograms.sums[job[MADE]] if task == RECOUNT else sums, table.bounds, space.sums[thread, 0],
                        space.worths[thread, 0], space.worth_bits[thread, 0], nodes[node, SIZE], best,
                    )  # fmt: skip


@uncounted_subroutine
def _tell_set(node: Any, j: Any, categories: Any, record: Any) -> Any:
    if categories is not None:
        number = categories.number[j]
        if number >= 0:
            for word in range(SET_WORDS):
                record[AT_SET + word] = categories.sets[node, number, word]


@uncounted_subroutine
def _tell(columns: Any, histograms: Any, best: Any, rounds: Any) -> Any:
    """Write down the best split of each node on the own columns, for the others; and let go of what was counted."""
    table, length = rounds.nodes, rounds.record
    n_records = table.plan[N_RECORDS]
    for k in range((len(rounds.edges) - 1) * n_records * length):
        rounds.records[k] = 0
    for place in range(n_records):
        node = rounds.scanned[place]
        start = (rounds.rank * n_records + place) * length
        record = rounds.records[start : start + length]
        most = NO_SPLIT
        j = -1
        for column in range(len(columns.starts)):  # of equal ones the lower
            if columns.share[column] < 1.0 and best.worth[node, column] > most:
                most = best.worth[node, column]
                j = column
        record[COLUMN] = j
        if j >= 0:
            rounds.worths[start + WORTH] = most
            record[AT_BIN] = best.bin[node, j]
            record[FLAGS] = TO_LEFT * best.missing[node, j] + WAS_VERIFIED * best.verified[node, j]
            record[LEFT] = sum_of_left(
                histograms.sums[table.leaves[node, SLOT]], node, j, best.bin[node, j], best.missing[node, j] == 1,
                columns, columns.categories,
            )  # fmt: skip
            _tell_set(node, j, columns.categories, record)
    for place in range(table.plan[N_JOBS]):
        if rounds.jobs[place, TASK] == RECOUNT:
            free_slot(rounds.jobs[place, MADE], rounds.owners)


@kernel(uncounted=True)
def scan_round(
    thread: Any,
    threads: Any,
    meeting: Any,
    columns: Any,
    rules: Any,
    histograms: Any,
    space: Any,
    best: Any,
    rounds: Any,
) -> Any:
    """From the sums of the own part of the message to what is told of the own columns; how many nodes that concerns.

    ``columns`` has a share of 1 or more for those of others. −1 if a thread did not come.
    """
    if thread == 0:
        _settle(columns, rules, rounds)
    came = meet(meeting, threads)
    if came:
        _scan_share(thread, threads, columns, rules, histograms, space, best, rounds)
        came = meet(meeting, threads)
    if came and thread == 0:
        _tell(columns, histograms, best, rounds)
    return rounds.nodes.plan[N_RECORDS] if came else -1
