"""Trees grown on binned data: leaf by leaf, or level by level with one test for all leaves of a level."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from rankforce import dtypes
from rankforce.binning.binned import WORD, Binned
from rankforce.binning.packing import BYTE_VALUES
from rankforce.collective import alone, highest, total
from rankforce.errors import DataError, SettingsError
from rankforce.kernels.trees.building import FEW_WORDS
from rankforce.kernels.trees.growth_state import (
    ALWAYS_FOR_ONE,
    CURSORS,
    FOR_ONE,
    HELPING,
    IN_PARTS,
    KIND,
    LAST_WORD,
    N_LEAVES,
    N_QUEUED,
    SUMS,
    SUMS_AND_COUNTS,
    BestSplits,
    ColumnTable,
    Histograms,
    LeafDocuments,
    RowsOfBins,
    ScanSpace,
    SplitRules,
    TreeTable,
)
from rankforce.kernels.trees.histograms import MANY_WORDS
from rankforce.kernels.trees.leaf_table import HERE, LEAF_COLUMNS, NO_LEAF, PARENT, SIZE, SPLIT_COLUMNS
from rankforce.kernels.trees.leafwise import LEAFWISE_PLACES, SIBLING, grow_tree
from rankforce.kernels.trees.leaves import mark_leaves
from rankforce.kernels.trees.partition import LINE_DOCUMENTS
from rankforce.kernels.trees.symmetric import (
    FRESH,
    LEVEL_COLUMNS,
    LEVEL_PLACES,
    NOT_SPLIT,
    OTHER,
    SUMMING,
    grow_symmetric_tree,
)
from rankforce.threads import FEW_IN_A_COPY, default_threads, over_ranges
from rankforce.trees.category_splits import (
    CATEGORY_SMOOTHING,
    best_sets,
    bins_of_sets,
    category_table,
    no_sets,
    sets_of_nodes,
)
from rankforce.trees.faster_way import FasterWay
from rankforce.trees.grown import Grown
from rankforce.trees.histogram_pool import HISTOGRAM_BYTES, HistogramPool
from rankforce.trees.layout import HistogramLayout
from rankforce.trees.leaf_rounds import RoundBuffers
from rankforce.trees.phases import GrowingTree
from rankforce.trees.quantised import Scales, quantise
from rankforce.trees.tree import Tree
from rankforce.trees.work import Work

SPLITS = ("newton", "least_squares")
GROWTHS = ("leafwise", "symmetric")
NO_DEPTH_LIMIT = 2**31 - 1
WORTH_TRYING = 20_000  # documents: with fewer, no way of adding them is worth a trial


class Grower:
    """Grows regression trees on one binned data set; its buffers serve all of them.

    Parameters
    ----------
    binned : Binned
    n_leaves : int
        At most so many leaves; ``grow`` may be told fewer for one tree.
    growth : "leafwise" or "symmetric"
        Leafwise: of all open leaves the one with the largest gain is split next (of equal ones the one with the lower
        number, the left side keeping its parent's). Symmetric: all leaves of a level are split by the same test, the
        one with the largest sum of gains, and there are at most ⌈log₂ n_leaves⌉ levels; a leaf that the test cannot
        split, or for which there is no room, stays. Fewer questions are asked, which fits less noise.
    min_documents : int
        Least number of documents in a leaf, counted exactly.
    max_depth : int, optional
        Most splits between the root and a leaf.
    l2 : float
        Added to the curvature (or the number of documents) of every leaf.
    min_gain : float
        A split must gain more than this.
    split : "newton" or "least_squares"
        Gain of a split: value(left) + value(right) − value(leaf), where value is (Σλ)²/(Σw + l2) for Newton and
        (Σλ)²/(documents + l2) for least squares.
    monotone : sequence of +1, −1, 0 per feature, optional
        +1: the tree must not fall as the feature rises. A split whose sides would be in the wrong order is refused;
        the middle of the two values bounds everything below each side.
    category_smoothing : float
        For splits on a categorical column, each category is thought to have so many documents more that are like the
        leaf: its mean is drawn towards the leaf's.
    seed : int
        For the random rounding of forces where too many are small.
    histogram_bytes : int
        What histograms may take, unless the fewest with which a tree can grow take more. Trees do not depend on it.

    Splits of equal gain: the lower feature, then the lower bin, then missing values on the left. Missing values go to
    the side that gains more; where a leaf has none, later ones will go to its larger side (left if equal).
    """

    def __init__(
        self,
        binned: Binned,
        *,
        n_leaves: int = 31,
        growth: str = "leafwise",
        min_documents: int = 20,
        max_depth: int | None = None,
        l2: float = 0.0,
        min_gain: float = 0.0,
        split: str = "newton",
        monotone: Sequence[int] | np.ndarray | None = None,
        category_smoothing: float = CATEGORY_SMOOTHING,
        seed: int = 0,
        histogram_bytes: int = HISTOGRAM_BYTES["fast"],
    ) -> None:
        self.binned = binned
        self.n_leaves = _whole(n_leaves, "n_leaves", 1)
        self.min_documents = _whole(min_documents, "min_documents", 1)
        self.max_depth = NO_DEPTH_LIMIT if max_depth is None else _whole(max_depth, "max_depth", 0)
        self.l2 = _not_negative(l2, "l2")
        self.min_gain = _not_negative(min_gain, "min_gain")
        if split not in SPLITS:
            raise SettingsError(f"split must be one of {', '.join(map(repr, SPLITS))}, not {split!r}")
        self.split = split
        if growth not in GROWTHS:
            raise SettingsError(f"growth must be one of {', '.join(map(repr, GROWTHS))}, not {growth!r}")
        self.growth = growth
        self.category_smoothing = _not_negative(category_smoothing, "category_smoothing")
        self.seed = seed
        binning = binned.binning
        self._monotone = _directions(monotone, binning.n_features)[binning.features]
        if self._monotone[list(binning.category_bins)].any():
            raise SettingsError("monotone is for numeric features: the categories of a feature have no order")
        self._words = -(-binned.packing.n_bytes // WORD)
        self._layout = HistogramLayout.of(binned.packing, self._words * WORD)
        n, width = binned.n_documents, len(binning.features)
        # Work space is for so many threads; it decides how many histograms fit, and must be everybody's.
        self._threads, fewest = highest(default_threads(), -histogram_bytes)
        histogram_bytes = -fewest
        self._n_everywhere = total(n)
        leaves = min(self.n_leaves, max(1, self._n_everywhere // self.min_documents))
        check = self.split == "newton" and self.min_documents > 1  # curvatures do not count documents
        self._check_documents = check
        if growth == "leafwise":
            self._pool = HistogramPool.leafwise(self._layout, leaves, self._threads, histogram_bytes)
        else:
            self._pool = HistogramPool.symmetric(self._layout, leaves, check, self._threads, histogram_bytes)
        self._leaves = rows = leaves
        self._rounds: RoundBuffers | None = None
        if growth == "leafwise" and not alone():
            categories = len(binning.category_bins) > 0
            self._rounds = RoundBuffers.of(
                self._layout, binned.packing.byte, leaves, self._pool, categories, self._threads
            )
            rows = self._rounds.n_nodes
        self._batched = _ways_of_adding(self._words, binned)
        self._scales: Scales | None = None
        self._entries = np.zeros(n, dtype=dtypes.HISTOGRAM)
        self._documents = np.empty(n, dtype=dtypes.INDEX)
        self._scratch = np.empty(n + LINE_DOCUMENTS * self._threads, dtype=dtypes.INDEX)
        self._best_worth = np.empty((rows, width))
        self._best_bin = np.empty((rows, width), dtype=np.int32)
        self._best_missing = np.empty((rows, width), dtype=np.uint8)
        self._verified = np.empty((rows, width), dtype=np.uint8)
        self._best_sets = best_sets(binning, rows if growth == "leafwise" else 1)

    def grow(
        self,
        forces: np.ndarray,
        curvatures: np.ndarray | None = None,
        *,
        n_leaves: int | None = None,
        tree_number: int = 0,
        rows: np.ndarray | None = None,
        features: np.ndarray | None = None,
    ) -> Grown:
        """Grow one tree.

        forces, curvatures : float64 (documents,), in ``by_query`` order; least squares needs no curvatures
        n_leaves : at most so many leaves of this tree; those of the grower if None
        tree_number : a part of what random rounding depends on
        rows : int32, the documents to grow on, rising; all if None
        features : bool (features of the data,), which may be split on; all if None
        """
        binned = self.binned
        n = binned.n_documents
        forces = _per_document(forces, n, "forces")
        if self.split == "newton":
            if curvatures is None:
                raise DataError("splits by Newton gain need curvatures")
            curvatures = _per_document(curvatures, n, "curvatures")
        else:
            curvatures = None
        work = self.begin(rows, features, n_leaves)
        leaf_of = np.empty(n, dtype=dtypes.INDEX)

        def mark(thread: int, threads: int) -> None:
            first, last = n * thread // threads, n * (thread + 1) // threads
            mark_leaves(work.documents, *work.leaf_ranges, first, last, leaf_of)

        scales = Scales(0, 0, 0)
        made = 1
        if len(work.state) > 1 and work.state[0, SIZE] >= 2 * self.min_documents and work.usable.any():
            scales = quantise(
                forces, curvatures, work.documents, binned.query_starts, binned.query_hashes, self.seed, tree_number,
                self._entries, int(work.state[0, SIZE]), self._scales,
            )  # fmt: skip
            self._scales = scales
            made = self.split_leaves(work, scales, mark if rows is None else None)
        elif rows is None:
            leaf_of[:] = 0
        inner = made - 1
        column, split_bin, missing_left, left, right = work.splits[:inner].T.copy()
        binning = binned.binning
        sets = work.sets[:inner]
        left_bins = bins_of_sets(sets) if binning.category_bins else np.zeros((inner, BYTE_VALUES), dtype=bool)
        structure = Tree(
            feature=binning.features[column],
            threshold=binning.split_thresholds(column, split_bin),
            missing_left=missing_left.astype(bool),
            left=left,
            right=right,
            gain=work.gain[:inner] * scales.gain_unit,
            leaf_value=np.zeros(made, dtype=dtypes.LEAF),
            leaf_documents=work.state[:made, SIZE].copy(),
            **sets_of_nodes(binning, column, left_bins),
        )
        bounds = work.bounds[:made] * scales.value_unit
        grown = Grown(structure, leaf_of, bounds[:, 0].copy(), bounds[:, 1].copy(), column, split_bin, left_bins)
        if rows is not None:
            grown.route_into(binned, leaf_of)
        return grown

    def begin(
        self, rows: np.ndarray | None = None, features: np.ndarray | None = None, n_leaves: int | None = None
    ) -> Work:
        """A root of these documents and features, as in ``grow``, on which nothing was done yet.

        All documents are still to be written down: what packs their forces does it (``quantise``).
        """
        binned, leaves = self.binned, self._leaves
        if n_leaves is not None:
            if _whole(n_leaves, "n_leaves", 1) > self.n_leaves:
                raise SettingsError(f"a tree of {n_leaves} leaves is larger than this grower was made for")
            leaves = min(n_leaves, leaves)
        usable = np.ones(len(binned.binning.features), dtype=np.uint8)
        if features is not None:
            usable[:] = np.asarray(features, dtype=bool)[binned.binning.features]
        documents = self._documents if rows is None else self._documents[: len(rows)]
        if rows is not None:
            over_ranges(
                len(rows), lambda first, last: np.copyto(documents[first:last], rows[first:last]), FEW_IN_A_COPY
            )
        state = np.zeros((leaves, LEAF_COLUMNS if self.growth == "leafwise" else LEVEL_COLUMNS), dtype=np.int64)
        state[0, [SIZE, HERE]] = self._n_everywhere if rows is None else total(len(documents)), len(documents)
        state[0, PARENT] = -1
        bounds = np.zeros((leaves, 2))
        bounds[0] = -np.inf, np.inf
        nodes = max(leaves - 1, 1)
        splits = np.zeros((nodes, SPLIT_COLUMNS), dtype=np.int32)
        return Work(documents, usable, state, bounds, splits, np.zeros(nodes), no_sets(nodes))

    def split_leaves(self, work: Work, scales: Scales, afterwards: Callable[[int, int], object] | None = None) -> int:
        """Split the root, and then its sides, by the entries at these scales: the number of leaves.

        ``afterwards(thread, threads)``, if given, is called on every thread once the tree is grown.
        """
        begin = time.perf_counter()
        made = self.growing(work, scales, self._threads).grow(afterwards)
        self._batched.took(time.perf_counter() - begin)
        return made

    def growing(self, work: Work, scales: Scales, threads: int) -> GrowingTree:
        """The tree that ``split_leaves`` grows, to be grown in whatever way, with up to so many threads."""
        binned, leaves = self.binned, work.state.shape[0]
        columns, packing, layout, pool = binned.columns, binned.packing, self._layout, self._pool
        leafwise = self.growth == "leafwise"
        cells = (binned.rows if columns is None else columns).reshape(-1)
        row_stride, column_stride = (binned.rows.shape[1], 0) if columns is None else (1, binned.n_documents)
        words = binned.rows.view(np.uint32)
        at_once = 4 if leafwise else leaves  # leaves whose documents are dealt; no two threads count in one cache line
        return GrowingTree(
            kernel=grow_tree if leafwise else grow_symmetric_tree,
            threads=threads,
            rows=RowsOfBins(words, self._words, cells, row_stride, column_stride, bool(self._batched.now)),
            columns=ColumnTable(
                layout.starts,
                packing.byte,
                packing.stride,
                packing.size,
                layout.values,
                layout.share,
                layout.order,
                layout.leads,
                work.usable,
                self._monotone,
                category_table(binned.binning, self.category_smoothing, self._best_sets, work.sets),
            ),
            rules=SplitRules(
                shift=scales.shift,
                l2=scales.curvature_in_units(self.l2),
                min_gain=scales.gain_in_units(self.min_gain),
                least=1 if self.split == "newton" else self.min_documents,
                min_documents=self.min_documents,
                check_documents=self._check_documents,
                max_depth=self.max_depth if leafwise else min(self.max_depth, (leaves - 1).bit_length()),
                bounded=bool(self._monotone.any()),
            ),
            documents=LeafDocuments(
                order=work.documents,
                scratch=self._scratch,
                entries=self._entries,
                dealt=np.zeros((threads, at_once, 2), dtype=np.int64),
                elsewhere=np.zeros((at_once, 2), dtype=np.int64),
                sides=np.zeros((threads, BYTE_VALUES), dtype=np.uint8),
            ),
            histograms=Histograms(
                pool.sums, pool.counts, pool.parts, pool.count_parts, np.full(len(pool.parts), NO_LEAF)
            ),
            space=ScanSpace(np.zeros((threads, 2, BYTE_VALUES), dtype=np.int64), pool.gains, pool.gains.view(np.int64)),
            best=BestSplits(self._best_worth, self._best_bin, self._best_missing, self._verified),
            tree=TreeTable(
                work.state,
                np.zeros(leaves),
                work.bounds,
                work.splits,
                work.gain,
                self._first_plan(work),
                queue=np.zeros(leaves, np.int64),
                taken=np.zeros(threads * CURSORS, np.int64),
            ),
            rounds=self._rounds,
        )

    def _first_plan(self, work: Work) -> np.ndarray:
        """What is done first: the histogram of the root."""
        plan = np.zeros(max(LEAFWISE_PLACES, LEVEL_PLACES), dtype=np.int64)
        plan[[N_LEAVES, N_QUEUED, LAST_WORD, HELPING, IN_PARTS, FOR_ONE]] = (
            1, 1, self._words, 1, NO_LEAF, ALWAYS_FOR_ONE,
        )  # fmt: skip
        plan[KIND] = SUMS if self.growth == "leafwise" or not self._check_documents else SUMS_AND_COUNTS
        if self.growth == "leafwise":
            plan[SIBLING] = NO_LEAF
        else:
            plan[FRESH] = 1
            plan[SUMMING] = len(self.binned.binning.category_bins) > 0 and len(self._pool.sums) == 1
            work.state[0, OTHER] = NOT_SPLIT
        return plan


def _ways_of_adding(words: int, binned: Binned) -> FasterWay:
    """One document after the other, or in batches: histograms are the same. Members all go the first way."""
    return FasterWay(tried=MANY_WORDS <= words <= FEW_WORDS and binned.n_documents >= WORTH_TRYING and alone())


def _whole(value: int, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise SettingsError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def _not_negative(value: float, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value < math.inf:
        raise SettingsError(f"{name} must be a finite number, not negative: {value!r}")
    return float(value)


def _directions(monotone: Sequence[int] | np.ndarray | None, n_features: int) -> np.ndarray:
    if monotone is None:
        return np.zeros(n_features, dtype=np.int8)
    given = np.asarray(monotone)
    if given.shape != (n_features,):
        raise SettingsError(f"monotone must have one entry per feature ({n_features}), not shape {given.shape}")
    if not np.isin(given, (-1, 0, 1)).all():
        raise SettingsError("monotone must hold +1, -1 and 0 only")
    return given.astype(np.int8)


def _per_document(values: np.ndarray, n: int, what: str) -> np.ndarray:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != (n,):
        raise DataError(f"{what} must have one entry per document ({n}), not shape {array.shape}")
    return array
