"""Engines' arithmetic: trees walked with an engine's own comparison, leaves summed in its own precision.

What is emulated is what stands in a written file; nothing here knows the model.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from rankforce.export.engines import MissingAs

# values as an engine has them -> the categories that it takes them for, -1: none; values are not NaN
Coding = Callable[[np.ndarray], np.ndarray]
# (values, thresholds) of the same dtype -> which go left; values are not NaN
Comparison = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Emulated(abc.ABC):
    """A file as an engine would score with it. Rows are float32 with the model's features; NaN is missing."""

    @abc.abstractmethod
    def scores(self, rows: np.ndarray) -> np.ndarray:
        """The engine's scores, float64 that hold whatever precision it has."""


@dataclasses.dataclass(frozen=True, eq=False)
class EmulatedTree:
    """A tree as it stands in a file. Children: c >= 0 is the node c, c < 0 the leaf ~c."""

    feature: np.ndarray  # of the model
    threshold: np.ndarray  # in the engine's type
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray  # of the leaves, in the engine's type
    listed: tuple[np.ndarray | None, ...] = ()  # codes that go left, of nodes that ask for a set

    @classmethod
    def of(
        cls,
        nodes: Sequence[tuple[int, float, bool, int, int]],
        values: Sequence[float],
        dtype: type[np.floating],
        value_dtype: type[np.floating] | None = None,
        listed: Sequence[np.ndarray | None] = (),
    ) -> EmulatedTree:
        """From (feature, threshold, missing goes left, left, right) per node."""
        feature, threshold, missing_left, left, right = zip(*nodes, strict=True) if nodes else ((),) * 5
        return cls(
            np.array(feature, dtype=np.int64),
            np.array(threshold, dtype=dtype),
            np.array(missing_left, dtype=bool),
            np.array(left, dtype=np.int64),
            np.array(right, dtype=np.int64),
            np.array(values, dtype=value_dtype or dtype),
            tuple(listed) if any(codes is not None for codes in listed) else (),
        )

    @property
    def root(self) -> int:
        return 0 if len(self.feature) else ~0

    def leaf_order(self) -> np.ndarray:
        """The place of every leaf from left to right: trees alike in shape can be compared by it."""
        order = np.empty(len(self.value), dtype=np.int64)
        waiting, count = [self.root], 0
        while waiting:
            child = waiting.pop()
            if child < 0:
                order[~child] = count
                count += 1
            else:
                waiting += [int(self.right[child]), int(self.left[child])]
        return order


def whole_codes(values: np.ndarray) -> np.ndarray:
    """Whole numbers are codes, all else none: as the model has it."""
    codes = truncated_codes(values)
    return np.where(codes == values, codes, -1)


def truncated_codes(values: np.ndarray) -> np.ndarray:
    """The fraction is cut off; what is no 32-bit number then is no code: as a cast in C has it."""
    inside = (values > -1) & (values < 2**31)
    return np.where(inside, np.where(inside, values, 0), -1).astype(np.int64)


def reached(
    tree: EmulatedTree, rows: np.ndarray, comparison: Comparison, missing: MissingAs, coding: Coding = whole_codes
) -> np.ndarray:
    """The leaf that each row comes to."""
    asks_set = np.array([codes is not None for codes in tree.listed] or [False] * len(tree.feature), dtype=bool)
    place = np.full(len(rows), tree.root)
    dtype = tree.threshold.dtype
    pending = np.flatnonzero(place >= 0)
    while len(pending):
        node = place[pending]
        values = rows[pending, tree.feature[node]].astype(dtype)
        absent = np.isnan(values)
        if missing is MissingAs.ZERO:
            values[absent] = 0
        known = np.where(absent, 0, values).astype(dtype)
        left = comparison(known, tree.threshold[node])
        for number in np.unique(node[asks_set[node]]):
            mine = node == number
            left[mine] = np.isin(coding(known[mine]), tree.listed[number])
        if missing is MissingAs.RIGHT:
            left &= ~absent
        elif missing is not MissingAs.ZERO:
            left = np.where(absent, tree.missing_left[node], left)
        place[pending] = np.where(left, tree.left[node], tree.right[node])
        pending = pending[place[pending] >= 0]
    return ~place


@dataclasses.dataclass(frozen=True, eq=False)
class EmulatedTrees(Emulated):
    """A sum of trees.

    comparison : what goes left
    missing : what becomes of NaN
    dtype : of the running sum
    start : what the sum starts from
    coding : which category a value is
    """

    trees: tuple[EmulatedTree, ...]
    comparison: Comparison
    missing: MissingAs
    dtype: type[np.floating]
    start: float = 0.0
    coding: Coding = whole_codes

    def leaves(self, number: int, rows: np.ndarray) -> np.ndarray:
        """The leaf of one tree that each row comes to."""
        return reached(self.trees[number], rows, self.comparison, self.missing, self.coding)

    def scores(self, rows: np.ndarray) -> np.ndarray:
        total = np.full(len(rows), self.start, dtype=self.dtype)
        for number, tree in enumerate(self.trees):
            total = (total + tree.value[self.leaves(number, rows)].astype(self.dtype)).astype(self.dtype)
        return total.astype(np.float64)


def less(values: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    return values < thresholds


def less_or_equal(values: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    return values <= thresholds
