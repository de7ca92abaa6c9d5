"""How much more often the better document of a pair goes up: the edges of a martingale."""

from __future__ import annotations

import numpy as np

from rankforce.compiling.jit import kernel
from rankforce.dtypes import Array


@kernel
def pair_edges(labels: Array, levels: Array, ones: Array, starts: Array, pairs: Array, edges: Array) -> None:
    """For all pairs of a better document i and a worse one j of one query, by their nodes (k, l) of one level.

    Adds their number to ``pairs`` int64 (nodes, nodes), and Σ h(i) − h(j) to ``edges`` int64 likewise; h is 1 for the
    documents that ``ones`` bool marks, else 0. ``levels`` int32: the node of every document.
    """
    for q in range(starts.shape[0] - 1):
        for i in range(starts[q], starts[q + 1]):
            for j in range(starts[q], starts[q + 1]):
                if labels[i] > labels[j]:
                    pairs[levels[i], levels[j]] += 1
                    edges[levels[i], levels[j]] += np.int64(ones[i]) - np.int64(ones[j])
