"""Histograms of leaves, shared out to threads by ranges of documents and blocks of words.

The leaves to build stand in a queue, and their documents are thought of as one row of documents. It is cut into ranges
of equal size. A leaf that begins in a range has its histogram made there; what later ranges find of it they keep in a
part of their own, to be added. So does the first range with a leaf that goes on after it: the leaf's histogram was not
touched for long, and to fetch it from memory is left to all threads, which add up the parts. Sums of integers are the
same however they are cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import uncounted_subroutine
from rankforce.kernels.trees.growth_state import COUNTS, FIRST_WORD, KIND, LAST_WORD, N_QUEUED, SUMS
from rankforce.kernels.trees.histograms import BYTE_VALUES, REGION, WORD, add_documents, clear_histogram
from rankforce.kernels.trees.leaf_table import HERE, NO_LEAF, SLOT, START

# Histograms of so many words stay in a processor's own cache. Of wider rows some words are taken at a time: a cache
# line of each row, so that no line is read twice.
FEW_WORDS = 48
WORDS_OF_A_PASS = 16

# What things cost, in histogram additions: only how long a tree takes depends on them.
PER_DOCUMENT = 48  # to find its row, which is in memory
PER_CLEARED = 0.4  # an entry that is set to 0
PER_REDUCED = 3.0  # an entry of a part, which another processor wrote, that is added


@uncounted_subroutine
def count_ranges(n_documents: Any, n_words: Any, threads: Any, most: Any) -> Any:
    """Into how many ranges to cut the documents, so that the slowest thread is done first.

    Each range is served by ⌊threads / ranges⌋ threads, which share its words.
    """
    best = 1
    least = np.inf
    ranges = 1
    while ranges <= min(threads, most):
        width = -(-n_words // (threads // ranges)) * WORD
        cost = (
            n_documents / ranges * (PER_DOCUMENT + width)
            + PER_CLEARED * width * BYTE_VALUES
            + PER_REDUCED * (ranges if ranges > 1 else 0) * n_words * WORD * BYTE_VALUES / threads
        )
        if cost < least:
            least = cost
            best = ranges
        ranges += 1
    return best


@uncounted_subroutine
def build_share(thread: Any, threads: Any, rows: Any, documents: Any, histograms: Any, tree: Any) -> Any:
    """A thread's share of the histograms over bytes of all leaves in the queue."""
    plan = tree.plan
    queue = tree.queue
    leaves = tree.leaves
    total = np.int64(0)
    for place in range(plan[N_QUEUED]):
        total += leaves[queue[place], HERE]
    span = plan[LAST_WORD] - plan[FIRST_WORD]
    ranges = count_ranges(total, span, threads, len(histograms.part_leaf))
    blocks = threads // ranges
    which = thread // blocks
    if thread == 0:
        for part in range(ranges, len(histograms.part_leaf)):
            histograms.part_leaf[part] = NO_LEAF
    if which >= ranges:
        return
    block = thread - which * blocks
    first_word = plan[FIRST_WORD] + span * block // blocks
    last_word = plan[FIRST_WORD] + span * (block + 1) // blocks
    first = total * which // ranges
    last = total * (which + 1) // ranges
    if block == 0 and len(histograms.part_leaf) > 0:
        histograms.part_leaf[which] = NO_LEAF
    before = np.int64(0)
    for place in range(plan[N_QUEUED]):
        leaf = queue[place]
        size = leaves[leaf, HERE]
        begin = leaves[leaf, START] + max(first - before, 0)
        end = leaves[leaf, START] + min(last - before, size)
        begins = first <= before and (before < last or which == ranges - 1)
        before += size
        if not (begins or begin < end):
            continue
        parted = not begins or (which == 0 and before > last)
        if parted and block == 0:
            histograms.part_leaf[which] = leaf
        if first_word == last_word:
            continue
        for counting in range(2):
            if plan[KIND] & (COUNTS if counting == 1 else SUMS) == 0:
                continue
            if parted:
                made = histograms.count_parts if counting == 1 else histograms.parts
                row = np.int64(which)
            else:
                made = histograms.counts if counting == 1 else histograms.sums
                row = leaves[leaf, SLOT] if counting == 0 or len(histograms.counts) > 1 else np.int64(0)
            histogram = made[row]
            clear_histogram(histogram, first_word, last_word)
            width = last_word - first_word
            passes = 1 if width <= FEW_WORDS else -(-width // WORDS_OF_A_PASS)
            for turn in range(passes if begin < end else 0):
                add_documents(
                    rows.words, documents.order[begin:end], documents.entries, 0 if counting == 1 else -1, counting,
                    first_word + width * turn // passes, first_word + width * (turn + 1) // passes, histogram,
                )  # fmt: skip


@uncounted_subroutine
def add_parts(leaf: Any, byte: Any, values: Any, part_leaf: Any, parts: Any, histogram: Any) -> Any:
    """Make the histogram of a leaf over one byte, of so many ``values``, from what ranges found of it."""
    first = np.uint64(byte * REGION)
    last = first + np.uint64(values)
    for part in range(len(part_leaf)):
        if part_leaf[part] != leaf:
            continue
        found = parts[part]
        keep = 0 if part == 0 else -1  # nothing of it is there before that of the first range
        for k in range(first, last):
            histogram[k] = (histogram[k] & keep) + found[k]
