"""A tree that several members grow together, each on its own documents.

Every member owns some bytes of a row, and with them the columns in them. Histograms are built by all and added up, each
byte at its owner alone, who subtracts siblings and looks for the best splits on its columns; everybody is told the best
of each owner. Which documents go where each member decides for its own. ``leaf_rounds.py`` does so leaf by leaf; here
it is done level by level, for symmetric trees.

Two messages per level: the histograms of one side of each split with the numbers of documents that went left, and the
best test. So the side is built before anybody knows which is the smaller one: it is guessed by the sums of r. Any guess
is right, since siblings are subtracted in integers.
"""

from __future__ import annotations

import abc
import dataclasses
import itertools
from typing import TYPE_CHECKING

import numpy as np

from rankforce.collective import collective
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
    following,
)
from rankforce.kernels.trees.histograms import REGION, WORD
from rankforce.kernels.trees.leaf_table import (
    BEGIN,
    COUNT,
    HERE,
    LEFT_TOTAL,
    MISSING_TO_LEFT,
    SIZE,
    START,
    TOTAL,
    WHOLE,
)
from rankforce.kernels.trees.splits import NO_SPLIT
from rankforce.trees.leaf_rounds import LeafwiseGrowth
from rankforce.trees.ownership import Ownership

if TYPE_CHECKING:
    from rankforce.trees.phases import GrowingTree

# The best test of an owner on its columns: places in a record of int64. SET has four words where there are categories.
WORTH, COLUMN, BIN, MISSING, SET = range(5)


class SharedGrowth(abc.ABC):
    """Takes a ``GrowingTree`` through its phases together with other members, level by level."""

    def __init__(self, growing: GrowingTree) -> None:
        self.growing = growing
        self.plan = growing.tree.plan
        self.dealt = growing.documents.dealt
        self.members = collective()

    def grow(self) -> int:
        """Grow the tree; the number of its leaves."""
        phase = BUILD
        while phase != DONE:
            self.growing.work_at_once(phase)
            after = {BUILD: self.after_build, CHOOSE: self.after_choose}.get(phase)
            if after is not None:
                after()
            phase = self.commit() if phase == DEAL else following(phase, self.plan)
        return int(self.growing.n_leaves)

    @abc.abstractmethod
    def after_build(self) -> None:
        """Have everybody's sums."""

    @abc.abstractmethod
    def after_choose(self) -> None:
        """Have the test that is the best of all."""

    @abc.abstractmethod
    def commit(self) -> int:
        """Documents are dealt: write the split down; returns the next phase."""


class LevelwiseGrowth(SharedGrowth):
    """Level by level, a histogram for each leaf: of every byte its owner alone has all of it."""

    def __init__(self, growing: GrowingTree) -> None:
        self.own = Ownership.of(growing.columns, growing.rows.n_words * WORD, collective())
        super().__init__(dataclasses.replace(growing, columns=self.own.table))
        self.tree = growing.tree
        self.rules = growing.rules
        self.best = growing.best
        self.best.worth[:, ~self.own.mine] = NO_SPLIT
        self.record = SET if growing.columns.categories is None else SET + growing.columns.categories.sets.shape[2]

    def after_build(self) -> None:
        self.exchange(np.zeros(0, dtype=np.int64))

    def after_choose(self) -> None:
        """Everybody has chosen among the own columns, and what the leaves gain by it: take the best of all."""
        tree, plan = self.tree, self.plan
        n = int(plan[N_LEAVES])
        leaves = tree.leaves[:n]
        own = np.zeros(self.record + 4 * n, dtype=np.int64)
        own[COLUMN] = -1
        if plan[NEXT] == DEAL:
            self.best_of_mine(own[: self.record])
            gains = tree.leaf_gain[:n].view(np.int64)
            by_leaf = (gains, leaves[:, TOTAL], leaves[:, LEFT_TOTAL], leaves[:, symmetric.OTHER])
            own[self.record :] = np.concatenate(by_leaf)
        records = self.shown(own)
        worths = np.where(records[:, COLUMN] >= 0, np.ascontiguousarray(records[:, WORTH]).view(np.float64), NO_SPLIT)
        winner = records[first_of_best(worths, records)]
        if winner[COLUMN] < 0:
            plan[NEXT] = DONE
            return
        plan[[symmetric.COLUMN, symmetric.BIN, symmetric.MISSING_LEFT]] = winner[[COLUMN, BIN, MISSING]]
        plan[symmetric.N_OLD] = n
        plan[NEXT] = DEAL
        self.adopt_set(winner)
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
        self.growing.work_at_once(COMMIT)
        n_left, n_missing = self.counted(here).T
        others = tree.leaves[split, symmetric.OTHER]
        whole = tree.leaves[split, WHOLE].copy()
        tree.leaves[split, SIZE], tree.leaves[others, SIZE] = n_left, whole - n_left
        missing_left = plan[symmetric.MISSING_LEFT] == 1 if n_missing.sum() > 0 else 2 * n_left.sum() >= whole.sum()
        tree.splits[others - 1, MISSING_TO_LEFT] = int(missing_left)
        return SCAN if plan[NEXT] == BUILD else int(plan[NEXT])

    def exchange(self, counts: np.ndarray) -> np.ndarray:
        """Add up histograms that were built, and with them some numbers, which everybody gets; returns these."""
        self.growing.merge_ranges()
        built = self.growing.built()
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

    def best_of_mine(self, record: np.ndarray) -> None:
        """Write the best test on the own columns down."""
        best, categories = self.best, self.growing.columns.categories
        own = np.flatnonzero(self.own.mine)
        j = int(own[np.argmax(best.worth[0, own])])  # of equal ones the lower column
        record[WORTH] = best.worth[0, j : j + 1].view(np.int64)[0]
        record[COLUMN], record[BIN], record[MISSING] = j, best.bin[0, j], best.missing[0, j]
        if categories is not None and categories.number[j] >= 0:
            record[SET:] = categories.sets[0, categories.number[j]].view(np.int64)

    def adopt_set(self, record: np.ndarray) -> None:
        """Have the set of another's test of a categorical column."""
        categories, j = self.growing.columns.categories, int(record[COLUMN])
        if categories is not None and categories.number[j] >= 0:
            categories.sets[0, categories.number[j]] = record[SET : self.record].view(np.uint64)

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
        self.growing.work_at_once(BUILD)
        return self.exchange(here.reshape(-1)).reshape(here.shape)


class CountedGrowth(SharedGrowth):
    """Level by level with a single histogram, which every leaf has in its turn: everybody has all of it."""

    def after_build(self) -> None:
        self.growing.put_built(self.members.add(self.growing.take_built()))

    def after_choose(self) -> None:
        """Everybody has looked at all columns, and chosen the same."""

    def commit(self) -> int:
        here = self.dealt.sum(axis=0)
        self.growing.documents.elsewhere[:] = self.members.add(here) - here
        self.growing.work_at_once(COMMIT)
        return int(self.plan[NEXT])


def first_of_best(worths: np.ndarray, records: np.ndarray) -> int:
    """The owner of the best split, of equal ones of the one on the lower column."""
    return int(np.lexsort((records[:, COLUMN], -worths))[0])


def shared_growth(growing: GrowingTree) -> LeafwiseGrowth | SharedGrowth:
    """The way in which members grow this tree."""
    if growing.rounds is not None:
        return LeafwiseGrowth(growing)
    return LevelwiseGrowth(growing) if len(growing.histograms.sums) > 1 else CountedGrowth(growing)
