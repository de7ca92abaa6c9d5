"""A tree that members grow leaf by leaf together, several leaves in a round (``kernels/trees/rounds.py``).

A round takes two exchanges: histograms, with how many documents went left, are added up at the owners of their bytes
(of two members, each adds what comes to what it has; of more, they are added up on their way); and each owner tells its
best splits. So a tree of L leaves takes far fewer than 2L of them. Leaves with few documents have these sent in place
of a histogram, in a third exchange (``kernels/trees/travelling.py``).
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from rankforce import dtypes
from rankforce.collective import collective
from rankforce.kernels.trees.category_order import SET_WORDS
from rankforce.kernels.trees.growth_state import CURSORS, HELPING, IN_PARTS, TreeTable
from rankforce.kernels.trees.histograms import WORD
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
    N_TRAVELLING,
    NO_CHILD,
    NODE_COLUMNS,
    NUMBERS,
    ROUND_PLACES,
    RoundTable,
)
from rankforce.kernels.trees.travelling import ENTRY_WORDS, add_rows, pack_rows
from rankforce.threads import together
from rankforce.trees.histogram_pool import HistogramPool
from rankforce.trees.layout import HistogramLayout
from rankforce.trees.ownership import Ownership

if TYPE_CHECKING:
    from rankforce.trees.phases import GrowingTree

MESSAGE_BYTES = 2**24  # what the histograms of a round may take, unless two take more; and about what its rows may take
# What it takes to send rows, as bytes that could be sent in that time: a message to each of the others, of some ten
# leaves at a time. Only how long a tree takes depends on it.
TOLL = 2**13


class RowRoom:
    """Memory for rows on their way, which stays: every page of fresh memory is cleared at its first use."""

    def __init__(self) -> None:
        self._held = np.empty(0, dtype=np.uint32)

    def of(self, size: int) -> np.ndarray:
        """So many words, holding anything."""
        if size > len(self._held):
            self._held = np.empty(size, dtype=np.uint32)
        return self._held[:size]


@dataclasses.dataclass(frozen=True, eq=False)
class RoundBuffers:
    """What all trees of a training are grown with in rounds: room for twice as many splits as a tree has."""

    table: RoundTable
    sent: RowRoom = dataclasses.field(default_factory=RowRoom)
    came: RowRoom = dataclasses.field(default_factory=RowRoom)

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
        built = max(2, 2 * jobs)
        sums = max(2, min(built, MESSAGE_BYTES // (8 * max(1, int(offsets[-1])))))
        edges = Ownership.edges_of(layout.n_bytes, members)
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
                edges=edges,
                message=np.empty(
                    sums * int(offsets[-1]) + members.size * (NUMBERS * jobs + members.size), dtype=dtypes.HISTOGRAM
                ),
                parts=np.zeros(members.size + 1, dtype=np.int64),
                numbers=np.zeros((jobs, NUMBERS), dtype=np.int64),
                scanned=np.zeros(2 * jobs, dtype=np.int64),
                records=records,
                worths=records.view(np.float64),
                record=record,
                rank=members.rank,
                adding=members.size == 2,
                most_sums=sums,
                spans=_spans(edges),
                toll=TOLL,
                most_row_bytes=MESSAGE_BYTES,
            )
        )

    @property
    def n_nodes(self) -> int:
        return len(self.table.nodes.leaves)


def _spans(edges: np.ndarray) -> np.ndarray:
    """The words of a row that hold the bytes of each member, from where to where: int64 (members, 2)."""
    spans = np.stack([edges[:-1] // WORD, -(-edges[1:] // WORD)], axis=1)
    spans[edges[:-1] == edges[1:]] = 0
    return spans


class LeafwiseGrowth:
    """Grows a ``GrowingTree`` leaf by leaf together with other members."""

    def __init__(self, growing: GrowingTree) -> None:
        assert growing.rounds is not None
        self.growing = growing
        self.buffers = growing.rounds
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
            if rounds.adding:
                self._swap_parts()
            else:
                self._add_parts()
            if rounds.nodes.plan[N_TRAVELLING] > 0:
                self._exchange_rows(self._travelling())
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

    def _part(self, member: int) -> np.ndarray:
        return self.rounds.message[self.rounds.parts[member] : self.rounds.parts[member + 1]]

    def _add_parts(self) -> None:
        """Have everybody's sums in the own part of the message."""
        parts, mine = self.rounds.parts, self._part(self.own.members.rank)
        added = self.own.members.scatter_add(self.rounds.message[: parts[-1]], parts)
        if not np.may_share_memory(added, mine):
            mine[:] = added

    def _swap_parts(self) -> None:
        """Have in the own part what the other of two members has found, which gets its part."""
        rank = self.own.members.rank
        sent, came = (self._part(member).view(np.uint32) for member in (1 - rank, rank))
        edges, places = (np.array([0, rank * len(words), len(words)]) for words in (sent, came))
        self.own.members.all_to_all(sent, edges, came, places)

    def _travelling(self) -> np.ndarray:
        """How many documents of this round's leaves each member sends: int64 (members,)."""
        size, rank = self.own.members.size, self.own.members.rank
        counts = self._part(rank)[-size:].copy()
        if self.rounds.adding:
            counts += self._part(1 - rank)[-size:]
        return counts

    def _exchange_rows(self, counts: np.ndarray) -> None:
        """Send documents to the owners of their bytes, and make histograms of what came.

        counts : int64 (members,), how many each member sends
        """
        rounds, rank = self.rounds, self.own.members.rank
        lengths = ENTRY_WORDS + np.diff(rounds.spans, axis=1)[:, 0]
        n_leaves = int(rounds.nodes.plan[N_TRAVELLING])
        others = np.arange(len(counts)) != rank  # own documents stay where they are
        edges = np.concatenate([[0], np.cumsum(others * (n_leaves + counts[rank] * lengths))])
        places = np.concatenate([[0], np.cumsum(others * (n_leaves + counts * lengths[rank]))])
        sent, came = self.buffers.sent.of(int(edges[-1])), self.buffers.came.of(int(places[-1]))
        packing = (self.growing.rows, self.documents, rounds, sent, edges[:-1] + n_leaves)
        together(lambda thread, threads, _: pack_rows(thread, threads, *packing))
        self.own.members.all_to_all(sent, edges, came, places)
        adding = (self.growing.rows, self.documents, rounds, self.growing.histograms.sums, came, places[:-1] + n_leaves)
        together(lambda thread, threads, _: add_rows(thread, threads, *adding))

    def _scan_round(self) -> int:
        growing = self.growing
        bundles = (self.own.table, growing.rules, growing.histograms, growing.space, growing.best, self.rounds)
        return int(together(lambda *turn: scan_round(*turn, *bundles)))
