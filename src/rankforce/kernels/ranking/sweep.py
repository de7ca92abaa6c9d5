"""The rankings of all mixtures of two rankers, one after the other, and the values of a measure along them.

A document is a line: at x it stands at (1 − x)·p + x·q. Only neighbours in the ranking can cross next, so the sweep
keeps, for each two neighbours, where they will cross, as the leaves of a tree whose root is the nearest crossing: n
numbers, whatever the number of crossings. Places are rounded numbers with a relative error below 2^−51. Where another
one lies within 2^−49 of the nearest, ``exact.first_crossing`` decides; all that meet at one point are put into their
new order at once. Documents with the same p and q are one line that keeps its documents in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.kernels.ranking.exact import TERMS, first_crossing
from rankforce.kernels.ranking.neighbours import change_of_neighbours, prepare_chain, rearrange

CLOSE = 1.0 + 2.0**-49  # crossings within this factor are compared exactly
CHANGES_BEFORE_RECKONING = 4096  # after this many changes of a value it is found anew, so that roundings do not add up


@subroutine
def _place_of_crossing(p: Any, q: Any, upper: Any, lower: Any) -> Any:
    """Where two lines cross, ``upper`` being above now; infinity if they do not any more."""
    if not q[lower] > q[upper]:
        return np.inf
    a = p[upper] - p[lower]
    b = q[lower] - q[upper]
    return a / (a + b)


@subroutine
def _set_leaf(tree: Any, leaf: Any, value: Any) -> Any:
    """Change a leaf and the smallest values above it."""
    tree[leaf] = value
    node = leaf >> 1
    while node >= 1:
        left = tree[2 * node]
        right = tree[2 * node + 1]
        smaller = left if left < right else right
        if tree[node] == smaller:
            return
        tree[node] = smaller
        node >>= 1


@subroutine
def _nearest(tree: Any, width: Any) -> Any:
    """(leaf with the smallest value, whether another leaf is close to it)."""
    bound = tree[1] * CLOSE
    others = False
    node = 1
    while node < width:
        node *= 2
        if tree[node + 1] < tree[node]:
            others |= tree[node] <= bound
            node += 1
        else:
            others |= tree[node + 1] <= bound
    return node - width, others


@subroutine
def _leaves_up_to(tree: Any, width: Any, bound: Any, found: Any) -> Any:
    """Write the leaves with values up to ``bound`` into ``found``, rising; how many there are."""
    count = 0
    node = 1
    while True:
        if tree[node] <= bound:
            if node < width:
                node *= 2
                continue
            found[count] = node - width
            count += 1
        while node & 1:  # a right child: its subtree was the last of its parent's
            node >>= 1
        if node == 0:
            return count
        node += 1


@kernel
def sweep_queries(
    measure: Any,
    p: Any,
    q: Any,
    worth: Any,
    starts: Any,
    normalisers: Any,
    end: Any,
    slots: Any,
    first: Any,
    last: Any,
    order: Any,
    counts: Any,
    reached: Any,
    places: Any,
    values: Any,
) -> None:
    """Sweep the queries ``first`` to ``last`` on from where they are, as far as their slots allow, at most to ``end``.

    p, q, worth float64: one per document, documents of a query adjacent; starts int64; normalisers float64.
    ``order`` int32 is the state of the sweep: the documents in ranked order; at the start by falling p, then falling
    q, documents of the same p and q adjacent. ``slots`` int64: query k may write ``slots[k]`` to ``slots[k + 1]``; one
    without slots stays where it is.

    Written: for each crossing at which the value of query k changes, where it is (``places``) and the value after it
    (``values``); ``counts[k]``, how many; ``reached[k]``, the place of the next crossing, infinity at the end.
    """
    longest = 1
    for k in range(first, last):
        longest = max(longest, starts[k + 1] - starts[k])
    most = 1
    while most < longest:
        most *= 2
    tree = np.empty(2 * most)
    ranked = np.empty(longest)
    running = np.empty(longest)
    target = np.empty(longest)
    documents = np.empty(longest, dtype=np.int64)
    line_starts = np.empty(longest + 1, dtype=np.int64)  # line g has the documents line_starts[g] to line_starts[g + 1]
    lines = np.empty(longest, dtype=np.int64)  # in ranked order
    ranks = np.empty(longest + 1, dtype=np.int64)  # the rank of the first document of each of them
    meeting = np.empty(longest, dtype=np.int64)
    total = np.empty(TERMS)
    for k in range(first, last):
        counts[k] = 0
        room = slots[k + 1] - slots[k]
        if room == 0:
            continue
        start = starts[k]
        size = starts[k + 1] - start
        if size < 2 or normalisers[k] == 0.0:
            reached[k] = np.inf
            continue
        n_lines = 0
        for r in range(size):
            document = order[start + r]
            documents[r] = document
            ranked[r] = worth[document]
            if r == 0 or p[document] != p[documents[r - 1]] or q[document] != q[documents[r - 1]]:
                line_starts[n_lines] = r
                lines[n_lines] = n_lines
                ranks[n_lines] = r
                n_lines += 1
        line_starts[n_lines] = size
        ranks[n_lines] = size
        width = 1
        while width < n_lines - 1:
            width *= 2
        for leaf in range(width):
            tree[width + leaf] = np.inf
            if leaf + 1 < n_lines:
                upper = documents[line_starts[leaf]]
                lower = documents[line_starts[leaf + 1]]
                tree[width + leaf] = _place_of_crossing(p, q, upper, lower)
        for node in range(width - 1, 0, -1):
            tree[node] = min(tree[2 * node], tree[2 * node + 1])
        value = prepare_chain(measure, ranked[:size], normalisers[k], running[:size])
        found = 0
        changes = 0
        reached[k] = np.inf
        while tree[1] < end:
            if found == room:
                reached[k] = tree[1]
                break
            place = tree[1]
            leaf, several = _nearest(tree, width)
            meeting[0] = leaf
            count = 1
            if several:
                close = _leaves_up_to(tree, width, place * CLOSE, meeting)
                count = 1
                for m in range(1, close):
                    a = meeting[0]
                    b = meeting[m]
                    sooner = first_crossing(
                        p,
                        q,
                        documents[line_starts[lines[b]]],
                        documents[line_starts[lines[b + 1]]],
                        documents[line_starts[lines[a]]],
                        documents[line_starts[lines[a + 1]]],
                        total,
                    )
                    if sooner < 0:
                        meeting[0] = b
                        count = 1
                    elif sooner == 0:
                        meeting[count] = b
                        count += 1
                place = tree[width + meeting[0]]
            changed = False
            m = 0
            while m < count:
                top = meeting[m]
                bottom = top + 1
                m += 1
                while m < count and meeting[m] == bottom:
                    bottom += 1
                    m += 1
                rank = ranks[top]
                involved = ranks[bottom + 1] - rank
                if involved == 2:
                    change = change_of_neighbours(measure, ranked[:size], normalisers[k], running[:size], value, rank)
                    changed |= change != 0.0
                    value += change
                    lines[top], lines[bottom] = lines[bottom], lines[top]
                else:
                    i = top
                    j = bottom
                    while i < j:
                        lines[i], lines[j] = lines[j], lines[i]
                        i += 1
                        j -= 1
                    mixed = False
                    written = 0
                    for i in range(top, bottom + 1):
                        ranks[i] = rank + written
                        for d in range(line_starts[lines[i]], line_starts[lines[i] + 1]):
                            target[written] = worth[documents[d]]
                            mixed |= target[written] != ranked[rank + written]
                            written += 1
                    if mixed:
                        before = value
                        value = rearrange(
                            measure, ranked[:size], normalisers[k], running[:size], value, rank, target, involved
                        )
                        changed |= value != before
                for i in range(top, bottom):
                    _set_leaf(tree, width + i, np.inf)
                if top > 0:
                    upper = documents[line_starts[lines[top - 1]]]
                    lower = documents[line_starts[lines[top]]]
                    _set_leaf(tree, width + top - 1, _place_of_crossing(p, q, upper, lower))
                if bottom + 1 < n_lines:
                    upper = documents[line_starts[lines[bottom]]]
                    lower = documents[line_starts[lines[bottom + 1]]]
                    _set_leaf(tree, width + bottom, _place_of_crossing(p, q, upper, lower))
            if changed:
                changes += 1
                if changes % CHANGES_BEFORE_RECKONING == 0:
                    value = prepare_chain(measure, ranked[:size], normalisers[k], running[:size])
                places[slots[k] + found] = place
                values[slots[k] + found] = value
                found += 1
        counts[k] = found
        r = start
        for i in range(n_lines):
            for d in range(line_starts[lines[i]], line_starts[lines[i] + 1]):
                order[r] = documents[d]
                r += 1
