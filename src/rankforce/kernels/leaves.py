"""Exact sums per leaf."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.jit import kernel


@kernel
def sums_by_leaf(values: Any, leaf_of: Any, scale: Any, first: Any, last: Any, sums: Any) -> None:
    """Add Σ ⌊value·scale + ½⌋ over the documents ``first`` to ``last`` of every leaf to ``sums`` int64.

    A negative ``leaf_of`` leaves a document out.
    """
    for document in range(first, last):
        if leaf_of[document] >= 0:
            sums[leaf_of[document]] += np.int64(np.floor(values[document] * scale + 0.5))


@kernel
def mark_leaves(
    documents: Any, leaf_start: Any, leaf_size: Any, order: Any, first: Any, last: Any, leaf_of: Any
) -> None:
    """Write the leaf of every document of the leaves ``order[first:last]``, from documents sorted by leaf."""
    for place in range(first, last):
        leaf = order[place]
        for k in range(leaf_start[leaf], leaf_start[leaf] + leaf_size[leaf]):
            leaf_of[documents[k]] = leaf
