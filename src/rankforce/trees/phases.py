"""A tree that grows: its bundles, and the phases in which threads work on them, all at once or one by one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rankforce.collective import alone
from rankforce.compiling.intrinsics import MEETING_SIZE
from rankforce.kernels.trees.growth_state import (
    BUILD,
    COUNTS,
    DONE,
    FIRST_WORD,
    HELPING,
    IN_PARTS,
    KIND,
    LAST_WORD,
    N_LEAVES,
    N_QUEUED,
    SUMS,
    BestSplits,
    ColumnTable,
    Histograms,
    LeafDocuments,
    RowsOfBins,
    ScanSpace,
    SplitRules,
    TreeTable,
    following,
)
from rankforce.kernels.trees.histograms import REGION, WORD
from rankforce.kernels.trees.leaf_table import NO_LEAF, SLOT
from rankforce.threads import thread_count, together, using_threads
from rankforce.trees.leaf_rounds import RoundBuffers
from rankforce.trees.shared_growth import shared_growth

PHASES = ("build", "scan", "choose", "deal", "commit")


@dataclasses.dataclass(frozen=True, eq=False)
class GrowingTree:
    """What a kernel needs to grow one tree, on at most ``threads`` threads; ``rounds`` if members grow it leaf by leaf.

    ``grow`` is how trees are grown. ``steps`` does the same from Python, a phase at a time: between two phases somebody
    may look, measure, or add what other processes have found: histograms after BUILD (``take_built``, ``put_built``),
    and after DEAL how many of their documents went where (``documents.elsewhere``).
    """

    kernel: Any
    threads: int
    rows: RowsOfBins
    columns: ColumnTable
    rules: SplitRules
    documents: LeafDocuments
    histograms: Histograms
    space: ScanSpace
    best: BestSplits
    tree: TreeTable
    rounds: RoundBuffers | None = None

    @property
    def bundles(self) -> tuple[Any, ...]:
        return (
            self.rows, self.columns, self.rules, self.documents, self.histograms, self.space, self.best, self.tree,
        )  # fmt: skip

    def grow(self, afterwards: Callable[[int, int], object] | None = None) -> int:
        """Grow the tree on all threads at once; the number of its leaves.

        Then every thread calls ``afterwards(thread, threads)``: to wake the threads for it would take longer.
        """

        def take_part(thread: int, threads: int, meeting: np.ndarray) -> int:
            made = self.kernel(BUILD, False, thread, threads, meeting, *self.bundles)
            if afterwards is not None and made > 0:  # all threads came
                afterwards(thread, threads)
            return int(made)

        with using_threads(min(thread_count(), self.threads)):
            if alone():
                return together(take_part)
            made = shared_growth(self).grow()
            if afterwards is not None:
                together(lambda thread, threads, meeting: afterwards(thread, threads))
            return made

    def work_at_once(self, phase: int) -> None:
        """One phase, on all threads."""
        self.tree.taken[:] = 0
        together(lambda thread, threads, meeting: self.kernel(phase, True, thread, threads, meeting, *self.bundles))

    def steps(self) -> Iterator[int]:
        """Grow the tree phase by phase, one thread after the other; each phase is yielded when it is done.

        Nobody takes from the shares of others: the first thread would leave nothing to them.
        """
        phase = BUILD
        self.tree.plan[HELPING] = 0
        while phase != DONE:
            self.tree.taken[:] = 0
            for thread in range(self.threads):
                self.work(phase, thread)
            yield phase
            phase = following(phase, self.tree.plan)

    @property
    def n_leaves(self) -> int:
        return int(self.tree.plan[N_LEAVES])

    def take_built(self) -> np.ndarray:
        """After BUILD, what this process has found: int64 (kinds, leaves, entries over bytes), a copy."""
        if self.tree.plan[N_QUEUED] == 0:
            return np.zeros((0, 0), dtype=np.int64)
        self.merge_ranges()
        return np.stack(self.built())

    def put_built(self, total: np.ndarray) -> None:
        """Before SCAN, have what all processes have found, the sum of what they took, in place of that."""
        for histogram, found in zip(self.built(), total, strict=True):
            histogram[:] = found

    def merge_ranges(self) -> None:
        """After BUILD, add to each histogram what ranges of documents have found apart; then there are no parts."""
        part_leaf, plan = self.histograms.part_leaf, self.tree.plan
        for leaf, histogram, parts in self._built_leaves():
            if plan[IN_PARTS] == leaf:
                histogram[:] = 0
            for part in np.flatnonzero(part_leaf == leaf):
                histogram += parts[part]
        part_leaf[:] = NO_LEAF
        plan[IN_PARTS] = NO_LEAF

    def built(self) -> list[np.ndarray]:
        """The histograms over bytes that were built, not copied."""
        return [histogram for _, histogram, _ in self._built_leaves()]

    def _built_leaves(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """(leaf, its histogram, those of the ranges of documents), by kind, over the bytes that were built."""
        histograms, plan, width = self.histograms, self.tree.plan, REGION * WORD
        words = slice(plan[FIRST_WORD] * width, plan[LAST_WORD] * width)
        for kind, made, parts in (
            (SUMS, histograms.sums, histograms.parts),
            (COUNTS, histograms.counts, histograms.count_parts),
        ):
            for leaf in self.tree.queue[: plan[N_QUEUED]] if plan[KIND] & kind else ():
                slot = self.tree.leaves[leaf, SLOT] if kind == SUMS or len(made) > 1 else 0
                yield leaf, made[slot, words], parts[:, words]

    def work(self, phase: int, thread: int) -> None:
        """One thread's share of a phase."""
        meeting = np.zeros(MEETING_SIZE, dtype=np.int64)
        self.kernel(phase, True, thread, self.threads, meeting, *self.bundles)
