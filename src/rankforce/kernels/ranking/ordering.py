"""Documents of each query in ranked order: the only place where kernels sort.

Falling score; equal scores by rising ``tie_keys`` (a policy: row order, worth, a hash), equal keys by position.
"""

from __future__ import annotations

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.dtypes import Array, Number

BLOCK = 128  # this many keys are sorted by counting
VECTORS = 16  # keys that a processor compares at a stroke
COUNTED = 256  # queries up to this many documents are ranked again by counting,
DISORDER = 6  # if one in so many is no longer below the one before it
INSERTION_LIMIT = 32  # runs up to this length are sorted by insertion before they are merged


@subroutine
def _before(a: Number, b: Number, scores: Array, tie_keys: Array) -> Number:
    if scores[a] != scores[b]:
        return scores[a] > scores[b]
    return tie_keys[a] < tie_keys[b] or (tie_keys[a] == tie_keys[b] and a < b)


@subroutine
def _insertion_sort(order: Array, low: Number, high: Number, scores: Array, tie_keys: Array) -> None:
    for k in range(low + 1, high):
        document = order[k]
        p = k
        while p > low and _before(document, order[p - 1], scores, tie_keys):
            order[p] = order[p - 1]
            p -= 1
        order[p] = document


@subroutine
def merge_sort(order: Array, scratch: Array, low: Number, high: Number, scores: Array, tie_keys: Array) -> None:
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


@subroutine
def _sort_blocks(keys: Array, block: Array, taken: Array, sorted_keys: Array, sorted_documents: Array) -> None:
    """Sort each block of ``BLOCK`` keys: a key's place is the number of larger keys, counted without branches.

    Equal keys follow each other: ``taken`` counts those that have a place already. The copy in ``block`` is filled up
    with −∞ to whole vectors. Unsigned indices: a signed one may count from the end, and a loop that allows for that
    is not vectorised.
    """
    size = np.uint64(keys.shape[0])
    low = np.uint64(0)
    while low < size:
        count = min(np.uint64(BLOCK), size - low)
        whole = min((count // np.uint64(VECTORS) + np.uint64(1)) * np.uint64(VECTORS), np.uint64(BLOCK))
        for i in range(count):
            block[i] = keys[low + np.uint64(i)]
            taken[i] = 0
        for i in range(count, whole):
            block[i] = -np.inf
        for i in range(count):
            key = block[i]
            larger = np.int64(0)
            for j in range(whole):
                larger += np.int64(block[j] > key)
            place = low + np.uint64(larger + taken[larger])
            taken[larger] += 1
            sorted_keys[place] = key
            sorted_documents[place] = low + np.uint64(i)
        low += count


@subroutine
def _merge(
    keys: Array, documents: Array, low: Number, middle: Number, high: Number, to_keys: Array, to_documents: Array
) -> None:
    """Merge two sorted neighbours. What comes next is selected, not branched to: a guess would fail half the time."""
    one = np.uint64(1)
    i = low
    j = middle
    p = low
    while i < middle and j < high:
        left_key = keys[i]
        right_key = keys[j]
        right = right_key > left_key
        to_keys[p] = right_key if right else left_key
        to_documents[p] = documents[j] if right else documents[i]
        step = np.uint64(right)
        j += step
        i += one - step
        p += one
    for k in range(i, middle):
        to_keys[p] = keys[k]
        to_documents[p] = documents[k]
        p += one
    for k in range(j, high):
        to_keys[p] = keys[k]
        to_documents[p] = documents[k]
        p += one


@kernel
def order_documents(scores: Array, tie_keys: Array, starts: Array, first: Number, last: Number, order: Array) -> None:
    """Write the documents of queries ``first`` to ``last`` in ranked order into ``order``.

    scores float64, tie_keys uint64: one per document, documents of a query adjacent; starts int64;
    order int32: ``order[starts[q] + r]`` is the document at rank r of query q. Its content on entry does not matter.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, starts[q + 1] - starts[q])
    block = np.empty(BLOCK)
    taken = np.empty(BLOCK, dtype=np.int64)
    keys = np.empty(longest)
    documents = np.empty(longest, dtype=order.dtype)
    other_keys = np.empty(longest)
    other_documents = np.empty(longest, dtype=order.dtype)
    for q in range(first, last):
        start = starts[q]
        size = starts[q + 1] - start
        _sort_blocks(scores[start : start + size], block, taken, keys, documents)
        end = np.uint64(size)
        width = np.uint64(BLOCK)
        while width < end:
            done = np.uint64(0)
            while done < end:
                middle = min(done + width, end)
                after = min(middle + width, end)
                _merge(keys, documents, done, middle, after, other_keys, other_documents)
                done = after
            keys, other_keys = other_keys, keys
            documents, other_documents = other_documents, documents
            width *= np.uint64(2)
        for r in range(size):
            order[start + r] = start + documents[r]
        # Sorting by score alone has left equal scores by position: where their tie keys disagree, sort them again.
        low = 0
        while low < size:
            high = low + 1
            rising = True
            while high < size and keys[high] == keys[low]:
                rising &= tie_keys[order[start + high - 1]] <= tie_keys[order[start + high]]
                high += 1
            if not rising:
                merge_sort(order, other_documents, start + low, start + high, scores, tie_keys)
            low = high


@subroutine
def _rank_by_counting(
    order: Array, low: Number, high: Number, scores: Array, tie_keys: Array, keys: Array, taken: Array, scratch: Array
) -> None:
    """Sort a query of at most ``COUNTED`` documents: the rank of one is the number of those with larger scores.

    All comparisons of a document are made at a stroke, without branches that would be guessed wrong. Equal scores
    follow each other then, and are sorted by their tie keys. Where nearly all are in order, merging is faster.
    """
    size = np.uint64(high - low)
    whole = (size + np.uint64(VECTORS - 1)) // np.uint64(VECTORS) * np.uint64(VECTORS)
    start = np.uint64(low)
    before = np.inf
    rises = np.int64(0)
    for i in range(size):
        key = scores[order[start + np.uint64(i)]]
        rises += np.int64(key >= before)
        keys[i] = key
        before = key
    if DISORDER * rises < size:
        if rises > 0:
            merge_sort(order, scratch, low, high, scores, tie_keys)
        return
    for i in range(size, whole):
        keys[i] = -np.inf
    for i in range(size):
        taken[i] = 0
        scratch[i] = order[start + np.uint64(i)]
    tied = False
    for i in range(size):
        key = keys[i]
        larger = np.int64(0)
        for j in range(whole):
            larger += np.int64(keys[j] > key)
        place = start + np.uint64(larger + taken[larger])
        tied |= taken[larger] > 0
        taken[larger] += 1
        order[place] = scratch[i]
    if not tied:
        return
    begin = np.uint64(0)
    while begin < size:
        count = np.uint64(taken[begin])  # of documents that begin at this rank: their scores are equal
        if count > np.uint64(1):
            first = np.int64(start + begin)
            merge_sort(order, scratch, first, first + np.int64(count), scores, tie_keys)
        begin += count


@kernel
def reorder_documents(scores: Array, tie_keys: Array, starts: Array, first: Number, last: Number, order: Array) -> None:
    """As ``order_documents``, starting from the previous order in ``order``: fast where little has changed."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, starts[q + 1] - starts[q])
    scratch = np.empty(max(longest, COUNTED), dtype=order.dtype)
    keys = np.empty(COUNTED)
    taken = np.empty(COUNTED, dtype=np.int64)
    for q in range(first, last):
        if starts[q + 1] - starts[q] <= COUNTED:
            _rank_by_counting(order, starts[q], starts[q + 1], scores, tie_keys, keys, taken, scratch)
        else:
            merge_sort(order, scratch, starts[q], starts[q + 1], scores, tie_keys)


@order_documents.stood_in_by
@reorder_documents.stood_in_by
def sort_documents(scores: Array, tie_keys: Array, starts: Array, first: Number, last: Number, order: Array) -> bool:
    """The same order by NumPy's sorts."""
    begin, end = starts[first], starts[last]
    queries = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
    order[begin:end] = begin + np.lexsort((tie_keys[begin:end], -scores[begin:end], queries))
    return True


@subroutine
def sort_numbers(numbers: Array) -> None:
    """Put a few whole numbers into rising order, in place (Shell's way: short, and no array beside them)."""
    gap = numbers.shape[0] // 2
    while gap > 0:
        for i in range(gap, numbers.shape[0]):
            number = numbers[i]
            j = i
            while j >= gap and numbers[j - gap] > number:
                numbers[j] = numbers[j - gap]
                j -= gap
            numbers[j] = number
        gap //= 2
