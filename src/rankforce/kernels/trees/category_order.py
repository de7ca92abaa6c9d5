"""The bins of a categorical column in the order in which the best set of them begins the row.

Of all sets of categories, the one whose split gains most holds the categories with the lowest (or highest) Σq/Σr: those
that are cut off at one place of the row in this order (Fisher 1958, Breiman et al. 1984). So a categorical column is
put in order, and then searched like a numeric one.

Chance puts categories of few documents at both ends of the row, and a set of them gains much on the documents that it
was chosen by, but on no others. So what a category's documents pull beyond the mean m of their leaf counts in part:

    Σq − m·Σr   becomes   (Σq − m·Σr) · Σr / (Σr + smoothing)

as if each category had ``smoothing`` more that pull like the leaf. Were the true means of categories drawn from a
normal distribution, this would be the best guess of each, and remain so for the set that was chosen for its gain. The
order is that of these means, and gains are those of these sums.

All leaves of a symmetric tree's level have one order, and one share that counts, by sums over the leaves. A bin whose
sums are 0 in every leaf is in no order: it is in no set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.intrinsics import float_of
from rankforce.compiling.jit import uncounted_subroutine

WORD_BITS = 64  # bins in a word of a set
SET_WORDS = 4


@uncounted_subroutine
def clear_pulls(pulls: Any) -> Any:
    for b in range(pulls.shape[1]):
        pulls[0, b] = 0.0
        pulls[1, b] = 0.0


@uncounted_subroutine
def add_pulls(histogram: Any, start: Any, bins: Any, total: Any, shift: Any, pulls: Any) -> Any:
    """Add, for each bin, what a leaf's documents in it pull beyond the leaf's mean, and their Σr.

    ``total`` is the sum of the leaf's entries.
    """
    one = np.int64(1)
    mask = (one << np.int64(shift)) - one
    mean = float_of(total >> shift) / float_of(max(total & mask, one))
    for b in range(bins + 1):
        entry = histogram[start + b]
        r = float_of(entry & mask)
        pulls[0, b] += float_of(entry >> shift) - mean * r
        pulls[1, b] += r


@uncounted_subroutine
def order_bins(pulls: Any, bins: Any, n_documents: Any, smoothing: Any, keys: Any, order: Any) -> Any:
    """Write the bins into ``order[0]``, rising by key, equal ones by number; return how many there are.

    ``n_documents`` are those of all leaves whose pulls were added. ``keys[0]`` becomes the mean pull of each bin,
    ``keys[1]`` the share of its pull that does not count. ``order[1]`` is work space.
    """
    r = 0.0
    for b in range(bins + 1):
        r += pulls[1, b]
    more = smoothing * (r / n_documents)
    count = 0
    for b in range(bins):
        if pulls[1, b] > 0.0 or pulls[0, b] != 0.0:
            weight = max(pulls[1, b] + more, 1.0)
            keys[0, b] = pulls[0, b] / weight
            keys[1, b] = more / weight
            order[0, count] = b
            count += 1
    _merge_sort(keys[0], count, order)
    return count


@uncounted_subroutine
def _merge_sort(keys: Any, count: Any, order: Any) -> Any:
    """Sort ``order[0, :count]`` by ``keys``; of equal ones the earlier stays first."""
    source = 0
    width = 1
    while width < count:
        target = 1 - source
        begin = 0
        while begin < count:
            middle = min(begin + width, count)
            end = min(begin + 2 * width, count)
            a = begin
            b = middle
            for k in range(begin, end):
                if b == end or (a < middle and keys[order[source, a]] <= keys[order[source, b]]):
                    order[target, k] = order[source, a]
                    a += 1
                else:
                    order[target, k] = order[source, b]
                    b += 1
            begin = end
        source = target
        width += width
    if source == 1:
        for k in range(count):
            order[0, k] = order[1, k]


@uncounted_subroutine
def turning_place(order: Any, count: Any, bins: Any, pulls: Any) -> Any:
    """From which place of the order on a split's left side is what stands behind it, not what stands before.

    The bins of the left side are listed. They must not include the last bin, that of all other categories; if no
    document is in it, they are those with less Σr. So an unknown category goes with the other ones, or with the
    majority.
    """
    r = 0.0
    for k in range(count):
        if order[k] == bins - 1:
            return k
        r += pulls[1, order[k]]
    before = 0.0
    for k in range(count):
        before += pulls[1, order[k]]
        if before > r - before:
            return k
    return count


@uncounted_subroutine
def put_in_order(histogram: Any, start: Any, bins: Any, order: Any, count: Any, ordered: Any) -> Any:
    """A leaf's histogram in this order, missing values behind."""
    for k in range(count):
        ordered[k] = histogram[start + order[k]]
    ordered[count] = histogram[start + bins]


@uncounted_subroutine
def smooth_in_order(total: Any, shift: Any, order: Any, count: Any, keys: Any, ordered: Any) -> Any:
    """Take the share of every bin's pull that does not count off its sum; return the sum of all entries then.

    It was ``total``. What is taken is rounded to whole units: sums stay integers.
    """
    one = np.int64(1)
    mask = (one << np.int64(shift)) - one
    mean = float_of(total >> shift) / float_of(max(total & mask, one))
    for k in range(count):
        pull = float_of(ordered[k] >> shift) - mean * float_of(ordered[k] & mask)
        taken = np.int64(np.rint(keys[1, order[k]] * pull)) << np.int64(shift)
        ordered[k] -= taken
        total -= taken
    return total


@uncounted_subroutine
def place_others(n_documents: Any, count: Any, turn: Any, counts: Any) -> Any:
    """Count documents of bins that are in no order where they are: in no set, so on the right side.

    ``counts`` are in order; ``n_documents`` are all of the leaf. Before the place where sides are turned, what is not
    counted is on the side behind already.
    """
    others = n_documents
    for k in range(count + 1):
        others -= counts[k]
    if turn < count:
        counts[turn] += others


@uncounted_subroutine
def is_in_set(of_bins: Any, b: Any) -> Any:
    return (of_bins[b // WORD_BITS] >> np.uint64(b % WORD_BITS)) & np.uint64(1) == np.uint64(1)


@uncounted_subroutine
def write_set(order: Any, count: Any, turn: Any, place: Any, missing_left: Any, of_bins: Any) -> Any:
    """Write the set of a split behind ``place`` of the order; return whether missing values go left.

    ``missing_left``: whether they go with what stands before.
    """
    turned = place >= turn
    for word in range(SET_WORDS):
        of_bins[word] = 0
    for k in range(count):
        if (k > place) == turned:
            of_bins[order[k] // WORD_BITS] |= np.uint64(1) << np.uint64(order[k] % WORD_BITS)
    return missing_left != turned
