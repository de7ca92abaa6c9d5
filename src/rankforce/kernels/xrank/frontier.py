"""An ordered frontier of nodes: blocks of tied documents, what they are worth, forces inside and moves of nodes.

Documents of one query in one node are tied and form a *block*: it takes the next ranks after the blocks of the nodes
before. With n documents of total worth G from rank a on (ranks from 0), and S(r) the sum of the discounts of the first
r ranks, the expected gain of a block is G/n · (S(a + n) − S(a)).

Blocks of query q stand at ``starts[q]``, ``starts[q] + 1``, ... by rising position; ``n_blocks[q]`` says how many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.dtypes import Array, Number


@kernel
def rank_discounts(measure: Any, out: Array) -> None:
    """The discount of every rank of an NDCG-like measure."""
    for r in range(out.shape[0]):
        out[r] = measure.weight_at(r, 1.0)


@kernel
def find_blocks(
    worth: Array,
    positions: Array,
    starts: Array,
    first: Number,
    last: Number,
    order: Array,
    block_position: Array,
    block_size: Array,
    block_worth: Array,
    block_rank: Array,
    n_blocks: Array,
) -> None:
    """Write the blocks of the queries ``first`` to ``last``: position, size, worth and first rank.

    ``positions`` int32: the place of every document's node in the frontier. ``order`` int32 holds the documents of
    every query as they were sorted last, and is sorted by position: by insertion, for little changes from step to step.
    Documents of equal position stay as they are.
    """
    for q in range(first, last):
        start, end = starts[q], starts[q + 1]
        for k in range(start + 1, end):
            document = order[k]
            place = k
            while place > start and positions[order[place - 1]] > positions[document]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = document
        count = 0
        k = start
        while k < end:
            position = positions[order[k]]
            block = start + count
            block_position[block] = position
            block_rank[block] = k - start
            total = 0.0
            before = k
            while k < end and positions[order[k]] == position:
                total += worth[order[k]]
                k += 1
            block_size[block] = k - before
            block_worth[block] = total
            count += 1
        n_blocks[q] = count


@kernel
def frontier_values(
    starts: Array, n_blocks: Array, block_size: Array, block_worth: Array, sums: Array, scales: Array, out: Array
) -> None:
    """Per query, scale × the gain expected over the orders of tied documents; ``sums`` float64 is S."""
    for q in range(n_blocks.shape[0]):
        total = 0.0
        rank = 0
        for block in range(starts[q], starts[q] + n_blocks[q]):
            size = block_size[block]
            total += block_worth[block] / size * (sums[rank + size] - sums[rank])
            rank += size
        out[q] = scales[q] * total


@kernel
def inner_forces(
    worth: Array,
    starts: Array,
    order: Array,
    n_blocks: Array,
    block_size: Array,
    block_worth: Array,
    discounts: Array,
    scales: Array,
    unit: Number,
    first: Number,
    last: Number,
    forces: Array,
) -> None:
    """The force on every document by the others of its block, in whole multiples of 1/``unit``.

    Two documents i and j pull each other apart by scale·(g_i − g_j)·(D(first rank) − D(last rank)): summed over the
    block, scale·(n g_i − G)·(D(first) − D(last)). ``forces`` int64.
    """
    for q in range(first, last):
        rank = 0
        for block in range(starts[q], starts[q] + n_blocks[q]):
            size = block_size[block]
            pull = scales[q] * (discounts[rank] - discounts[rank + size - 1]) * unit
            for k in range(starts[q] + rank, starts[q] + rank + size):
                document = order[k]
                forces[document] = np.int64(np.floor((size * worth[document] - block_worth[block]) * pull + 0.5))
            rank += size


@subroutine
def _change_of_passing(
    sums: Array, rank: Number, upper_n: Number, upper_worth: Number, lower_n: Number, lower_worth: Number
) -> Number:
    """Change of a query's gain when two adjacent blocks, the upper one from ``rank`` on, change places."""
    upper, lower = upper_worth / upper_n, lower_worth / lower_n
    end = rank + upper_n + lower_n
    before = upper * (sums[rank + upper_n] - sums[rank]) + lower * (sums[end] - sums[rank + upper_n])
    after = lower * (sums[rank + lower_n] - sums[rank]) + upper * (sums[end] - sums[rank + lower_n])
    return after - before


@kernel
def passing_gains(
    starts: Array,
    n_blocks: Array,
    block_query: Array,
    block_position: Array,
    block_size: Array,
    block_worth: Array,
    block_rank: Array,
    sums: Array,
    scales: Array,
    unit: Number,
    node_blocks: Array,
    node_block_starts: Array,
    first: Number,
    last: Number,
    gains: Array,
) -> None:
    """What it gains, in multiples of 1/``unit``, when a node that moves away passes each other node.

    ``gains[v, p]`` int64 (zero on entry) for the nodes v from ``first`` to ``last``: the change of the frontier's value
    when node v, having come next to the node at place p, passes it. The sum over the places passed is the gain of a
    move. ``node_blocks``: the blocks of every node.
    """
    for v in range(first, last):
        for k in range(node_block_starts[v], node_block_starts[v + 1]):
            mine = node_blocks[k]
            q = block_query[mine]
            factor = scales[q] * unit
            size, total = block_size[mine], block_worth[mine]
            for other in range(mine - 1, starts[q] - 1, -1):
                change = _change_of_passing(sums, block_rank[other], block_size[other], block_worth[other], size, total)
                gains[v, block_position[other]] += np.int64(np.floor(change * factor + 0.5))
            rank = block_rank[mine]
            for other in range(mine + 1, starts[q] + n_blocks[q]):
                change = _change_of_passing(sums, rank, size, total, block_size[other], block_worth[other])
                gains[v, block_position[other]] += np.int64(np.floor(change * factor + 0.5))
                rank += block_size[other]
