"""Documents of each query in ranked order: the only place where kernels sort.

Falling score; equal scores by rising ``tie_keys`` (a policy: row order, worth, a hash), equal keys by position.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.jit import kernel, subroutine

INSERTION_LIMIT = 32  # runs up to this length are sorted by insertion before they are merged


@subroutine
def _before(a: Any, b: Any, scores: Any, tie_keys: Any) -> Any:
    if scores[a] != scores[b]:
        return scores[a] > scores[b]
    return tie_keys[a] < tie_keys[b] or (tie_keys[a] == tie_keys[b] and a < b)


@subroutine
def _insertion_sort(order: Any, low: Any, high: Any, scores: Any, tie_keys: Any) -> Any:
    for k in range(low + 1, high):
        document = order[k]
        p = k
        while p > low and _before(document, order[p - 1], scores, tie_keys):
            order[p] = order[p - 1]
            p -= 1
        order[p] = document


@subroutine
def _merge_sort(order: Any, scratch: Any, low: Any, high: Any, scores: Any, tie_keys: Any) -> Any:
    """Runs by insertion, then merged pairwise, bottom up."""
    for start in range(low, high, INSERTION_LIMIT):
        _insertion_sort(order, start, min(start + INSERTION_LIMIT, high), scores, tie_keys)
    width = INSERTION_LIMIT
    while width < high - low:
        for start in range(low, high - width, 2 * width):
            middle = start + width
            end = min(middle + width, high)
            if not _before(order[middle], order[middle - 1], scores, tie_keys):
                continue  # already in order
            left = middle - start
            for k in range(left):
                scratch[k] = order[start + k]
            i = 0
            j = middle
            p = start
            while i < left:
                if j < end and _before(order[j], scratch[i], scores, tie_keys):
                    order[p] = order[j]
                    j += 1
                else:
                    order[p] = scratch[i]
                    i += 1
                p += 1
        width *= 2


@kernel
def reorder_documents(scores: Any, tie_keys: Any, starts: Any, first: Any, last: Any, order: Any) -> None:
    """Sort the documents of queries ``first`` to ``last`` into ranked order, from any order: fast if nearly sorted.

    scores float64, tie_keys uint64: one per document, documents of a query adjacent; starts int64;
    order int32: ``order[starts[q] + r]`` is the document at rank r of query q; on entry any order of each query.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, starts[q + 1] - starts[q])
    scratch = np.empty(longest, dtype=order.dtype)
    for q in range(first, last):
        _merge_sort(order, scratch, starts[q], starts[q + 1], scores, tie_keys)


def order_documents(
    scores: np.ndarray, tie_keys: np.ndarray, starts: np.ndarray, first: int, last: int, order: np.ndarray
) -> None:
    """As ``reorder_documents``; the content of ``order`` on entry does not matter."""
    order[starts[first] : starts[last]] = np.arange(starts[first], starts[last])
    reorder_documents(scores, tie_keys, starts, first, last, order)
