"""The rankings of all mixtures of two rankers, one after the other, and the values of a measure along them.

A document is a line: at x it stands at (1 − x)·p + x·q. Only neighbours in the ranking can cross next, so the sweep
keeps, for each two neighbours, where they will cross, as the leaves of a tree whose root is the nearest crossing: n
numbers, whatever the number of crossings. Places are rounded numbers with a relative error below 2^−51. Where another
one lies within 2^−49 of the nearest, ``exact.first_crossing`` decides; all that meet at one point are put into their
new order at once. Documents with the same p and q are one line that keeps its documents in order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.dtypes import Array, Number
from rankforce.kernels.ranking.exact import TERMS, first_crossing
from rankforce.kernels.ranking.neighbours import change_of_neighbours, prepare_chain, rearrange
from rankforce.kernels.ranking.ordering import sort_numbers

CLOSE = 1.0 + 2.0**-49  # crossings within this factor are compared exactly
EQUAL = 1e-12  # values nearer than this differ by rounding only
CHANGES_BEFORE_RECKONING = 4096  # after this many changes of a value it is found anew, so that roundings do not add up


class SweptDocuments(NamedTuple):
    """Two rankers and a measure, documents of a query adjacent."""

    p: Array  # float64 (documents): scores of the first ranker
    q: Array  # float64 (documents): of the second
    worth: Array  # float64 (documents)
    starts: Array  # int64 (queries + 1)
    normalisers: Array  # float64 (queries)


class SweepState(NamedTuple):
    """How far each query has come."""

    order: Array  # int32 (documents): in ranked order; at x = 0 by falling p, then falling q, equal p and q adjacent
    reached: Array  # float64 (queries): the place of the next crossing, infinity at the end


class SweptChanges(NamedTuple):
    """The crossings that end a piece of a query. Query k may write ``slots[k]`` to ``slots[k + 1]``."""

    slots: Array  # int64 (queries + 1)
    counts: Array  # int64 (queries): how many slots are written
    places: Array  # float64 (slots): where the crossing is
    values: Array  # float64 (slots): the value after it


class _Ranking(NamedTuple):
    """The ranking of one query while it is swept: room for the longest."""

    documents: Array  # int64: as they were ranked when the sweep of the query went on
    starts: Array  # int64: line g has the documents starts[g] to starts[g + 1]
    lines: Array  # int64: in ranked order
    ranks: Array  # int64: the rank of the first document of each of them
    worth: Array  # float64: by rank


@subroutine
def _place_of_crossing(p: Array, q: Array, upper: Number, lower: Number) -> Number:
    """Where two lines cross, ``upper`` being above now; infinity if they do not any more."""
    if not q[lower] > q[upper]:
        return np.inf
    a = p[upper] - p[lower]
    b = q[lower] - q[upper]
    return a / (a + b)


@subroutine
def _set_leaf(tree: Array, leaf: Number, value: Number) -> None:
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
def _nearest(tree: Array, width: Number) -> tuple[Number, Number]:
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
def _leaves_up_to(tree: Array, width: Number, bound: Number, found: Array) -> Number:
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


@subroutine
def _front(ranking: _Ranking, i: Number) -> Number:
    """The first document of the i-th line from the top: one that tells where the line is."""
    return ranking.documents[ranking.starts[ranking.lines[i]]]


@subroutine
def _gather(swept: SweptDocuments, order: Array, ranking: _Ranking) -> Number:
    """Put the documents of ``order`` into lines; how many there are."""
    p = swept.p
    q = swept.q
    n_lines = 0
    for r in range(order.shape[0]):
        document = order[r]
        ranking.documents[r] = document
        ranking.worth[r] = swept.worth[document]
        above = ranking.documents[r - 1] if r > 0 else document
        if r == 0 or p[document] != p[above] or q[document] != q[above]:
            ranking.starts[n_lines] = r
            ranking.lines[n_lines] = n_lines
            ranking.ranks[n_lines] = r
            n_lines += 1
    ranking.starts[n_lines] = order.shape[0]
    ranking.ranks[n_lines] = order.shape[0]
    return n_lines


@subroutine
def _plant(swept: SweptDocuments, ranking: _Ranking, n_lines: Number, tree: Array) -> Number:
    """Fill the tree with the crossings of all neighbours; how many leaves it has."""
    width = 1
    while width < n_lines - 1:
        width *= 2
    for leaf in range(width):
        tree[width + leaf] = np.inf
        if leaf + 1 < n_lines:
            tree[width + leaf] = _place_of_crossing(swept.p, swept.q, _front(ranking, leaf), _front(ranking, leaf + 1))
    for node in range(width - 1, 0, -1):
        tree[node] = min(tree[2 * node], tree[2 * node + 1])
    return width


@subroutine
def _first_of_close(
    swept: SweptDocuments, ranking: _Ranking, tree: Array, width: Number, meeting: Array, total: Array
) -> Number:
    """Of all leaves close to the nearest crossing, write the first ones into ``meeting``; how many are first."""
    close = _leaves_up_to(tree, width, tree[1] * CLOSE, meeting)
    count = 1
    for m in range(1, close):
        a = meeting[0]
        b = meeting[m]
        sooner = first_crossing(
            swept.p,
            swept.q,
            _front(ranking, b),
            _front(ranking, b + 1),
            _front(ranking, a),
            _front(ranking, a + 1),
            total,
        )
        if sooner < 0:
            meeting[0] = b
            count = 1
        elif sooner == 0:
            meeting[count] = b
            count += 1
    return count


@subroutine
def _turn_over(ranking: _Ranking, worth: Array, top: Number, bottom: Number, target: Array) -> Number:
    """Reverse the lines from ``top`` to ``bottom``, writing the new worth into ``target``; whether any is new."""
    i = top
    j = bottom
    while i < j:
        ranking.lines[i], ranking.lines[j] = ranking.lines[j], ranking.lines[i]
        i += 1
        j -= 1
    rank = ranking.ranks[top]
    mixed = False
    written = 0
    for i in range(top, bottom + 1):
        ranking.ranks[i] = rank + written
        for d in range(ranking.starts[ranking.lines[i]], ranking.starts[ranking.lines[i] + 1]):
            target[written] = worth[ranking.documents[d]]
            mixed |= target[written] != ranking.worth[rank + written]
            written += 1
    return mixed


@subroutine
def _chain_end(meeting: Array, m: Number, count: Number) -> Number:
    """The end of the neighbouring leaves from m on: their lines meet in one point."""
    end = m + 1
    while end < count and meeting[end] == meeting[end - 1] + 1:
        end += 1
    return end


@subroutine
def _differs_when_tied(
    measure: Any,
    ranking: _Ranking,
    size: Number,
    worth: Array,
    normaliser: Number,
    value: Number,
    meeting: Array,
    count: Number,
    members: Array,
    kept: Array,
) -> Number:
    """Whether the value is another one at the crossing itself, where all that meet are tied: in row order.

    It is ``value`` before and after. Two documents have no third order, but three have. ``ranking`` is left as it is.
    """
    ranked = ranking.worth[:size]
    differing = 0
    m = 0
    while m < count:
        end = _chain_end(meeting, m, count)
        top = meeting[m]
        bottom = meeting[end - 1] + 1
        first = ranking.ranks[top]
        last = ranking.ranks[bottom + 1]
        r = first
        for i in range(top, bottom + 1):
            for d in range(ranking.starts[ranking.lines[i]], ranking.starts[ranking.lines[i] + 1]):
                members[r] = ranking.documents[d]
                r += 1
        sort_numbers(members[first:last])
        for r in range(first, last):
            kept[r] = ranked[r]
            ranked[r] = worth[members[r]]
            differing += ranked[r] != kept[r]
        m = end
    tied = measure.value(ranked, normaliser) if differing > 0 else value
    m = 0
    while m < count:
        end = _chain_end(meeting, m, count)
        for r in range(ranking.ranks[meeting[m]], ranking.ranks[meeting[end - 1] + 2]):
            ranked[r] = kept[r]
        m = end
    return abs(tied - value) > EQUAL * max(1.0, abs(value))


@subroutine
def _scatter(ranking: _Ranking, n_lines: Number, order: Array) -> None:
    """The inverse of ``_gather``: write the documents of all lines into ``order``."""
    r = 0
    for i in range(n_lines):
        for d in range(ranking.starts[ranking.lines[i]], ranking.starts[ranking.lines[i] + 1]):
            order[r] = ranking.documents[d]
            r += 1


@kernel
def sweep_queries(
    measure: Any,
    swept: SweptDocuments,
    end: Number,
    split_at_ties: Number,
    first: Number,
    last: Number,
    state: SweepState,
    changes: SweptChanges,
) -> None:
    """Sweep the queries ``first`` to ``last`` on from where they are, as far as their slots allow, at most to ``end``.

    ``swept`` is a ``SweptDocuments``; ``state`` (``SweepState``) and ``changes`` (``SweptChanges``) are written. A
    query without slots stays where it is. With ``split_at_ties`` a crossing is also written if the value at it, where
    documents are tied and in row order, is another one than beside it.
    """
    longest = 1
    for k in range(first, last):
        longest = max(longest, swept.starts[k + 1] - swept.starts[k])
    most = 1
    while most < longest:
        most *= 2
    ranking = _Ranking(
        np.empty(longest, dtype=np.int64),
        np.empty(longest + 1, dtype=np.int64),
        np.empty(longest, dtype=np.int64),
        np.empty(longest + 1, dtype=np.int64),
        np.empty(longest),
    )
    lines, ranks = ranking.lines, ranking.ranks
    tree = np.empty(2 * most)
    running = np.empty(longest)
    target = np.empty(longest)
    meeting = np.empty(longest, dtype=np.int64)
    members = np.empty(longest, dtype=np.int64)
    kept = np.empty(longest)
    total = np.empty(TERMS)
    noise = EQUAL if split_at_ties else 0.0  # of a value that went up and down again
    for k in range(first, last):
        changes.counts[k] = 0
        slot = changes.slots[k]
        room = changes.slots[k + 1] - slot
        if room == 0:
            continue
        state.reached[k] = np.inf
        start = swept.starts[k]
        size = swept.starts[k + 1] - start
        normaliser = swept.normalisers[k]
        if size < 2 or normaliser == 0.0:
            continue
        order = state.order[start : start + size]
        n_lines = _gather(swept, order, ranking)
        width = _plant(swept, ranking, n_lines, tree)
        ranked = ranking.worth[:size]
        value = prepare_chain(measure, ranked, normaliser, running[:size])
        written = 0
        while tree[1] < end:
            if written == room:
                state.reached[k] = tree[1]
                break
            leaf, several = _nearest(tree, width)
            meeting[0] = leaf
            count = 1
            if several:
                count = _first_of_close(swept, ranking, tree, width, meeting, total)
            place = tree[width + meeting[0]]
            changed = False
            several = count > 1
            m = 0
            while m < count:
                top = meeting[m]
                m = _chain_end(meeting, m, count)
                bottom = meeting[m - 1] + 1
                rank = ranks[top]
                involved = ranks[bottom + 1] - rank
                several |= involved > 2
                if involved == 2:
                    change = change_of_neighbours(measure, ranked, normaliser, running[:size], value, rank)
                    changed |= change != 0.0
                    value += change
                    lines[top], lines[bottom] = lines[bottom], lines[top]
                elif _turn_over(ranking, swept.worth, top, bottom, target):
                    before = value
                    value = rearrange(measure, ranked, normaliser, running[:size], value, rank, target, involved)
                    changed |= abs(value - before) > noise * max(1.0, abs(before))
                for i in range(top, bottom):
                    _set_leaf(tree, width + i, np.inf)
                if top > 0:
                    crossing = _place_of_crossing(swept.p, swept.q, _front(ranking, top - 1), _front(ranking, top))
                    _set_leaf(tree, width + top - 1, crossing)
                if bottom + 1 < n_lines:
                    crossing = _place_of_crossing(
                        swept.p, swept.q, _front(ranking, bottom), _front(ranking, bottom + 1)
                    )
                    _set_leaf(tree, width + bottom, crossing)
            if split_at_ties and several and not changed:
                changed = _differs_when_tied(
                    measure, ranking, size, swept.worth, normaliser, value, meeting, count, members, kept
                )
            if changed:
                if (written + 1) % CHANGES_BEFORE_RECKONING == 0:
                    value = prepare_chain(measure, ranked, normaliser, running[:size])
                changes.places[slot + written] = place
                changes.values[slot + written] = value
                written += 1
        changes.counts[k] = written
        _scatter(ranking, n_lines, order)
