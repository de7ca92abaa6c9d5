"""Histograms of leaves, shared out to threads by ranges of documents and blocks of words.

The leaves to build stand in a queue, and their documents are thought of as one row of documents. It is cut into ranges
of equal size. A leaf that begins in a range has its histogram made there; what is found of it in later ranges is kept
in parts, one per thread, to be added. So is what the first range finds of a leaf that goes on after it: the leaf's
histogram was not touched for long, and to fetch it from memory is left to all threads, which add up the parts. Sums of
integers are the same however they are cut, and whoever adds them: a thread that is done with its range takes pieces of
others'.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import uncounted_subroutine
from rankforce.kernels.trees.growth_state import (
    BUILD,
    COUNTS,
    FIRST_WORD,
    IN_PARTS,
    KIND,
    LAST_WORD,
    N_QUEUED,
    SHARED_PIECES,
    SUMS,
    shares_to_visit,
    take,
    whose_turn,
)
from rankforce.kernels.trees.histograms import (
    BYTE_VALUES,
    MANY_WORDS,
    REGION,
    WORD,
    add_documents,
    add_in_batches,
    clear_histogram,
)
from rankforce.kernels.trees.leaf_table import HERE, NO_LEAF, SLOT, START

# Histograms of so many words stay in a processor's own cache. Of wider rows some words are taken at a time: a cache
# line of each row, so that no line is read twice.
FEW_WORDS = 48
WORDS_OF_A_PASS = 16
DOCUMENTS_OF_A_PIECE = 2048  # some tens of microseconds, of the average piece; the last ones are far smaller
MOST_PIECES = 1 << 15  # whose square times 2^31 documents is below 2^63

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
    """What a thread builds of the histograms over bytes of all leaves in the queue: its share, then of others'."""
    plan = tree.plan
    part_leaf = histograms.part_leaf
    total = np.int64(0)
    for place in range(plan[N_QUEUED]):
        total += tree.leaves[tree.queue[place], HERE]
    ranges = count_ranges(total, plan[LAST_WORD] - plan[FIRST_WORD], threads, len(part_leaf))
    blocks = threads // ranges
    if thread == 0:
        plan[IN_PARTS] = _leaf_in_parts(total, ranges, tree)
        for part in range(threads if blocks == 1 else ranges, len(part_leaf)):
            part_leaf[part] = NO_LEAF
    if blocks == 1 and thread < len(part_leaf):
        part_leaf[thread] = NO_LEAF
    for turn in range(shares_to_visit(threads, plan)):
        owner = whose_turn(thread, threads, turn)
        if owner < ranges * blocks and (blocks == 1 or take(owner, BUILD, tree.taken) == 0):
            _build_range(thread, owner, total, ranges, blocks, rows, documents, histograms, tree)


@uncounted_subroutine
def count_pieces(size: Any) -> Any:
    """Into how many pieces so many documents are cut."""
    return min(max(size // DOCUMENTS_OF_A_PIECE, 1), MOST_PIECES)


@uncounted_subroutine
def piece_begin(piece: Any, pieces: Any, size: Any) -> Any:
    """Where a piece of so many documents begins: each is smaller than the one before, in even steps.

    What a thread waits for in the end is another one's last piece.
    """
    left = pieces - piece
    return size - size * left * left // (pieces * pieces)


@uncounted_subroutine
def _leaf_in_parts(total: Any, ranges: Any, tree: Any) -> Any:
    """The leaf that the first range shares with others."""
    before = np.int64(0)
    cut = total // ranges
    for place in range(tree.plan[N_QUEUED]):
        leaf = tree.queue[place]
        if before < cut < before + tree.leaves[leaf, HERE]:
            return leaf
        before += tree.leaves[leaf, HERE]
    return np.int64(NO_LEAF)


@uncounted_subroutine
def _build_range(
    thread: Any, owner: Any, total: Any, ranges: Any, blocks: Any, rows: Any, documents: Any, histograms: Any, tree: Any
) -> Any:
    """What is not yet taken of a share: some words of a range; or, if a range is of one thread, pieces of it.

    A leaf of which the range makes the histogram is one piece. What it has of a leaf that is shared with other ranges,
    one at most, is many: documents and words of a pass. Whoever takes one of them adds it to a part of its own, which
    can be of one leaf only.
    """
    plan = tree.plan
    queue = tree.queue
    leaves = tree.leaves
    which = owner // blocks
    block = owner - which * blocks
    span = plan[LAST_WORD] - plan[FIRST_WORD]
    first_word = plan[FIRST_WORD] + span * block // blocks
    last_word = plan[FIRST_WORD] + span * (block + 1) // blocks
    width = last_word - first_word
    passes = 1 if width <= FEW_WORDS else -(-width // WORDS_OF_A_PASS)
    first = total * which // ranges
    last = total * (which + 1) // ranges
    part = np.int64(thread if blocks == 1 else which)
    has_part = part < len(histograms.part_leaf)
    if blocks > 1 and block == 0 and has_part:
        histograms.part_leaf[part] = NO_LEAF
    wanted = take(owner, BUILD, tree.taken) if blocks == 1 else np.int64(0)
    made_before = np.int64(0)
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
        chunks = count_pieces(end - begin) if parted and blocks == 1 else np.int64(1)
        pieces = chunks * passes if parted and blocks == 1 else np.int64(1)
        piece = np.int64(0)
        if parted and blocks == 1:
            may_hold = has_part and (histograms.part_leaf[part] == NO_LEAF or histograms.part_leaf[part] == leaf)
            piece = take(owner, SHARED_PIECES, tree.taken) if may_hold else pieces
        elif blocks == 1:
            piece = np.int64(0) if made_before == wanted else pieces
            made_before += 1
        while piece < pieces:
            fresh = not parted or blocks > 1 or histograms.part_leaf[part] != leaf
            if parted and block == 0:
                histograms.part_leaf[part] = leaf
            chunk = piece % chunks
            from_document = begin + piece_begin(chunk, chunks, end - begin)
            to_document = begin + piece_begin(chunk + 1, chunks, end - begin)
            from_pass = piece // chunks
            to_pass = from_pass + 1 if pieces > 1 else passes
            for counting in range(2):
                if plan[KIND] & (COUNTS if counting == 1 else SUMS) == 0 or width == 0:
                    continue
                if parted:
                    made = histograms.count_parts if counting == 1 else histograms.parts
                    row = part
                else:
                    made = histograms.counts if counting == 1 else histograms.sums
                    row = leaves[leaf, SLOT] if counting == 0 or len(histograms.counts) > 1 else np.int64(0)
                histogram = made[row]
                if fresh:
                    clear_histogram(histogram, first_word, last_word)
                for turn in range(from_pass, to_pass if from_document < to_document else from_pass):
                    from_word = first_word + width * turn // passes
                    to_word = first_word + width * (turn + 1) // passes
                    if rows.batched and to_word - from_word >= MANY_WORDS:
                        add_in_batches(
                            rows.words, documents.order[from_document:to_document], documents.entries,
                            0 if counting == 1 else -1, counting, from_word, to_word, histogram,
                        )  # fmt: skip
                    else:
                        add_documents(
                            rows.words, documents.order[from_document:to_document], documents.entries,
                            0 if counting == 1 else -1, counting, from_word, to_word, histogram,
                        )  # fmt: skip
            if parted and blocks == 1:
                piece = take(owner, SHARED_PIECES, tree.taken)
            else:
                piece = pieces
                wanted = take(owner, BUILD, tree.taken)


@uncounted_subroutine
def add_parts(leaf: Any, in_parts: Any, byte: Any, values: Any, part_leaf: Any, parts: Any, histogram: Any) -> Any:
    """Make the histogram of a leaf over one byte, of so many ``values``, from what ranges found of it.

    If all of it is ``in_parts``, the histogram holds something else before.
    """
    first = np.uint64(byte * REGION)
    last = first + np.uint64(values)
    keep = 0 if in_parts else -1
    for part in range(len(part_leaf)):
        if part_leaf[part] != leaf:
            continue
        found = parts[part]
        for k in range(first, last):
            histogram[k] = (histogram[k] & keep) + found[k]
        keep = -1
