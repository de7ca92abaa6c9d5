"""The split of a node that most raises the measure when the order inside both sides stays as it is."""

from __future__ import annotations

import numpy as np

from rankforce.kernels.xrank.node_splits import ordered_split_gains
from rankforce.xrank.graph import Split
from rankforce.xrank.sample import Sample

SMALLEST_GAIN = 2**20  # of 2^60: less may be an error of rounding


def best_ordered_split(sample: Sample, ranked: np.ndarray, mine: np.ndarray, min_documents: int) -> Split | None:
    """The best split of the node that holds the documents ``mine``, all standing as ``ranked``; None: none gains."""
    query = np.searchsorted(sample.starts, mine, side="right") - 1
    rank = np.empty(sample.n_documents, dtype=np.int64)
    rank[ranked] = np.arange(sample.n_documents) - np.repeat(sample.starts[:-1], np.diff(sample.starts))
    begins = np.flatnonzero(np.diff(query, prepend=-1))
    sizes = np.diff(np.append(begins, len(mine)))
    best = np.array([SMALLEST_GAIN, 0, 0, 0], dtype=np.int64)
    chosen = -1
    for column, bins in enumerate(sample.bins):
        before = int(best[0])
        ordered_split_gains(
            bins, int(sample.n_bins[column]), mine, query, rank[mine], np.repeat(begins, sizes),
            np.repeat(sizes, sizes), sample.worth, sample.discounts, sample.scales, sample.value_unit,
            np.argsort(bins[mine], kind="stable"), min_documents, best,
        )  # fmt: skip
        if best[0] > before:
            chosen = column
    if chosen < 0:
        return None
    return Split(chosen, int(best[1]), bool(best[2]), bool(best[3]), int(best[0]) / sample.value_unit)
