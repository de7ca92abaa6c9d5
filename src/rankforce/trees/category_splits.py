"""Sets of categories while trees grow, as bits of bins, and in finished trees, as bits of codes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from rankforce.binning.binning import Binning
from rankforce.binning.packing import BYTE_VALUES
from rankforce.data import category_sets
from rankforce.kernels.trees.category_order import SET_WORDS
from rankforce.kernels.trees.growth_state import CategoryTable

CATEGORY_SMOOTHING = 30.0  # best for held-out queries in benchmarks/categories.py --sweep, on the whole


def no_sets(nodes: int) -> np.ndarray:
    """Empty sets of bins: uint64 (nodes, 4)."""
    return np.zeros((nodes, SET_WORDS), dtype=np.uint64)


def best_sets(binning: Binning, leaves: int) -> np.ndarray:
    """Room for the best set of each leaf and categorical column: uint64 (leaves, categorical columns, 4)."""
    return np.zeros((leaves, len(binning.category_bins), SET_WORDS), dtype=np.uint64)


def category_table(binning: Binning, smoothing: float, sets: np.ndarray, chosen: np.ndarray) -> CategoryTable | None:
    """What kernels are told about categorical columns; None where there are none."""
    columns = sorted(binning.category_bins)
    if not columns:
        return None
    number = np.full(len(binning.features), -1, dtype=np.int32)
    number[columns] = np.arange(len(columns))
    return CategoryTable(
        number,
        smoothing,
        sets,
        chosen,
        pulls=np.zeros((len(columns), 2, BYTE_VALUES)),
        keys=np.zeros((len(columns), 2, BYTE_VALUES)),
        order=np.zeros((len(columns), 2, BYTE_VALUES), dtype=np.int64),
        n_ordered=np.zeros(len(columns), dtype=np.int64),
        turn=np.zeros(len(columns), dtype=np.int64),
        ordered=np.zeros((len(columns), 2, BYTE_VALUES), dtype=np.int64),
    )


def bins_of_sets(sets: np.ndarray) -> np.ndarray:
    """Whether each bin is in each set: bool (sets, 256)."""
    words = np.ascontiguousarray(sets) if sys.byteorder == "little" else sets.byteswap()
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(bool)


def sets_of_nodes(binning: Binning, column: np.ndarray, left_bins: np.ndarray) -> dict[str, Any]:
    """The fields of a Tree about sets, from the column of each node and the bins that go left."""
    if not binning.category_bins:
        return {}
    asks_for_set = np.isin(column, list(binning.category_bins))
    sets = [
        category_sets.words_of(np.flatnonzero(bins[binning.category_bins[j]]))
        for j, bins in zip(column[asks_for_set].tolist(), left_bins[asks_for_set], strict=True)
    ]
    starts, words = category_sets.joined(sets)
    subset = np.where(asks_for_set, np.cumsum(asks_for_set) - 1, -1).astype(np.int32)
    return {"subset": subset, "subset_starts": starts, "subset_words": words}
