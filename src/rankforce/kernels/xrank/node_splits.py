"""The best split of a node of an ordered frontier: by the forces inside it, or by the measure itself."""

from __future__ import annotations

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.dtypes import Array, Number


@kernel
def best_splits(
    bins: Array,
    n_bins: Array,
    members: Array,
    node_starts: Array,
    wanted: Array,
    forces: Array,
    even: Number,
    min_documents: Number,
    first: Number,
    last: Number,
    best_gain: Array,
    best_bin: Array,
    best_missing_left: Array,
) -> None:
    """The best split of every wanted node by each of the columns ``first`` to ``last``.

    ``bins`` uint8 (columns, documents); ``members`` int32: the documents, node by node; ``wanted`` bool per node.
    Bins up to ``best_bin`` go left; so does the bin of missing values, ``n_bins``, if ``best_missing_left``. The gain
    is |Σ force of the left side|: inside a side forces cancel in pairs, so one pass over the documents gives all
    thresholds. ``even`` takes the size of the smaller side for the gain. −1: no split leaves ``min_documents`` on both
    sides. Of equal gains the lowest bin counts, missing values on the right first. Where a node has no missing values,
    they are sent to the larger side.
    """
    sums = np.empty(256, dtype=np.int64)
    counts = np.empty(256, dtype=np.int64)
    for column in range(first, last):
        missing = n_bins[column]
        for node in range(wanted.shape[0]):
            best_gain[column, node] = -1
            if not wanted[node]:
                continue
            size = node_starts[node + 1] - node_starts[node]
            for b in range(missing + 1):
                sums[b] = 0
                counts[b] = 0
            total = np.int64(0)
            for k in range(node_starts[node], node_starts[node + 1]):
                document = members[k]
                b = bins[column, document]
                sums[b] += forces[document]
                counts[b] += 1
                total += forces[document]
            absent = counts[missing]
            left_sum = np.int64(0)
            left_count = np.int64(0)
            for b in range(missing):
                if counts[b] == 0 and b > 0:
                    continue
                left_sum += sums[b]
                left_count += counts[b]
                for side in range(2 if absent > 0 else 1):
                    n_left = left_count + absent * side
                    if n_left < min_documents or size - n_left < min_documents:
                        continue
                    gain = min(n_left, size - n_left) if even else abs(left_sum + sums[missing] * side)
                    if gain > best_gain[column, node]:
                        best_gain[column, node] = gain
                        best_bin[column, node] = b
                        best_missing_left[column, node] = side == 1 if absent > 0 else 2 * n_left > size


@subroutine
def _block_gain(
    ranked: Array,
    rank_of: Array,
    begin: Number,
    size: Number,
    on_left: Array,
    left_above: Number,
    worth: Array,
    discounts: Array,
    factor: Number,
) -> Number:
    """What a block gains when one side goes above the other, the order inside both unchanged."""
    upper = 0
    for k in range(begin, begin + size):
        upper += on_left[k] == left_above
    above = rank_of[begin]
    below = above + upper
    change = 0.0
    for k in range(begin, begin + size):
        before = discounts[rank_of[k]]
        if on_left[k] == left_above:
            change += worth[ranked[k]] * (discounts[above] - before)
            above += 1
        else:
            change += worth[ranked[k]] * (discounts[below] - before)
            below += 1
    return np.int64(np.floor(change * factor + 0.5))


@kernel
def ordered_split_gains(
    bins: Array,
    n_bins: Number,
    ranked: Array,
    query_of: Array,
    rank_of: Array,
    first_place: Array,
    places: Array,
    worth: Array,
    discounts: Array,
    scales: Array,
    unit: Number,
    by_bin: Array,
    min_documents: Number,
    best: Array,
) -> None:
    """For one node and one column, the split that raises NDCG most when the order inside both sides stays as it is.

    ``ranked`` int32: the node's documents, query by query, in their present order; ``query_of``, ``rank_of`` int64 for
    each of them: its query and its rank; ``first_place``, ``places`` int64: where its block begins in ``ranked`` and
    how many documents it has. ``bins`` uint8: the bin of every document in the column; ``by_bin`` int64: places in
    ``ranked`` by rising bin. ``best`` int64 (4,): gain in multiples of 1/``unit``, bin, 1 if missing values go left, 1
    if the left side goes above. Only gains above ``best[0]`` are written, with ``min_documents`` on both sides.

    Documents cross to the left side bin by bin; each crossing changes the value of one block, which is found anew.
    """
    count = ranked.shape[0]
    on_left = np.empty(count, dtype=np.bool_)
    value = np.empty(count, dtype=np.int64)  # of the block that begins here
    for missing_left in range(2):
        absent = 0
        for k in range(count):
            absent += bins[ranked[k]] == n_bins
        if missing_left == 1 and absent == 0:
            break
        for left_above in range(2):
            total = np.int64(0)
            for k in range(count):
                on_left[k] = missing_left == 1 and bins[ranked[k]] == n_bins
            begin = 0
            while begin < count:
                value[begin] = _block_gain(
                    ranked, rank_of, begin, places[begin], on_left, left_above == 1, worth, discounts,
                    scales[query_of[begin]] * unit,
                )  # fmt: skip
                total += value[begin]
                begin += places[begin]
            k = 0
            while k < count:
                b = bins[ranked[by_bin[k]]]
                if b == n_bins:
                    break
                while k < count and bins[ranked[by_bin[k]]] == b:
                    place = by_bin[k]
                    on_left[place] = True
                    begin = first_place[place]
                    total -= value[begin]
                    value[begin] = _block_gain(
                        ranked, rank_of, begin, places[begin], on_left, left_above == 1, worth, discounts,
                        scales[query_of[begin]] * unit,
                    )  # fmt: skip
                    total += value[begin]
                    k += 1
                n_left = k + absent * missing_left
                if total > best[0] and n_left >= min_documents and count - n_left >= min_documents:
                    best[0] = total
                    best[1] = b
                    best[2] = missing_left
                    best[3] = left_above
