"""Documents of a leaf dealt to its two sides, keeping their order; and documents sent through a whole tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.jit import kernel, subroutine

LEFT, MISSING = 1, 2  # what a table of sides says about a cell, added up


@subroutine
def fill_sides(stride: Any, size: Any, split_bin: Any, missing_left: Any, missing_bin: Any, sides: Any) -> Any:
    """For each value of a cell, whether its document goes left and whether its value is missing.

    The bin is the digit of the cell at ``stride``, of ``size`` possible ones.
    """
    for cell in range(len(sides)):
        b = cell // stride % size
        missing = b == missing_bin
        sides[cell] = (LEFT if b <= split_bin or (missing and missing_left) else 0) + (MISSING if missing else 0)


@subroutine
def deal(
    cells: Any, row_stride: Any, column: Any, sides: Any, documents: Any, begin: Any, end: Any, scratch: Any
) -> Any:
    """Deal ``documents[begin:end]`` into the same places of ``scratch``; return how many went left and were missing.

    ::

        documents  a b c d e f g        left: a c d g
        scratch    a c d g f e b        right, from the back: b e f

    The cell of document d is ``cells[d·row_stride + column]``, in a row-major or a column-major matrix.
    """
    front = begin
    back = end - 1
    n_missing = np.int64(0)
    for k in range(begin, end):
        document = documents[k]
        side = np.int64(sides[cells[document * row_stride + column]])
        goes_left = side & LEFT
        n_missing += side >> 1
        scratch[front] = document  # both places are free: the right one is kept by moving its end
        scratch[back] = document
        front += goes_left
        back -= 1 - goes_left
    return front - begin, n_missing


@subroutine
def collect(scratch: Any, begin: Any, end: Any, n_left: Any, left: Any, right: Any, documents: Any) -> Any:
    """Bring what ``deal`` put in ``scratch[begin:end]`` to ``documents``, from places ``left`` and ``right`` on."""
    for k in range(n_left):
        documents[left + k] = scratch[begin + k]
    for k in range(end - begin - n_left):
        documents[right + k] = scratch[end - 1 - k]


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
