"""Documents of a leaf dealt to its two sides, keeping their order; and documents sent through a whole tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, uncounted_subroutine
from rankforce.kernels.trees.category_order import is_in_set
from rankforce.kernels.trees.category_splits import is_categorical
from rankforce.kernels.trees.histograms import BYTE_VALUES

LEFT, MISSING = 1, 2  # what a table of sides says about a cell, added up
LINE_DOCUMENTS = 16  # documents in a cache line
ZERO, ONE = np.uint64(0), np.uint64(1)


@uncounted_subroutine
def fill_sides(stride: Any, size: Any, split_bin: Any, missing_left: Any, missing_bin: Any, sides: Any) -> Any:
    """For each value of a cell, whether its document goes left and whether its value is missing.

    The bin is the digit of the cell at ``stride``, of ``size`` possible ones.
    """
    b = 0
    next_digit = stride
    for cell in range(len(sides)):
        if cell == next_digit:
            next_digit += stride
            b = b + 1 if b + 1 < size else 0
        missing = b == missing_bin
        sides[cell] = (LEFT if b <= split_bin or (missing and missing_left) else 0) + (MISSING if missing else 0)


@uncounted_subroutine
def fill_set_sides(
    row: Any, column: Any, stride: Any, size: Any, missing_left: Any, missing_bin: Any, categories: Any, sides: Any
) -> Any:
    """As ``fill_sides``, where the bins of a set go left: that of leaf ``row`` on a categorical column."""
    if categories is None:
        return
    of_bins = categories.sets[row, categories.number[column]]
    b = 0
    next_digit = stride
    for cell in range(len(sides)):
        if cell == next_digit:
            next_digit += stride
            b = b + 1 if b + 1 < size else 0
        missing = b == missing_bin
        left = missing_left if missing else is_in_set(of_bins, b)
        sides[cell] = (LEFT if left else 0) + (MISSING if missing else 0)


@uncounted_subroutine
def deal(
    cells: Any, row_stride: Any, column: Any, sides: Any, documents: Any, begin: Any, end: Any, kept: Any, scratch: Any
) -> Any:
    """Deal ``documents[begin:end]`` into ``scratch`` from ``kept`` on; return how many went left and were missing.

    ::

        documents  a b c d e f g        left: a c d g
        scratch    a c d g f e b        right, from the back: b e f

    The cell of document d is ``cells[d·row_stride + column]``, in a row-major or a column-major matrix.
    """
    front = np.uint64(kept)  # unsigned: a signed place may count from the end, and to allow for that takes time
    back = np.uint64(kept + end - begin - 1)
    stride = np.uint64(row_stride)
    place = np.uint64(column)
    n_left = ZERO
    n_missing = ZERO
    first = np.uint64(begin)
    for k in range(np.uint64(end - begin)):
        document = documents[first + k]
        side = np.uint64(sides[cells[np.uint64(document) * stride + place]])
        goes_left = side & ONE
        n_missing += side >> ONE
        scratch[front + n_left] = document  # both places are free: what is not kept is written over
        scratch[back - (k - n_left)] = document
        n_left += goes_left
    return np.int64(n_left), np.int64(n_missing)


@uncounted_subroutine
def collect(scratch: Any, kept: Any, size: Any, n_left: Any, left: Any, right: Any, documents: Any) -> Any:
    """Bring ``size`` documents that ``deal`` kept to ``documents``, from places ``left`` and ``right`` on."""
    source = np.uint64(kept)
    target = np.uint64(left)
    for k in range(np.uint64(n_left)):
        documents[target + np.uint64(k)] = scratch[source + np.uint64(k)]
    source = np.uint64(kept + size - 1)
    target = np.uint64(right)
    for k in range(np.uint64(size - n_left)):
        documents[target + np.uint64(k)] = scratch[source - np.uint64(k)]


@uncounted_subroutine
def fill_own_sides(
    thread: Any, row: Any, column: Any, split_bin: Any, missing_left: Any, rows: Any, columns: Any, categories: Any,
    documents: Any,
) -> Any:  # fmt: skip
    """A thread's table of sides, for the cells of one column; sets are those of leaf ``row``."""
    by_column = rows.column_stride > 0
    stride = 1 if by_column else columns.stride[column]
    size = BYTE_VALUES if by_column else columns.size[column]
    missing_bin = columns.size[column] - 1
    if is_categorical(column, categories):
        fill_set_sides(
            row, column, stride, size, missing_left, missing_bin, categories,
            documents.sides[thread],
        )  # fmt: skip
    else:
        fill_sides(stride, size, split_bin, missing_left, missing_bin, documents.sides[thread])


@uncounted_subroutine
def first_kept(owner: Any, threads: Any, documents: Any) -> Any:
    """Where a thread's share of any leaf waits: the same lines for every leaf, which no other thread writes to."""
    share = -(-len(documents.order) // threads)
    return owner * (share + -share % LINE_DOCUMENTS)


@uncounted_subroutine
def deal_share(
    thread: Any, owner: Any, place: Any, column: Any, begin: Any, end: Any, kept: Any, rows: Any, columns: Any,
    documents: Any,
) -> Any:  # fmt: skip
    """Deal a share of a leaf's documents, those at ``begin`` to ``end``; note how many go where, as its owner's.

    They wait in ``documents.scratch``, from ``kept`` on.
    """
    n_left, n_missing = deal(
        rows.cells, rows.row_stride, column * rows.column_stride if rows.column_stride > 0 else columns.byte[column],
        documents.sides[thread], documents.order, begin, end, kept, documents.scratch,
    )  # fmt: skip
    documents.dealt[owner, place, 0] = n_left
    documents.dealt[owner, place, 1] = n_missing


@uncounted_subroutine
def count_dealt(threads: Any, place: Any, which: Any, dealt: Any) -> Any:
    """How many documents of a leaf all threads sent to the left (``which`` 0), or found missing (1)."""
    total = np.int64(0)
    for thread in range(threads):
        total += dealt[thread, place, which]
    return total


@uncounted_subroutine
def collect_share(
    owner: Any, threads: Any, place: Any, start: Any, begin: Any, end: Any, kept: Any, documents: Any
) -> Any:
    """Bring a share that was dealt of a leaf that begins at ``start`` to both of its sides."""
    dealt = documents.dealt
    before = count_dealt(owner, place, 0, dealt)
    n_left = count_dealt(threads, place, 0, dealt)
    collect(
        documents.scratch, kept, end - begin, dealt[owner, place, 0],
        start + before, start + n_left + (begin - start - before), documents.order,
    )  # fmt: skip


@kernel
def route_documents(
    rows: Any, byte: Any, sides: Any, left: Any, right: Any, first: Any, last: Any, leaf_of: Any
) -> None:
    """Write the leaf of documents ``first`` to ``last`` into ``leaf_of``.

    rows uint8 (documents, bytes); per internal node the ``byte`` it looks at, ``sides`` uint8 (nodes, 256), 1 for the
    values of that byte that go left, and ``left`` and ``right`` (≥ 0: a node, else the leaf ~c). A tree of one leaf has
    no nodes.
    """
    for document in range(first, last):
        node = 0 if len(byte) > 0 else -1
        while node >= 0:
            node = left[node] if sides[node, rows[document, byte[node]]] == 1 else right[node]
        leaf_of[document] = ~node
