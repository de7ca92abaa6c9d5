"""A directed acyclic graph while it grows: tests at its inner nodes, and nodes that were joined."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.binning.binning import Binning


@dataclasses.dataclass(frozen=True)
class Split:
    """A test of one column: bins up to ``bin`` go left, and missing values if ``missing_left``.

    ``left_above`` says which side gets the better place, ``gain`` how much the split promised.
    """

    column: int
    bin: int
    missing_left: bool
    left_above: bool
    gain: float

    def goes_left(self, bins: np.ndarray, n_bins: int) -> np.ndarray:
        """Which of the documents with these bins of the column go left."""
        return (bins <= self.bin) | (bins == n_bins) if self.missing_left else bins <= self.bin

    def goes_up(self, bins: np.ndarray, n_bins: int) -> np.ndarray:
        """Which of them get the better place."""
        left = self.goes_left(bins, n_bins)
        return left if self.left_above else ~left


@dataclasses.dataclass(frozen=True)
class Forked:
    """Node ``node`` sends documents to the nodes ``up`` and ``down``."""

    node: int
    split: Split
    up: int
    down: int


@dataclasses.dataclass(frozen=True)
class Joined:
    """Whatever comes to ``node`` goes on to ``into``."""

    node: int
    into: int


Change = Forked | Joined


class Graph:
    """All changes so far. Nodes are numbered as they come up; 0 is the root."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.tests: list[Forked] = []
        self.into: dict[int, int] = {}
        self.n_nodes = 1

    def new_node(self) -> int:
        self.n_nodes += 1
        return self.n_nodes - 1

    def add(self, changes: Sequence[Change]) -> None:
        """Note changes to nodes that had neither a test nor been joined."""
        self.changes.extend(changes)
        for change in changes:
            if isinstance(change, Forked):
                self.tests.append(change)
            else:
                self.into[change.node] = change.into

    def written(self) -> list[list[Any]]:
        """All changes as plain values."""
        return [
            [change.node, change.up, change.down, *dataclasses.astuple(change.split)]
            if isinstance(change, Forked)
            else [change.node, change.into]
            for change in self.changes
        ]

    def read(self, written: Sequence[Sequence[Any]]) -> list[Change]:
        """Take over the changes that another graph wrote."""
        changes: list[Change] = []
        for node, *rest in written:
            if len(rest) == 1:
                changes.append(Joined(int(node), int(rest[0])))
            else:
                up, down, column, last_bin, missing_left, left_above, gain = rest
                split = Split(int(column), int(last_bin), bool(missing_left), bool(left_above), float(gain))
                changes.append(Forked(int(node), split, int(up), int(down)))
        self.add(changes)
        return changes

    def arrays(self, frontier: Sequence[int], binning: Binning) -> dict[str, Any]:
        """The graph as arrays, one entry per test in the order in which they were made (parents first).

        A child c >= 0 is the test c; c < 0 is the place ~c of the frontier.
        """
        place = {node: ~k for k, node in enumerate(frontier)} | {test.node: k for k, test in enumerate(self.tests)}

        def end_of(node: int) -> int:
            while node in self.into:
                node = self.into[node]
            return place[node]

        splits = [test.split for test in self.tests]
        up = np.array([end_of(test.up) for test in self.tests], dtype=np.int32)
        down = np.array([end_of(test.down) for test in self.tests], dtype=np.int32)
        above = np.array([split.left_above for split in splits], dtype=bool)
        return {
            "feature": np.array([binning.features[split.column] for split in splits], dtype=np.int32),
            "threshold": np.array([binning.threshold(s.column, s.bin) for s in splits], dtype=dtypes.FEATURE),
            "missing_left": np.array([split.missing_left for split in splits], dtype=bool),
            "left": np.where(above, up, down),
            "right": np.where(above, down, up),
            "gain": np.array([split.gain for split in splits], dtype=np.float64),
        }


class Route:
    """The node that every document of a data set has come to.

    ``bins`` uint8 (columns, documents), ``n_bins`` per column.
    """

    def __init__(self, bins: np.ndarray, n_bins: np.ndarray) -> None:
        self.bins = bins
        self.n_bins = n_bins
        self.nodes = np.zeros(bins.shape[1], dtype=np.int64)

    def follow(self, changes: Sequence[Change]) -> None:
        """Send the documents on."""
        for change in changes:
            here = np.flatnonzero(self.nodes == change.node)
            if isinstance(change, Forked):
                column = change.split.column
                up = change.split.goes_up(self.bins[column, here], int(self.n_bins[column]))
                self.nodes[here] = np.where(up, change.up, change.down)
            else:
                self.nodes[here] = change.into

    def positions(self, frontier: Sequence[int]) -> np.ndarray:
        """The place in the frontier of every document."""
        places = np.zeros(int(self.nodes.max(initial=0)) + 1, dtype=np.int64)
        for place, node in enumerate(frontier):
            if node < len(places):
                places[node] = place
        return places[self.nodes]
