"""The ordered frontier of a graph: who is where, what the order is worth, and how it is improved by moves."""

from __future__ import annotations

import math

import numpy as np

from rankforce import dtypes
from rankforce.kernels.xrank.frontier import find_blocks, frontier_values, inner_forces, passing_gains
from rankforce.kernels.xrank.node_splits import best_splits
from rankforce.memory import check_memory
from rankforce.threads import over_pieces, over_queries, thread_count
from rankforce.xrank.graph import Split
from rankforce.xrank.sample import Sample

SMALLEST_GAIN = 2.0**-40  # of the largest possible value: moves that gain less may be an error of rounding
ENOUGH_FOR_THREADS = 20_000  # documents × columns
SPLIT_BYTES = 13  # for a feature and a node: gain, bin, side of missing values
MOVE_BYTES = 40  # for a node and a place: gains, and four arrays of the same size on the way to them


class Frontier:
    """Nodes in their order, best first; ``positions`` int32 holds the place of every document's node.

    The value of a frontier is the mean of the measure, expected over the orders of documents of one query in one node.
    """

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.size = 1
        self.positions = np.zeros(sample.n_documents, dtype=np.int32)
        self._order = sample.order.copy()
        n = sample.n_documents
        self._block_position = np.empty(n, dtype=np.int32)
        self._block_size = np.empty(n, dtype=np.int32)
        self._block_rank = np.empty(n, dtype=np.int32)
        self._block_worth = np.empty(n)
        self._n_blocks = np.empty(len(sample.scales), dtype=np.int64)
        self._known = False

    def copy(self) -> Frontier:
        """Another frontier with the same order."""
        other = Frontier(self.sample)
        other.size = self.size
        other.positions[:] = self.positions
        other._order[:] = self._order
        return other

    def restart(self, size: int, positions: np.ndarray, order: np.ndarray) -> None:
        """Go on from another frontier; ``order`` is what ``ranked`` said of it."""
        self.positions[:] = positions
        self._order[:] = order
        self.size = size
        self._known = False

    def split(self, place: int, split: Split) -> None:
        """Split a node into two neighbours."""
        here = np.flatnonzero(self.positions == place)
        up = split.goes_up(self.sample.bins[split.column, here], int(self.sample.n_bins[split.column]))
        self.positions[self.positions > place] += 1
        self.positions[here[~up]] += 1
        self._grew(1)

    def merge(self, place: int) -> None:
        """Merge a node with the next one."""
        self.positions[self.positions > place] -= 1
        self._grew(-1)

    def move(self, place: int, to: int) -> None:
        """Take a node out and put it in so that it is at the place ``to``."""
        self.positions[:] = self.after_move(place, to)[self.positions]
        self._known = False

    def after_move(self, place: int, to: int) -> np.ndarray:
        """The new place of every node when one of them moves."""
        rest = np.delete(np.arange(self.size), place)
        new = np.empty(self.size, dtype=np.int32)
        new[np.insert(rest, to, place)] = np.arange(self.size)
        return new

    def next_level(self, up: np.ndarray) -> None:
        """Every node k becomes one with what went down from node k − 1: the documents not ``up`` go to k + 1."""
        self.positions[~up] += 1
        self._grew(1)

    def _grew(self, by: int) -> None:
        self.size += by
        self._known = False

    def _find_blocks(self) -> None:
        if self._known:
            return
        sample = self.sample
        over_queries(
            sample.starts,
            lambda a, b: find_blocks(
                sample.worth, self.positions, sample.starts, a, b, self._order, self._block_position,
                self._block_size, self._block_worth, self._block_rank, self._n_blocks,
            ),
        )  # fmt: skip
        self._known = True

    def value(self) -> float:
        """The expected mean of the measure."""
        self._find_blocks()
        values = np.empty(len(self._n_blocks))
        sample = self.sample
        frontier_values(
            sample.starts, self._n_blocks, self._block_size, self._block_worth, sample.sums, sample.scales, values
        )
        return math.fsum(values)

    def ranked(self) -> np.ndarray:
        """The documents of every query by place, those of one node in the order of the hash."""
        self._find_blocks()
        return self._order

    def forces(self) -> np.ndarray:
        """The force on every document inside its node, int64 in multiples of 1/force_unit."""
        self._find_blocks()
        sample = self.sample
        forces = np.empty(sample.n_documents, dtype=np.int64)
        over_queries(
            sample.starts,
            lambda a, b: inner_forces(
                sample.worth, sample.starts, self._order, self._n_blocks, self._block_size, self._block_worth,
                sample.discounts, sample.scales, sample.force_unit, a, b, forces,
            ),
        )  # fmt: skip
        return forces

    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """(documents node by node, where each node starts among them)."""
        narrow = (
            self.positions.astype(np.uint16) if self.size < 2**16 else self.positions
        )  # 16 bits sort in linear time
        order = np.argsort(narrow, kind="stable").astype(dtypes.INDEX)
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.positions, minlength=self.size))])
        return order, starts.astype(np.int64)

    def best_splits(
        self, forces: np.ndarray, wanted: np.ndarray, min_documents: int, *, even: bool = False
    ) -> list[Split | None]:
        """For every wanted node the split with the largest gain, |Σ force of one side|, or None if there is none.

        The side with the positive sum goes above. ``even`` asks for the most even split instead.
        """
        sample = self.sample
        columns = len(sample.bins)
        check_memory(
            SPLIT_BYTES * columns * self.size,
            "the best split of every node",
            f"{columns:,} features × {self.size:,} nodes × {SPLIT_BYTES} bytes",
            "raise min_documents, or lower n_steps",
        )
        members, starts = self.members()
        gains = np.full((columns, self.size), -1, dtype=np.int64)
        bins = np.zeros((columns, self.size), dtype=np.int32)
        missing_left = np.zeros((columns, self.size), dtype=bool)
        pieces = thread_count() if sample.n_documents * columns >= ENOUGH_FOR_THREADS else 1
        over_pieces(
            [columns * piece // pieces for piece in range(pieces + 1)],
            lambda a, b: best_splits(
                sample.bins, sample.n_bins, members, starts, wanted, forces, even, min_documents, a, b, gains, bins,
                missing_left,
            ),
        )  # fmt: skip
        splits: list[Split | None] = [None] * self.size
        if columns == 0:
            return splits
        chosen = gains.argmax(axis=0)
        for node in np.flatnonzero(wanted):
            column = int(chosen[node])
            if gains[column, node] < 0:
                continue
            one = Split(column, int(bins[column, node]), bool(missing_left[column, node]), True, 0.0)
            here = members[starts[node] : starts[node + 1]]
            left = one.goes_left(sample.bins[column, here], int(sample.n_bins[column]))
            pull = int(forces[here[left]].sum())
            splits[node] = Split(column, one.bin, one.missing_left, pull >= 0, abs(pull) / sample.force_unit)
        return splits

    def move_gains(self) -> np.ndarray:
        """What every move gains, int64 (from, to) in multiples of 1/value_unit."""
        self._find_blocks()
        sample = self.sample
        filled = np.repeat(sample.starts[:-1] + self._n_blocks, np.diff(sample.starts))
        blocks = np.flatnonzero(np.arange(sample.n_documents) < filled)
        positions = self._block_position[blocks]
        narrow = positions.astype(np.uint16) if self.size < 2**16 else positions
        node_blocks = blocks[np.argsort(narrow, kind="stable")]
        block_starts = np.concatenate([[0], np.cumsum(np.bincount(positions, minlength=self.size))]).astype(np.int64)
        block_query = np.repeat(np.arange(len(sample.scales)), np.diff(sample.starts))
        check_memory(
            MOVE_BYTES * self.size**2,
            "the gain of every move",
            f"{self.size:,} nodes × {self.size:,} places × {MOVE_BYTES} bytes",
            "raise min_documents, or lower n_steps",
        )
        passing = np.zeros((self.size, self.size), dtype=np.int64)
        pieces = min(self.size, 4 * thread_count()) if sample.n_documents >= 2048 else 1
        over_pieces(
            [self.size * piece // pieces for piece in range(pieces + 1)],
            lambda a, b: passing_gains(
                sample.starts, self._n_blocks, block_query, self._block_position, self._block_size, self._block_worth,
                self._block_rank, sample.sums, sample.scales, sample.value_unit, node_blocks, block_starts, a, b,
                passing,
            ),
        )  # fmt: skip
        total = np.cumsum(passing, axis=1)
        mine = np.diagonal(total)[:, None]  # a node passes nothing at its own place
        gains: np.ndarray = total - mine
        upwards = np.tri(self.size, k=-1, dtype=bool)
        gains[upwards] = (mine - total + passing)[upwards]
        return gains

    def reorder(self) -> list[tuple[int, int]]:
        """Make the best move of one node until none gains; returns the moves (from, to).

        Every move raises the value, so no order comes twice.
        """
        least = SMALLEST_GAIN * 2.0**60
        moves = []
        while self.size > 1:
            gains = self.move_gains()
            best = int(gains.argmax())
            if gains.flat[best] <= least:
                break
            place, to = divmod(best, self.size)
            self.move(place, to)
            moves.append((place, to))
        return moves
