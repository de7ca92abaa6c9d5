"""What kernels that grow a tree are given, in named bundles, and the phases in which they work.

A tree grows in turns of the same five phases. Within a phase threads do not need each other: each does its share of
what the plan says and writes to places of its own. Between two phases they meet; where the next one has work for one
thread alone, the last to arrive does it before the others go on. A thread that is done takes from the shares of those
that are not: processors are shared with others, and who has lost its own for a while holds up nobody for what it had
not begun.

``BUILD``   histograms of some leaves, by ranges of documents and blocks of words
``SCAN``    sums over the ranges, what remains for the siblings, the best split on each column
``CHOOSE``  one thread decides what is split
``DEAL``    the documents of what is split, to both sides, by ranges
``COMMIT``  brought to their places; one thread writes the split down and plans what is built next
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rankforce.compiling.intrinsics import atomic_add
from rankforce.compiling.jit import uncounted_subroutine
from rankforce.kernels.trees.barrier import arrive, end_round, wait_for_end

BUILD, SCAN, CHOOSE, DEAL, COMMIT, DONE = range(6)

# What is to be done next: places in ``plan`` int64, written by one thread in CHOOSE and COMMIT.
# The first leaves of ``queue`` are those to build: KIND says of what, FIRST_WORD and LAST_WORD which words. IN_PARTS is
# the leaf of which all was built in parts, and nothing in its own histogram, or NO_LEAF; written in BUILD.
# HELPING: whether a thread that is done with its share goes on with the shares of others; constant, and true wherever
# one does a phase alone.
# PHASE is what threads go on with that have waited for others; written by the last to arrive, which does all phases
# of FOR_ONE before, a bit for each: CHOOSE always, others where they are too short to tell all threads of them.
NEXT, N_LEAVES, N_QUEUED, KIND, FIRST_WORD, LAST_WORD, IN_PARTS, HELPING, PHASE, FOR_ONE = range(10)
COMMON_PLACES = 10
ALWAYS_FOR_ONE = 1 << CHOOSE
SUMS, COUNTS, SUMS_AND_COUNTS = 1, 2, 3  # values of KIND
SCAN_PIECES = 8  # of a thread's share of the columns
CURSORS = 8  # places of ``taken`` per thread, a cache line; the number of a phase is its place, and one more:
SHARED_PIECES = DONE  # in BUILD, those of a leaf that is shared with others


class RowsOfBins(NamedTuple):
    """The binned data: ``words`` uint32 (documents, words), rows of bytes, of which the first ``n_words`` are in use;
    ``cells`` uint8, the bytes or the columns.

    The cell of document d and column j is at d·row_stride + j·column_stride; column_stride is 0 if cells are bytes.
    ``batched``: whether many words are added in batches of documents.
    """

    words: Any
    n_words: Any
    cells: Any
    row_stride: Any
    column_stride: Any
    batched: Any


class ColumnTable(NamedTuple):
    """Per column where its histogram ``starts`` int64; its ``byte``, its ``stride`` and ``size`` in it, int32.

    ``size`` is bins and one for missing values; ``values`` int32 are those of its byte. ``share`` float64 of all work
    lies before that of its byte: by it, threads share the columns; ``order`` int32 is that of the shares, columns of a
    byte in their own. ``leads`` uint8: the first column of its byte. ``usable`` uint8, ``monotone`` int8.
    ``categories``: a CategoryTable, or None if all columns are numeric: kernels are compiled without what concerns
    categories then, and cost nothing more.
    """

    starts: Any
    byte: Any
    stride: Any
    size: Any
    values: Any
    share: Any
    order: Any
    leads: Any
    usable: Any
    monotone: Any
    categories: Any = None


class CategoryTable(NamedTuple):
    """What there is about categorical columns, which have numbers of their own: ``number`` int32 (columns,), or −1.

    ``smoothing`` in documents (of the leaf's mean curvature).

    ``sets`` uint64 (leaves, categorical columns, 4): the bins that the best split of a leaf on a column sends to the
    left, bit b % 64 of word b // 64; of a symmetric tree row 0 alone. ``chosen`` uint64 (nodes, 4): those of every
    split that was made.

    Work space per categorical column, which one thread has at a time: ``pulls`` float64 (…, 2, 256), for each bin what
    its documents pull beyond the mean of their leaf, and Σr, missing values last; ``keys`` float64 (…, 2, 256), what
    bins are ordered by, and which share of that pull is taken for chance; ``order`` int64 (…, 2, 256), the bins in that
    order, how many of them in ``n_ordered`` int64 (…,), from where on the left side is that behind a split in ``turn``
    int64 (…,); ``ordered`` int64 (…, 2, 256), a leaf's sums and counts in that order.
    """

    number: Any
    smoothing: Any
    sets: Any
    chosen: Any
    pulls: Any
    keys: Any
    order: Any
    n_ordered: Any
    turn: Any
    ordered: Any


class SplitRules(NamedTuple):
    """What a split must satisfy, in units of the quantisation.

    ``shift`` of the entries; ``l2``; ``min_gain``; ``least`` Σr that each side needs; ``min_documents``, which have to
    be counted if ``check_documents``, since r is no count; ``max_depth`` (levels, of a symmetric tree); ``bounded``:
    there are monotone features.
    """

    shift: Any
    l2: Any
    min_gain: Any
    least: Any
    min_documents: Any
    check_documents: Any
    max_depth: Any
    bounded: Any


class LeafDocuments(NamedTuple):
    """``order`` int32, the documents of each leaf together, in their old order; ``scratch`` for as many, and a cache
    line more per thread.

    ``entries`` int64 ``q·2^shift + r``, one per document of the data set. ``dealt`` int64 (threads, leaves or 4, 2):
    how many of a leaf's documents each thread sent to the left, and how many of them were missing; ``elsewhere`` int64
    (leaves or 4, 2): the same of documents that another process has. ``sides`` uint8 (threads, 256).
    """

    order: Any
    scratch: Any
    entries: Any
    dealt: Any
    elsewhere: Any
    sides: Any


class Histograms(NamedTuple):
    """``sums`` and ``counts`` int64 (histograms, entries), of entries and of documents.

    ``parts`` and ``count_parts`` int64 (ranges, entries of all bytes): what a range of documents finds of a leaf that
    it shares with others; ``part_leaf`` int64 (ranges,), that leaf, or NO_LEAF. A single range has none.
    """

    sums: Any
    counts: Any
    parts: Any
    count_parts: Any
    part_leaf: Any


class BestSplits(NamedTuple):
    """Per leaf and column the best split: ``worth`` float64, ``bin`` int32, ``missing`` uint8 (to the left).

    ``verified`` uint8: its documents were counted. Of a symmetric tree, whose leaves all ask the same, row 0 alone.
    """

    worth: Any
    bin: Any
    missing: Any
    verified: Any


class ScanSpace(NamedTuple):
    """Work space: ``sums`` int64 (threads, 2, 256), its second row 0 unless documents are counted.

    ``worths`` float64 (threads or columns, 3, 256) and their bits ``worth_bits`` int64.
    """

    sums: Any
    worths: Any
    worth_bits: Any


class TreeTable(NamedTuple):
    """The tree: ``leaves`` int64 and ``splits`` int32 with the columns of ``leaf_table``, rows as they were made.

    ``leaf_gain`` and ``split_gain`` float64, in units; ``bounds`` float64 (leaves, 2), what leaf values must lie
    between; ``plan`` int64 and ``queue`` int64 (leaves,). ``taken`` int64 (threads · CURSORS,): how much of each
    thread's share of BUILD, SCAN, DEAL and COMMIT was taken, by whomever.
    """

    leaves: Any
    leaf_gain: Any
    bounds: Any
    splits: Any
    split_gain: Any
    plan: Any
    queue: Any
    taken: Any


@uncounted_subroutine
def following(phase: Any, plan: Any) -> Any:
    """The phase after one that all threads have done: as it was planned, where that is decided."""
    return phase + 1 if phase != CHOOSE and phase != COMMIT else plan[NEXT]


@uncounted_subroutine
def go_on(phase: Any, single: Any, threads: Any, meeting: Any, plan: Any) -> Any:
    """(the next phase, whether the others wait for this thread, whether all came) behind a phase that is done.

    ``single``: whether the others have waited for this thread before.
    """
    current = 0
    if not single:
        current, single = arrive(meeting, threads)
    if not single:
        came = wait_for_end(meeting, current)
        return plan[PHASE], False, came
    phase = following(phase, plan)
    if (plan[FOR_ONE] >> phase) & 1 == 1:
        return phase, True, True
    plan[PHASE] = phase
    end_round(meeting, threads)
    return phase, False, True


@uncounted_subroutine
def whose_turn(thread: Any, threads: Any, turn: Any) -> Any:
    """Whose share a thread looks at next: its own, then those of the threads after it."""
    owner = thread + turn
    return owner if owner < threads else owner - threads


@uncounted_subroutine
def shares_to_visit(threads: Any, plan: Any) -> Any:
    """How many shares a thread looks at: all, or its own alone."""
    return threads if plan[HELPING] == 1 else 1


@uncounted_subroutine
def take(owner: Any, phase: Any, taken: Any) -> Any:
    """The number of the next piece of a share that nobody has begun: from 0 on, beyond the last if there is none."""
    return atomic_add(taken, owner * CURSORS + phase, 1)


@uncounted_subroutine
def forget_taken(taken: Any) -> Any:
    """All shares are whole again. In CHOOSE, which has none: between two turns of any phase there is one."""
    for place in range(len(taken)):
        taken[place] = 0


@uncounted_subroutine
def first_of_piece(piece: Any, pieces: Any, columns: Any) -> Any:
    """The place in ``order`` of the first column of one of so many pieces of all shares; of a piece beyond, their end.

    Whole bytes are in a piece, since their columns have the same share.
    """
    low = 0
    high = len(columns.order)
    while low < high:
        middle = (low + high) // 2
        if int(columns.share[columns.order[middle]] * pieces) < piece:
            low = middle + 1
        else:
            high = middle
    return low
