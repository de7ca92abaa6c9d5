"""A tree that several members grow together, each on its own documents.

Every member owns some bytes of a row, and with them the columns in them. Histograms are built by all and added up, each
byte at its owner alone, who subtracts siblings and looks for the best splits on its columns; everybody is told the best
of each owner. Which documents go where each member decides for its own.

Two messages per split (or level, of a symmetric tree): the histogram of one side with the numbers of documents that
went left, and the best splits. So the side is built before anybody knows which is the smaller one: it is guessed by the
sums of r. Any guess is right, since siblings are subtracted in integers. Should too few documents be on a side, the
histogram is thrown away.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING

import numpy as np

from rankforce.collective import Collective, collective
from rankforce.kernels.trees import symmetric
from rankforce.kernels.trees.growth_state import (
    BUILD,
    CHOOSE,
    COMMIT,
    DEAL,
    DONE,
    FIRST_WORD,
    LAST_WORD,
    N_LEAVES,
    NEXT,
    SCAN,
    ColumnTable,
    following,
)
from rankforce.kernels.trees.histograms import REGION, WORD
from rankforce.kernels.trees.leaf_table import (
    BEGIN,
    COUNT,
    DEPTH,
    FEATURE,
    HERE,
    LEFT_TOTAL,
    MISSING_TO_LEFT,
    SIZE,
    SLOT,
    START,
    TOTAL,
    WHOLE,
)
from rankforce.kernels.trees.leafwise import LEAF, REBUILDING, SIBLING, grow_tree
from rankforce.kernels.trees.splits import NO_SPLIT
from rankforce.trees.category_splits import bins_of_sets

if TYPE_CHECKING:
    from rankforce.trees.phases import GrowingTree

NOT_OWNED = 2.0  # a share of the columns that no thread has
# The best split of an owner on its columns: places in a record of int64. SET has four words where there are categories.
WORTH, COLUMN, BIN, FLAGS, LEFT, SUM, SET = range(7)
MISSING, VERIFIED = 1, 2  # bits of FLAGS


@dataclasses.dataclass(frozen=True, eq=False)
class Ownership:
    """Which bytes of a row each member owns: those from ``edges[rank]`` to ``edges[rank + 1]``.

    mine : bool (columns,)
    table : what kernels are told of the columns, so that they look at the own ones alone
    told_by : the first member that owns a column, who tells the sums of leaves
    """

    members: Collective
    edges: np.ndarray
    mine: np.ndarray
    table: ColumnTable
    told_by: int

    @classmethod
    def of(cls, columns: ColumnTable, n_bytes: int, members: Collective) -> Ownership:
        """Equally many bytes each; threads share those of a member by their work, as they would share all."""
        edges = np.arange(members.size + 1) * n_bytes // members.size
        owner = np.searchsorted(edges, columns.byte, side="right") - 1
        mine = owner == members.rank
        share = np.full(len(mine), NOT_OWNED)
        if mine.any():
            own = columns.share[mine]
            later = columns.share[columns.share > own.max()]
            first, last = own.min(), later.min() if len(later) else 1.0
            share[mine] = (own - first) / (last - first)  # the last of them below 1
        return cls(members, edges, mine, columns._replace(share=share), int(owner.min()))


class SharedGrowth:
    """Takes a ``GrowingTree`` through its phases together with other members; a subclass knows one way of growing."""

    def __init__(self, growing: GrowingTree) -> None:
        self.growing = growing
        self.tree = growing.tree
        self.rules = growing.rules
        self.best = growing.best
        self.plan = growing.tree.plan
        self.dealt = growing.documents.dealt
        self.own = Ownership.of(growing.columns, growing.rows.n_words * WORD, collective())
        self.members = self.own.members
        self.owned = dataclasses.replace(growing, columns=self.own.table)
        self.best.worth[:, ~self.own.mine] = NO_SPLIT
        self.record = SET if growing.columns.categories is None else SET + growing.columns.categories.sets.shape[2]

    def grow(self) -> int:
        """Grow the tree; the number of its leaves."""
        phase = BUILD
        while phase != DONE:
            self.owned.work_at_once(phase)
            after = {BUILD: self.after_build, SCAN: self.after_scan, CHOOSE: self.after_choose}.get(phase)
            if after is not None:
                after()
            phase = self.commit() if phase == DEAL else following(phase, self.plan)
        return int(self.growing.n_leaves)

    def after_build(self) -> None:
        """Have everybody's sums, of the own bytes."""
        self.exchange(np.zeros(0, dtype=np.int64))

    def exchange(self, counts: np.ndarray) -> np.ndarray:
        """Add up histograms that were built, and with them some numbers, which everybody gets; returns these."""
        built = self.owned.built()
        offset, end = int(self.plan[FIRST_WORD]) * WORD, int(self.plan[LAST_WORD]) * WORD
        edges = (np.clip(self.own.edges, offset, end) - offset) * REGION
        parts: list[np.ndarray] = []
        for first, last in itertools.pairwise(edges):
            parts += [*(one[first:last] for one in built), counts]
        lengths = len(built) * np.diff(edges) + len(counts)
        added = self.members.scatter_add(np.concatenate(parts), np.concatenate([[0], np.cumsum(lengths)]))
        mine = slice(edges[self.members.rank], edges[self.members.rank + 1])
        width = mine.stop - mine.start
        for place, one in enumerate(built):
            one[mine] = added[place * width : (place + 1) * width]
        return added[len(added) - len(counts) :]

    def shown(self, record: np.ndarray) -> np.ndarray:
        """Everybody's records: int64 (members, ...)."""
        records = np.zeros((self.members.size, *record.shape), dtype=np.int64)
        records[self.members.rank] = record
        return self.members.add(records)

    def best_of_mine(self, row: int, histogram: np.ndarray, record: np.ndarray) -> None:
        """Write the best split on the own columns down, of those that ``best`` has in a row."""
        best = self.best
        record[WORTH] = np.array(NO_SPLIT).view(np.int64)
        record[COLUMN] = -1
        if not self.own.mine.any():
            return
        own = np.flatnonzero(self.own.mine)
        j = int(own[np.argmax(best.worth[row, own])])  # of equal ones the lower column
        if best.worth[row, j] == NO_SPLIT:
            return
        missing = int(best.missing[row, j])
        record[WORTH] = best.worth[row, j : j + 1].view(np.int64)[0]
        record[COLUMN], record[BIN] = j, best.bin[row, j]
        record[FLAGS] = MISSING * missing | VERIFIED * int(best.verified[row, j])
        left = self._goes_left(row, j, record)
        columns = self.growing.columns
        start, bins = int(columns.starts[j]), int(columns.size[j]) - 1
        record[LEFT] = histogram[start : start + bins][left].sum() + (histogram[start + bins] if missing else 0)

    def _goes_left(self, row: int, j: int, record: np.ndarray) -> np.ndarray:
        """The bins that the best split on a column sends to the left: bool (bins,); a set is written down, too."""
        categories, bins = self.growing.columns.categories, int(self.growing.columns.size[j]) - 1
        if categories is None or categories.number[j] < 0:
            return np.arange(bins) <= self.best.bin[row, j]
        of_bins = categories.sets[row, categories.number[j]]
        record[SET:] = of_bins.view(np.int64)
        return bins_of_sets(of_bins[None])[0, :bins]

    def adopt_set(self, row: int, record: np.ndarray) -> None:
        """Have the set of another's split on a categorical column."""
        categories, j = self.growing.columns.categories, int(record[COLUMN])
        if categories is not None and j >= 0 and categories.number[j] >= 0:
            categories.sets[row, categories.number[j]] = record[SET : self.record].view(np.uint64)

    # ------------------------------------------------------------------------------------------------ what differs

    def after_scan(self) -> None:
        """Tell each other what was found."""

    def after_choose(self) -> None:
        """Have what only an owner could know."""

    def commit(self) -> int:
        """Documents are dealt: write the split down; returns the next phase."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------- before all is counted

    def guessed_left(self, leaf: int) -> int:
        """A number of documents on the left: as few as can be on the side that has less r, so that whatever might be
        split after the truth is known is built.
        """
        leaves, rules = self.tree.leaves, self.rules
        mask = (1 << rules.shift) - 1
        left = int(leaves[leaf, LEFT_TOTAL]) & mask
        smaller = 2 * left < int(leaves[leaf, TOTAL]) & mask
        return int(rules.min_documents if smaller else leaves[leaf, WHOLE] - rules.min_documents)

    def counted(self, here: np.ndarray) -> np.ndarray:
        """Everybody's counts, with the histograms that are to be built, if there are any to build."""
        if self.plan[NEXT] != BUILD:
            return self.members.add(here)
        self.owned.work_at_once(BUILD)
        return self.exchange(here.reshape(-1)).reshape(here.shape)


class LeafwiseGrowth(SharedGrowth):
    """Leaf by leaf."""

    def __init__(self, growing: GrowingTree) -> None:
        super().__init__(growing)
        self.left = np.zeros(
            len(self.tree.leaves), dtype=np.int64
        )  # the sum on the left side of each leaf's best split

    def after_scan(self) -> None:
        if self.plan[LAST_WORD] == 0 or self.plan[REBUILDING] == 1:
            return
        both = (int(self.tree.queue[0]), int(self.plan[SIBLING]))
        leaves = [leaf for leaf in both if leaf >= 0 and self._can_split(leaf)]
        if not leaves:
            return
        own = np.zeros((len(leaves), self.record), dtype=np.int64)
        for leaf, record in zip(leaves, own, strict=True):
            self.best_of_mine(leaf, self.growing.histograms.sums[self.tree.leaves[leaf, SLOT]], record)
            record[SUM] = self.tree.leaves[leaf, TOTAL]
        records = self.shown(own)
        for place, leaf in enumerate(leaves):
            self._adopt(leaf, records[:, place])

    def _adopt(self, leaf: int, records: np.ndarray) -> None:
        """Have the best split of each owner, in place of those that were known of the leaf before."""
        best = self.best
        best.worth[leaf, ~self.own.mine] = NO_SPLIT
        worths = np.ascontiguousarray(records[:, WORTH]).view(np.float64)
        for worth, record in zip(worths, records, strict=True):
            j = record[COLUMN]
            if j >= 0:
                best.worth[leaf, j] = worth
                best.bin[leaf, j] = record[BIN]
                best.missing[leaf, j] = record[FLAGS] & MISSING
                best.verified[leaf, j] = record[FLAGS] // VERIFIED
                self.adopt_set(leaf, record)
        self.tree.leaves[leaf, TOTAL] = records[self.own.told_by, SUM]
        self.left[leaf] = records[first_of_best(worths, records), LEFT]

    def _can_split(self, leaf: int) -> bool:
        leaves, rules = self.tree.leaves, self.rules
        return bool(leaves[leaf, SIZE] >= 2 * rules.min_documents and leaves[leaf, DEPTH] < rules.max_depth)

    def after_choose(self) -> None:
        if self.plan[NEXT] == DEAL:
            self.tree.leaves[self.plan[LEAF], LEFT_TOTAL] = self.left[self.plan[LEAF]]

    def commit(self) -> int:
        tree, plan, rules = self.tree, self.plan, self.rules
        elsewhere = self.growing.documents.elsewhere
        here = self.dealt.sum(axis=0)[:1]
        leaf, other = int(plan[LEAF]), int(plan[N_LEAVES])
        if other >= len(self.growing.histograms.sums):  # a histogram would be given up that may be wanted again
            return self._commit_counted(here, self.members.add(here))
        column = int(tree.leaves[leaf, FEATURE])
        before = [table.copy() for table in (tree.leaves, tree.leaf_gain, tree.bounds, tree.splits, plan)]
        elsewhere[0] = self.guessed_left(leaf) - here[0, 0], 0
        self.owned.work_at_once(COMMIT)
        counts = self.counted(here)
        n_left, n_missing = counts[0].tolist()
        whole = int(tree.leaves[leaf, WHOLE])
        enough = min(n_left, whole - n_left) >= rules.min_documents
        if rules.check_documents and not enough and self.best.verified[leaf, column] == 0:
            for table, old in zip((tree.leaves, tree.leaf_gain, tree.bounds, tree.splits, plan), before, strict=True):
                table[:] = old
            return self._commit_counted(here, counts)
        tree.leaves[[leaf, other], SIZE] = n_left, whole - n_left
        missing_left = self.best.missing[leaf, column] == 1 if n_missing > 0 else 2 * n_left >= whole
        tree.splits[other - 1, MISSING_TO_LEFT] = int(missing_left)
        return SCAN if plan[NEXT] == BUILD else int(plan[NEXT])

    def _commit_counted(self, here: np.ndarray, counts: np.ndarray) -> int:
        self.growing.documents.elsewhere[:1] = counts - here
        self.owned.work_at_once(COMMIT)
        return int(self.plan[NEXT])


class LevelwiseGrowth(SharedGrowth):
    """Level by level, a histogram for each leaf."""

    def after_choose(self) -> None:
        """Everybody has chosen among the own columns, and what the leaves gain by it: take the best of all."""
        tree, plan = self.tree, self.plan
        n = int(plan[N_LEAVES])
        leaves = tree.leaves[:n]
        own = np.zeros(self.record + 4 * n, dtype=np.int64)
        own[COLUMN] = -1
        if plan[NEXT] == DEAL:
            self.best_of_mine(0, self.growing.histograms.sums[0], own[: self.record])
            gains = tree.leaf_gain[:n].view(np.int64)
            by_leaf = (gains, leaves[:, TOTAL], leaves[:, LEFT_TOTAL], leaves[:, symmetric.OTHER])
            own[self.record :] = np.concatenate(by_leaf)
        records = self.shown(own)
        worths = np.where(records[:, COLUMN] >= 0, np.ascontiguousarray(records[:, WORTH]).view(np.float64), NO_SPLIT)
        winner = records[first_of_best(worths, records)]
        if winner[COLUMN] < 0:
            plan[NEXT] = DONE
            return
        plan[[symmetric.COLUMN, symmetric.BIN, symmetric.MISSING_LEFT]] = winner[[COLUMN, BIN, FLAGS]]
        plan[symmetric.MISSING_LEFT] &= MISSING
        plan[symmetric.N_OLD] = n
        plan[NEXT] = DEAL
        self.adopt_set(0, winner)
        gains, leaves[:, TOTAL], leaves[:, LEFT_TOTAL], leaves[:, symmetric.OTHER] = np.split(winner[self.record :], 4)
        tree.leaf_gain[:n] = gains.view(np.float64)
        leaves[:, BEGIN], leaves[:, COUNT], leaves[:, WHOLE] = leaves[:, START], leaves[:, HERE], leaves[:, SIZE]

    def commit(self) -> int:
        tree, plan = self.tree, self.plan
        split = np.flatnonzero(tree.leaves[: plan[N_LEAVES], symmetric.OTHER] != symmetric.NOT_SPLIT)
        here = self.dealt.sum(axis=0)[split]
        elsewhere = self.growing.documents.elsewhere
        elsewhere[split, 0] = [self.guessed_left(leaf) for leaf in split.tolist()] - here[:, 0]
        elsewhere[split, 1] = 0
        self.owned.work_at_once(COMMIT)
        n_left, n_missing = self.counted(here).T
        others = tree.leaves[split, symmetric.OTHER]
        whole = tree.leaves[split, WHOLE].copy()
        tree.leaves[split, SIZE], tree.leaves[others, SIZE] = n_left, whole - n_left
        missing_left = plan[symmetric.MISSING_LEFT] == 1 if n_missing.sum() > 0 else 2 * n_left.sum() >= whole.sum()
        tree.splits[others - 1, MISSING_TO_LEFT] = int(missing_left)
        return SCAN if plan[NEXT] == BUILD else int(plan[NEXT])


class CountedGrowth(SharedGrowth):
    """Level by level with a single histogram, which every leaf has in its turn: everybody has all of it."""

    def __init__(self, growing: GrowingTree) -> None:
        super().__init__(growing)
        self.owned = growing

    def after_build(self) -> None:
        self.growing.put_built(self.members.add(self.growing.take_built()))

    def commit(self) -> int:
        here = self.dealt.sum(axis=0)
        self.growing.documents.elsewhere[:] = self.members.add(here) - here
        self.owned.work_at_once(COMMIT)
        return int(self.plan[NEXT])


def first_of_best(worths: np.ndarray, records: np.ndarray) -> int:
    """The owner of the best split, of equal ones of the one on the lower column."""
    return int(np.lexsort((records[:, COLUMN], -worths))[0])


def shared_growth(growing: GrowingTree) -> SharedGrowth:
    """The way in which members grow this tree."""
    if growing.kernel is grow_tree:
        return LeafwiseGrowth(growing)
    return LevelwiseGrowth(growing) if len(growing.histograms.sums) > 1 else CountedGrowth(growing)
