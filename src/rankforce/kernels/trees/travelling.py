"""Rows of documents that go to the owners of their bytes, where that is less than a histogram.

A histogram has an entry for every value of every byte, however few documents a leaf has. Of a small leaf each member
sends the documents themselves: for every other member, the words of the row that hold its bytes, and the document's
entry. Owners add them up, and their own documents where they are; sums of integers are the same, wherever they are
made.

A part of what is sent is one other member's, of uint32: how many documents each of the leaves has, then for each of
them its entry (two numbers, the lower half first) and the words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.intrinsics import prefetch_row
from rankforce.compiling.jit import kernel, uncounted_subroutine
from rankforce.kernels.trees.building import FEW_WORDS, WORDS_OF_A_PASS
from rankforce.kernels.trees.histograms import (
    AHEAD,
    BYTE,
    LINE,
    LOW_BYTE,
    REGION,
    WORD,
    add_documents,
    clear_histogram,
)
from rankforce.kernels.trees.leaf_table import HERE, START
from rankforce.kernels.trees.rounds import BUILT_NODE, BUILT_SLOT, N_BUILT, N_TRAVELLING, TRAVELS

ENTRY_WORDS = 2
HALF = np.uint64(32)
LOWER_HALF = np.uint64(2**32 - 1)


@uncounted_subroutine
def travelling_documents(rounds: Any) -> Any:
    """How many documents this member has in leaves that travel."""
    count = np.int64(0)
    for place in range(rounds.nodes.plan[N_BUILT]):
        if rounds.built[place, TRAVELS] == 1:
            count += rounds.nodes.leaves[rounds.built[place, BUILT_NODE], HERE]
    return count


@uncounted_subroutine
def _pack_documents(
    begin: Any, end: Any, index: Any, rows: Any, documents: Any, rounds: Any, sent: Any, starts: Any
) -> Any:
    """Write a leaf's documents, at places ``begin`` to ``end``, into the parts, from the ``index``-th of each on."""
    order = documents.order
    for k in range(begin, end + AHEAD):
        if k < end:
            for byte in range(0, rows.n_words * WORD, LINE):
                prefetch_row(rows.words, order[k], byte)
            prefetch_row(documents.entries, order[k], 0)
        if k < begin + AHEAD:
            continue
        document = np.uint64(order[k - AHEAD])
        entry = np.uint64(documents.entries[document])
        for member in range(len(rounds.spans)):
            if member == rounds.rank:
                continue
            first = np.uint64(rounds.spans[member, 0])
            width = np.uint64(rounds.spans[member, 1]) - first
            length = width + np.uint64(ENTRY_WORDS)
            place = np.uint64(starts[member]) + np.uint64(index + k - AHEAD - begin) * length
            sent[place] = np.uint32(entry & LOWER_HALF)
            sent[place + np.uint64(1)] = np.uint32(entry >> HALF)
            for w in range(width):
                sent[place + np.uint64(ENTRY_WORDS) + w] = rows.words[document, first + w]


@kernel(uncounted=True)
def pack_rows(thread: Any, threads: Any, rows: Any, documents: Any, rounds: Any, sent: Any, starts: Any) -> Any:
    """A thread's share of the documents that travel, into the parts of all others.

    sent uint32; starts int64 (members,): where the rows of each part begin, after the sizes of the leaves.
    """
    nodes = rounds.nodes.leaves
    total = travelling_documents(rounds)
    first = total * thread // threads
    last = total * (thread + 1) // threads
    before = np.int64(0)
    number = np.int64(0)
    n_leaves = rounds.nodes.plan[N_TRAVELLING]
    for place in range(rounds.nodes.plan[N_BUILT]):
        if rounds.built[place, TRAVELS] == 0:
            continue
        node = rounds.built[place, BUILT_NODE]
        size = nodes[node, HERE]
        if thread == 0:
            for member in range(len(starts)):
                if member != rounds.rank:
                    sent[starts[member] - n_leaves + number] = np.uint32(size)
        begin = max(first - before, 0)
        end = min(last - before, size)
        if begin < end:
            start = nodes[node, START]
            _pack_documents(start + begin, start + end, before + begin, rows, documents, rounds, sent, starts)
        before += size
        number += 1


@uncounted_subroutine
def _add_rows(
    came: Any, start: Any, count: Any, length: Any, own_word: Any, first_word: Any, last_word: Any, histogram: Any
) -> Any:
    """Add ``count`` rows, of words from ``own_word`` on, to the histograms of the bytes in some of the words."""
    for k in range(np.uint64(count)):
        place = np.uint64(start) + k * np.uint64(length)
        entry = np.int64(np.uint64(came[place]) | (np.uint64(came[place + np.uint64(1)]) << HALF))
        place += np.uint64(ENTRY_WORDS)
        for w in range(np.uint64(first_word), np.uint64(last_word)):
            bins = np.uint64(came[place + w - np.uint64(own_word)])
            byte = w * np.uint64(WORD)
            for t in range(WORD):
                histogram[(byte + np.uint64(t)) * np.uint64(REGION) + (bins & LOW_BYTE)] += entry
                bins = bins >> BYTE


@kernel(uncounted=True)
def add_rows(
    thread: Any, threads: Any, rows: Any, documents: Any, rounds: Any, sums: Any, came: Any, starts: Any
) -> Any:
    """Make the histograms of the leaves that travel, over a thread's share of the own words.

    sums int64 (histograms, entries); came uint32; starts int64 (members,): where the rows of each part begin.
    """
    nodes = rounds.nodes.leaves
    own_word, end_word = rounds.spans[rounds.rank]
    span = end_word - own_word
    first_word = own_word + span * thread // threads
    width = own_word + span * (thread + 1) // threads - first_word
    passes = 1 if width <= FEW_WORDS else -(-width // WORDS_OF_A_PASS)
    length = span + ENTRY_WORDS
    n_leaves = rounds.nodes.plan[N_TRAVELLING]
    number = np.int64(0)
    for place in range(rounds.nodes.plan[N_BUILT]):
        if rounds.built[place, TRAVELS] == 0:
            continue
        node = rounds.built[place, BUILT_NODE]
        begin = nodes[node, START]
        own_documents = documents.order[begin : begin + nodes[node, HERE]]
        histogram = sums[rounds.built[place, BUILT_SLOT]]
        for turn in range(passes if width > 0 else 0):
            from_word = first_word + width * turn // passes
            to_word = first_word + width * (turn + 1) // passes
            clear_histogram(histogram, from_word, to_word)
            add_documents(rows.words, own_documents, documents.entries, -1, 0, from_word, to_word, histogram)
            for member in range(len(starts)):
                if member == rounds.rank:
                    continue
                sizes = starts[member] - n_leaves
                before = np.int64(0)
                for other in range(number):
                    before += np.int64(came[sizes + other])
                _add_rows(
                    came, starts[member] + before * length, np.int64(came[sizes + number]), length, own_word,
                    from_word, to_word, histogram,
                )  # fmt: skip
        number += 1
