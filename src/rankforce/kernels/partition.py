"""Documents of a leaf dealt to its two sides, keeping their order; and documents sent through a whole tree."""

from __future__ import annotations

from typing import Any

from rankforce.jit import kernel, subroutine


@subroutine
def deal(
    cells: Any,
    row_stride: Any,
    column: Any,
    split_bin: Any,
    bins: Any,
    missing_left: Any,
    documents: Any,
    begin: Any,
    end: Any,
    scratch: Any,
) -> Any:
    """Deal ``documents[begin:end]`` into the same places of ``scratch``; return how many went left and were missing.

    ::

        documents  a b c d e f g        left: a c d g
        scratch    a c d g f e b        right, from the back: b e f

    The bin of document d is ``cells[d·row_stride + column]``, in a row-major or a column-major matrix.
    """
    front = begin
    back = end - 1
    n_missing = 0
    for k in range(begin, end):
        document = documents[k]
        b = cells[document * row_stride + column]
        goes_left = 1 if (b <= split_bin or (missing_left and b == bins)) else 0
        n_missing += 1 if b == bins else 0
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
    rows: Any,
    n_bins: Any,
    column: Any,
    split_bin: Any,
    missing_left: Any,
    left: Any,
    right: Any,
    first: Any,
    last: Any,
    leaf_of: Any,
) -> None:
    """Write the leaf of documents ``first`` to ``last`` into ``leaf_of``, by their bins.

    rows uint8 (documents, columns); per internal node: ``column`` of the matrix, ``split_bin``, ``missing_left`` uint8,
    ``left`` and ``right`` (≥ 0: a node, else the leaf ~c). A tree of one leaf has no nodes.
    """
    for document in range(first, last):
        node = 0 if len(column) else -1
        while node >= 0:
            feature = column[node]
            b = rows[document, feature]
            if b <= split_bin[node] or (b == n_bins[feature] and missing_left[node] == 1):
                node = left[node]
            else:
                node = right[node]
        leaf_of[document] = ~node
