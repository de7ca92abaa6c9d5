"""The first half of a round: what was told is taken over, leaves are split, and histograms go into the message."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, uncounted_subroutine
from rankforce.kernels.trees.barrier import meet
from rankforce.kernels.trees.building import add_parts, build_share
from rankforce.kernels.trees.growth_state import FIRST_WORD, IN_PARTS, LAST_WORD, N_QUEUED, forget_taken
from rankforce.kernels.trees.histograms import REGION, add_documents, clear_histogram
from rankforce.kernels.trees.leaf_table import BEGIN, COUNT, FEATURE, HERE, START
from rankforce.kernels.trees.leafwise import SMALL_LEAF
from rankforce.kernels.trees.partition import collect_share, count_dealt, deal_share, fill_own_sides
from rankforce.kernels.trees.round_planning import adopt, make_splits, plan_root, plan_round
from rankforce.kernels.trees.rounds import (
    AT_PLACE,
    BIN,
    BUILT_NODE,
    BUILT_SLOT,
    CHILD,
    FINISHED,
    FIRST_BYTE,
    FROM,
    LAST_BYTE,
    MADE,
    MISSING,
    N_BUILT,
    N_JOBS,
    N_TRAVELLING,
    NO_NODE,
    NODE,
    NUMBERS,
    RECOUNT,
    ROOT,
    SPLIT,
    TASK,
    TO,
    TRAVELS,
)
from rankforce.kernels.trees.travelling import travelling_documents


@uncounted_subroutine
def _deal_jobs(thread: Any, threads: Any, collecting: Any, rows: Any, columns: Any, documents: Any, rounds: Any) -> Any:
    """Deal a thread's share of the documents of all leaves that are split, or bring it to its places."""
    nodes = rounds.nodes.leaves
    for place in range(rounds.nodes.plan[N_JOBS]):
        if rounds.jobs[place, TASK] != SPLIT:
            continue
        node = rounds.jobs[place, NODE]
        start, size = nodes[node, BEGIN], nodes[node, COUNT]
        if size >= SMALL_LEAF:
            begin = start + size * thread // threads
            end = start + size * (thread + 1) // threads
        else:  # one thread has all of it
            begin = start if place % threads >= thread else start + size
            end = start if place % threads > thread else start + size
        if collecting:
            collect_share(thread, threads, place, start, begin, end, begin, documents)
            continue
        feature = nodes[node, FEATURE]
        if begin < end:
            fill_own_sides(
                thread, node, feature, nodes[node, BIN], nodes[node, MISSING] == 1, rows, columns,
                columns.categories, documents,
            )  # fmt: skip
        deal_share(thread, thread, place, feature, begin, end, begin, rows, columns, documents)


@uncounted_subroutine
def _place_children(threads: Any, n_words: Any, documents: Any, rounds: Any) -> Any:
    """Say where the documents of the children are, and which histograms to build."""
    table = rounds.nodes
    nodes, plan = table.leaves, table.plan
    queued = 0
    for place in range(plan[N_JOBS]):
        job = rounds.jobs[place]
        if job[TASK] == SPLIT:
            node, left = job[NODE], job[CHILD]
            n_left = count_dealt(threads, place, 0, documents.dealt)
            nodes[left, START] = nodes[node, BEGIN]
            nodes[left, HERE] = n_left
            nodes[left + 1, START] = nodes[node, BEGIN] + n_left
            nodes[left + 1, HERE] = nodes[node, COUNT] - n_left
    for entry in range(plan[N_BUILT]):
        if rounds.built[entry, BUILT_NODE] != NO_NODE and rounds.built[entry, TRAVELS] == 0:
            table.queue[queued] = rounds.built[entry, BUILT_NODE]
            queued += 1
    plan[N_QUEUED] = queued
    plan[FIRST_WORD] = 0
    plan[LAST_WORD] = n_words


@uncounted_subroutine
def _recount_share(thread: Any, threads: Any, rows: Any, documents: Any, histograms: Any, rounds: Any) -> Any:
    """Count the documents of leaves where a split left too few, by words."""
    nodes = rounds.nodes.leaves
    for place in range(rounds.nodes.plan[N_JOBS]):
        job = rounds.jobs[place]
        if job[TASK] != RECOUNT:
            continue
        span = job[TO] - job[FROM]
        first_word = job[FROM] + span * thread // threads
        last_word = job[FROM] + span * (thread + 1) // threads
        begin = nodes[job[NODE], START]
        end = begin + nodes[job[NODE], HERE]
        if first_word < last_word:
            clear_histogram(histograms.sums[job[MADE]], first_word, last_word)
            add_documents(
                rows.words, documents.order[begin:end], documents.entries, 0, 1, first_word, last_word,
                histograms.sums[job[MADE]],
            )  # fmt: skip


@uncounted_subroutine
def _pack_share(thread: Any, threads: Any, documents: Any, histograms: Any, rounds: Any) -> Any:
    """Write a thread's share of the histograms, by bytes, into the parts of their owners; thread 0 the numbers.

    What travels goes another way: it is only said how many documents that are. Of an own part that is only for what
    comes, nothing is written.
    """
    plan, offsets, edges, message = rounds.nodes.plan, rounds.offsets, rounds.edges, rounds.message
    n_bytes = len(offsets) - 1
    position = np.int64(0)
    rounds.parts[0] = 0
    for member in range(len(edges) - 1):
        sent = member != rounds.rank or not rounds.adding
        for place in range(plan[N_BUILT]):
            entry = rounds.built[place]
            if entry[TRAVELS] == 1:
                continue
            histogram = histograms.sums[entry[BUILT_SLOT]]
            if thread == 0 and member == rounds.rank:
                entry[AT_PLACE] = position - offsets[max(edges[member], entry[FIRST_BYTE])]
            for byte in range(max(edges[member], entry[FIRST_BYTE]), min(edges[member + 1], entry[LAST_BYTE])):
                values = offsets[byte + 1] - offsets[byte]
                if byte * threads // n_bytes == thread:
                    if entry[BUILT_NODE] != NO_NODE:
                        node = entry[BUILT_NODE]
                        add_parts(
                            node,
                            plan[IN_PARTS] == node,
                            byte,
                            values,
                            histograms.part_leaf,
                            histograms.parts,
                            histogram,
                        )
                    start = np.uint64(byte * REGION)
                    for k in range(np.uint64(values if sent else 0)):
                        message[np.uint64(position) + k] = histogram[start + k]
                position += values
        for place in range(plan[N_JOBS]):
            if thread == 0 and sent:
                for which in range(NUMBERS):
                    message[position + which] = rounds.numbers[place, which]
            position += NUMBERS
        if plan[N_TRAVELLING] > 0:
            if thread == 0 and sent:
                for other in range(len(edges) - 1):
                    message[position + other] = 0
                message[position + rounds.rank] = travelling_documents(rounds)
            position += len(edges) - 1
        if thread == 0:
            rounds.parts[member + 1] = position


@uncounted_subroutine
def _count_jobs(threads: Any, documents: Any, rounds: Any) -> Any:
    """The numbers of every job: how many documents went left, and were missing; of the root the sum of its entries."""
    for place in range(rounds.nodes.plan[N_JOBS]):
        job = rounds.jobs[place]
        rounds.numbers[place, 0] = 0
        rounds.numbers[place, 1] = 0
        if job[TASK] == SPLIT:
            for which in range(NUMBERS):
                rounds.numbers[place, which] = count_dealt(threads, place, which, documents.dealt)
        elif job[TASK] == ROOT:
            total = np.int64(0)
            for k in range(len(documents.order)):
                total += documents.entries[documents.order[k]]
            rounds.numbers[place, 0] = total


@kernel(uncounted=True)
def take_round(
    first: Any,
    thread: Any,
    threads: Any,
    meeting: Any,
    rows: Any,
    columns: Any,
    rules: Any,
    documents: Any,
    histograms: Any,
    tree: Any,
    rounds: Any,
) -> Any:
    """Go on from what owners have told to the message of the next round (of the ``first``: the root's histogram).

    Returns whether there is one: 0 if the tree is grown, −1 if a thread did not come.
    """
    plan = rounds.nodes.plan
    n_words = rows.n_words
    if thread == 0:
        plan[FINISHED] = 0
        forget_taken(rounds.nodes.taken)
        if first:
            plan_root(n_words, rounds)
        else:
            adopt(columns, rules, rounds)
            if make_splits(columns, rules, tree, rounds):
                plan[FINISHED] = 1
            else:
                plan_round(n_words, columns, rules, tree, rounds)
    came = meet(meeting, threads)
    if came and plan[FINISHED] == 0:
        _deal_jobs(thread, threads, False, rows, columns, documents, rounds)
        came = meet(meeting, threads)
        if came:
            _deal_jobs(thread, threads, True, rows, columns, documents, rounds)
            if thread == 0:
                _place_children(threads, n_words, documents, rounds)
                _count_jobs(threads, documents, rounds)
            came = meet(meeting, threads)
        if came:
            if plan[N_QUEUED] > 0:
                build_share(thread, threads, rows, documents, histograms, rounds.nodes)
            _recount_share(thread, threads, rows, documents, histograms, rounds)
            came = meet(meeting, threads)
        if came:
            _pack_share(thread, threads, documents, histograms, rounds)
    return (1 - plan[FINISHED]) if came else -1
