"""A tree that members grow leaf by leaf together, several leaves in a round (``kernels/trees/rounds.py``).

A round takes two exchanges: histograms, with how many documents went left, are added up at the owners of their bytes;
and each owner tells its best splits. So a tree of L leaves takes far fewer than 2L of them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from rankforce import dtypes
from rankforce.collective import collective
from rankforce.kernels.trees.category_order import SET_WORDS
from rankforce.kernels.trees.growth_state import CURSORS, HELPING, IN_PARTS, TreeTable
from rankforce.kernels.trees.leaf_table import LEAF_COLUMNS, NO_LEAF, NO_SLOT, SLOT
from rankforce.kernels.trees.leafwise import CLOSED
from rankforce.kernels.trees.round_scanning import scan_round
from rankforce.kernels.trees.round_sending import take_round
from rankforce.kernels.trees.rounds import (
    AT_SET,
    BUILT_COLUMNS,
    FIRST_CHILD,
    FREE,
    JOB_COLUMNS,
    N_FREE,
    NO_CHILD,
    NODE_COLUMNS,
    NUMBERS,
    ROUND_PLACES,
    RoundTable,
)
from rankforce.threads import together
from rankforce.trees.histogram_pool import HistogramPool
from rankforce.trees.layout import HistogramLayout
from rankforce.trees.ownership import Ownership

if TYPE_CHECKING:
    from rankforce.trees.phases import GrowingTree

MESSAGE_BYTES = 2**24  # what the histograms of a round may take, unless two take more


@dataclasses.dataclass(frozen=True, eq=False)
class RoundBuffers:
    """What all trees of a training are grown with in rounds: room for twice as many splits as a tree has."""

    table: RoundTable

    @classmethod
    def of(
        cls, layout: HistogramLayout, byte: np.ndarray, leaves: int, pool: HistogramPool, sets: bool, threads: int
    ) -> RoundBuffers:
        """For trees of so many leaves; ``byte``: that of each column; ``sets``: some are categorical."""
        members = collective()
        splits = 2 * leaves
        nodes = 1 + 2 * splits
        slots = len(pool.sums)
        values = np.zeros(layout.n_bytes, dtype=np.int64)
        values[byte] = layout.values
        offsets = np.concatenate([[0], np.cumsum(values)])
        jobs = max(1, slots // 2)
        built = max(2, min(2 * jobs, MESSAGE_BYTES // (8 * max(1, int(offsets[-1])))))
        record = AT_SET + (SET_WORDS if sets else 0)
        records = np.zeros(members.size * 2 * jobs * record, dtype=np.int64)
        return cls(
            RoundTable(
                nodes=TreeTable(
                    leaves=np.zeros((nodes, NODE_COLUMNS), dtype=np.int64),
                    leaf_gain=np.zeros(nodes),
                    bounds=np.zeros((nodes, 2)),
                    splits=np.zeros((0, 0), dtype=np.int32),
                    split_gain=np.zeros(0),
                    plan=np.zeros(ROUND_PLACES, dtype=np.int64),
                    queue=np.zeros(built, dtype=np.int64),
                    taken=np.zeros(threads * CURSORS, dtype=np.int64),
                ),
                node_of=np.zeros(leaves, dtype=np.int64),
                jobs=np.zeros((jobs, JOB_COLUMNS), dtype=np.int64),
                built=np.zeros((built, BUILT_COLUMNS), dtype=np.int64),
                owners=np.zeros(slots, dtype=np.int64),
                pairs=np.zeros(splits, dtype=np.int64),
                heap_gain=np.zeros(4 * leaves),
                heap_node=np.zeros(4 * leaves, dtype=np.int64),
                offsets=offsets,
                edges=Ownership.edges_of(layout.n_bytes, members),
                message=np.empty(built * int(offsets[-1]) + members.size * NUMBERS * jobs, dtype=dtypes.HISTOGRAM),
                parts=np.zeros(members.size + 1, dtype=np.int64),
                numbers=np.zeros((jobs, NUMBERS), dtype=np.int64),
                scanned=np.zeros(2 * jobs, dtype=np.int64),
                records=records,
                worths=records.view(np.float64),
                record=record,
                rank=members.rank,
            )
        )

    @property
    def n_nodes(self) -> int:
        return len(self.table.nodes.leaves)


class LeafwiseGrowth:
    """Grows a ``GrowingTree`` leaf by leaf together with other members."""

    def __init__(self, growing: GrowingTree) -> None:
        assert growing.rounds is not None
        self.growing = growing
        self.rounds = growing.rounds.table
        self.own = Ownership.of(growing.columns, len(self.rounds.offsets) - 1, collective())
        dealt = np.zeros((growing.threads, max(4, len(self.rounds.jobs)), 2), dtype=np.int64)
        self.documents = growing.documents._replace(dealt=dealt)
        self._begin()

    def _begin(self) -> None:
        """A root on which nothing was done."""
        rounds, tree = self.rounds, self.growing.tree
        table = rounds.nodes
        table.leaves[0] = 0
        table.leaves[0, :LEAF_COLUMNS] = tree.leaves[0, :LEAF_COLUMNS]
        table.leaves[0, [SLOT, FIRST_CHILD]] = NO_SLOT, NO_CHILD
        table.leaf_gain[0] = CLOSED
        table.bounds[0] = tree.bounds[0]
        table.plan[:] = 0
        table.plan[[HELPING, IN_PARTS, N_FREE]] = 1, NO_LEAF, len(rounds.pairs)
        rounds.pairs[:] = np.arange(1, len(table.leaves), 2)[::-1]
        rounds.owners[:] = FREE
        rounds.node_of[0] = 0

    def grow(self) -> int:
        """Grow the tree; the number of its leaves."""
        members, rounds = self.own.members, self.rounds
        first = True
        while self._take_round(first):
            first = False
            parts = rounds.parts
            added = members.scatter_add(rounds.message[: parts[-1]], parts)
            mine = rounds.message[parts[members.rank] : parts[members.rank + 1]]
            if not np.may_share_memory(added, mine):
                mine[:] = added
            n_records = self._scan_round()
            if n_records > 0:
                records = rounds.records[: members.size * n_records * rounds.record]
                records[:] = members.add(records)
        return int(self.growing.n_leaves)

    def _take_round(self, first: bool) -> bool:
        growing = self.growing
        bundles = (
            growing.rows, growing.columns, growing.rules, self.documents, growing.histograms, growing.tree, self.rounds
        )  # fmt: skip
        return bool(together(lambda *turn: take_round(first, *turn, *bundles)))

    def _scan_round(self) -> int:
        growing = self.growing
        bundles = (self.own.table, growing.rules, growing.histograms, growing.space, growing.best, self.rounds)
        return int(together(lambda *turn: scan_round(*turn, *bundles)))
