"""Tree scoring with compiled kernels: what they need of an ensemble, laid out once, and which of them to call."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce import dtypes
from rankforce.cached_properties import cached_property
from rankforce.compiling import jit
from rankforce.compiling.vector_intrinsics import DOCUMENT_BLOCK, GROUP, SMALL_BLOCK
from rankforce.models.model import frozen
from rankforce.models.packed_arrays import packed
from rankforce.threads import over_queries

if TYPE_CHECKING:
    from rankforce.kernels.trees.scoring import SetTests
    from rankforce.models.set_tables import SetPlaces
    from rankforce.models.tree_ensemble import TreeEnsemble

# So many documents are scored faster side by side than by the block: a few, and one for every 20 leaves of a tree.
FEW, LEAVES_PER_DOCUMENT = 3, 20
LARGE_TREE = 400  # leaves; above this walking is faster than all tests of the tree
BUNDLE_TESTS = 4096  # tests (48 kB) that stay in the second-level cache while blocks of documents pass through
_MATRIX = np.dtype(dtypes.FEATURE)


def available() -> bool:
    """Whether kernels can be used: Numba is installed and its compiler is not switched off."""
    if jit.PLAIN:
        return False
    if "numba" in sys.modules:
        return sys.modules["numba"] is not None
    return _installed()


@functools.cache
def _installed() -> bool:
    return importlib.util.find_spec("numba") is not None


class CompiledTrees:
    """An ensemble as the kernels read it."""

    def __init__(self, ensemble: TreeEnsemble) -> None:
        self.ensemble = ensemble
        self.n_features, self.n_trees, self.base_score = ensemble.n_features, ensemble.n_trees, ensemble.base_score
        self.largest = int(ensemble.tree_leaves.max(initial=1))
        self.few = min(FEW + self.largest // LEAVES_PER_DOCUMENT, DOCUMENT_BLOCK // 2)

    @cached_property
    def tests(self) -> NodeTests:
        return NodeTests(self.ensemble, self.places)

    @cached_property
    def places(self) -> SetPlaces | None:
        """Of the sets of categories; None if there are none."""
        if not self.ensemble.has_sets:
            return None
        from rankforce.models.set_tables import SetPlaces

        return SetPlaces(self.ensemble)

    @cached_property
    def by_block(self) -> bool:
        """Whether documents are scored by the block: trees, and tables of categories, are not too large for it."""
        return self.largest <= LARGE_TREE and (self.places is None or self.places.table is not None)

    @cached_property
    def records(self) -> TreeRecords | None:
        """The trees for few documents; None if they are too large for it."""
        made = TreeRecords(self.ensemble, self.places)
        return made if made.possible else None

    @cached_property
    def leaf_value(self) -> np.ndarray:
        return frozen(self.ensemble.leaf_value, np.float64)

    def scores_of_few(self, matrix: np.ndarray) -> np.ndarray | None:
        """The sums of all trees for a plain matrix of few documents; None if it is not that, or has infinite entries.

        With ten documents, to look at them takes as long as to score them: here only what a kernel relies on is looked
        at.
        """
        if matrix.dtype is not _MATRIX or matrix.ndim != 2 or not matrix.flags.carray:
            return None
        documents, features = matrix.shape
        if features != self.n_features or not 0 < documents <= GROUP:
            return None
        scores = np.empty(documents)
        scores.fill(self.base_score)
        if documents <= self.few and self.records is not None:
            finite = self.records.add_scores(matrix, 0, self.n_trees, scores)
        else:
            finite = self.by_block and self._add_to_few(matrix, 0, self.n_trees, scores)
        return scores if finite else None

    def add_scores(self, matrix: np.ndarray, first_tree: int, last_tree: int, scores: np.ndarray) -> None:
        """Add trees ``first_tree`` to ``last_tree`` to the scores, in tree order."""
        if first_tree == last_tree or not len(scores):
            return
        few = self.by_block or (len(scores) <= self.few and self.records is not None)
        if not few:
            self._walk_scores(matrix, first_tree, last_tree, scores)
        elif not self._add_to_few(matrix, first_tree, last_tree, scores):
            raise AssertionError("a matrix with infinite entries was not refused")

    def _add_to_few(self, matrix: np.ndarray, first_tree: int, last_tree: int, scores: np.ndarray) -> bool:
        """Few documents or many, by the block or side by side; false where entries are infinite."""
        rest = len(scores) % DOCUMENT_BLOCK  # of the last block, which costs as much as a full one
        whole = len(scores) - (rest if rest <= SMALL_BLOCK else 0) if self.by_block else 0
        if whole == len(scores):
            return self.tests.add_scores(matrix, first_tree, last_tree, scores)
        if whole and not self.tests.add_scores(matrix[:whole], first_tree, last_tree, scores[:whole]):
            return False
        rest_of_matrix, rest_of_scores = (matrix[whole:], scores[whole:]) if whole else (matrix, scores)
        small = len(rest_of_scores) <= self.few and self.records is not None
        by = self.records if small else self.tests
        assert by is not None
        return by.add_scores(rest_of_matrix, first_tree, last_tree, rest_of_scores)

    def _walk_scores(self, matrix: np.ndarray, first_tree: int, last_tree: int, scores: np.ndarray) -> None:
        from rankforce.kernels.trees.scoring import score_by_walking

        roots, nodes, thresholds, sets = self.ensemble.walk
        values = self.leaf_value
        roots = roots[first_tree:last_tree]

        def work(first: int, last: int) -> None:
            score_by_walking(matrix, roots, nodes, thresholds, values, sets, first, last, scores)

        _over_documents(len(scores), work)

    def find_leaves(self, matrix: np.ndarray, out: np.ndarray) -> None:
        """The leaf of each document in each tree, counted over all trees: out int32 (documents, trees)."""
        find_leaves(matrix, *self.ensemble.walk, out)


def find_leaves(
    matrix: np.ndarray, roots: np.ndarray, nodes: np.ndarray, thresholds: np.ndarray, sets: Any, out: np.ndarray
) -> None:
    """As ``tree_walk.find_leaves``, compiled."""
    from rankforce.kernels.trees.scoring import leaves_by_walking

    _over_documents(
        len(matrix), lambda first, last: leaves_by_walking(matrix, roots, nodes, thresholds, sets, first, last, out)
    )


class ValueRows:
    """One row of values per feature and side of its missing values that occurs: no test then asks whether a value is
    missing.

    Nodes that ask for sets of categories have rows behind these: the places of their tests.
    """

    def __init__(self, ensemble: TreeEnsemble, places: SetPlaces | None) -> None:
        sides = ensemble.feature.astype(np.int64) * 2 + ensemble.missing_left
        numeric = ensemble.subset < 0
        kinds, numbers = np.unique(sides[numeric], return_inverse=True)
        node_rows = np.zeros(len(sides), dtype=np.int64)
        node_rows[numeric] = numbers
        if places is not None:
            node_rows[~numeric] = len(kinds) + places.of_nodes[~numeric]
        self.count = len(kinds) + (0 if places is None else places.count)
        self.features = frozen(kinds // 2, np.int32)
        self.fills = frozen(np.where(kinds % 2, -np.inf, np.inf), np.float32)
        self.of_nodes = frozen(node_rows, np.int32)


class TreeRecords:
    """Inner nodes and leaves as records, the children of a node side by side (see kernels/trees/side_by_side.py).

    The records of a tree are its root, then the children of node 0, of node 1, ...
    """

    def __init__(self, ensemble: TreeEnsemble, places: SetPlaces | None = None) -> None:
        from rankforce.kernels.trees.side_by_side import LINK_LIMIT, ordered, score_side_by_side

        rows = ValueRows(ensemble, places)
        largest = 2 * int(ensemble.tree_leaves.max(initial=1)) - 1
        table = None if places is None else places.table
        self.possible = largest <= LINK_LIMIT and 0 < rows.count <= LINK_LIMIT and (places is None or table is not None)
        if not self.possible:
            return
        node_starts, leaf_starts = ensemble.node_starts, ensemble.leaf_starts
        starts = node_starts + leaf_starts
        tree = np.repeat(np.arange(ensemble.n_trees), np.diff(node_starts))
        first_child = starts[tree] + 1 + 2 * (np.arange(len(tree)) - node_starts[tree])
        place = starts[tree]  # of the roots; all other nodes follow
        values = np.zeros(starts[-1])
        values[starts[:-1]] = ensemble.leaf_value[leaf_starts[:-1]]  # of trees of one leaf; others are never read
        for side, children in enumerate((ensemble.left, ensemble.right)):
            inner = children >= 0
            place[(node_starts[tree] + children)[inner]] = (first_child + side)[inner]
            values[(first_child + side)[~inner]] = ensemble.leaf_value[(leaf_starts[tree] + ~children)[~inner]]
        thresholds = np.full(starts[-1], np.inf, dtype=np.float32)  # of leaves
        thresholds[place] = ensemble.threshold
        records = np.zeros((starts[-1], 2), dtype=np.uint32)
        records[place, 0] = (rows.of_nodes.astype(np.uint32) << 16) | (first_child - place).astype(np.uint32)
        records.view(np.int32)[:, 1] = ordered((thresholds + np.float32(0.0)).view(np.int32))
        self._trees = packed(rows.features, rows.fills, starts, records, values)
        self._sets = None if table is None else tuple(table)
        # the dispatcher itself: finding out that no argument is of a user's class takes as long as a tenth of the trees
        self._kernel = score_side_by_side if jit.PLAIN else score_side_by_side.own

    def add_scores(self, matrix: np.ndarray, first_tree: int, last_tree: int, scores: np.ndarray) -> bool:
        """Add trees to the scores; false where the matrix has infinite entries, and the scores then mean nothing."""
        features = matrix.view()
        features.setflags(write=False)  # the kernel is compiled for matrices that it cannot change
        return self._kernel(features, self._trees, self._sets, first_tree, last_tree, scores)


class NodeTests:
    """The tests of all nodes by word of leaves: what ``score_by_blocks`` reads (see kernels/trees/scoring.py)."""

    def __init__(self, ensemble: TreeEnsemble, places: SetPlaces | None = None) -> None:
        from rankforce.kernels.trees.scoring import WORD, count_tests, score_by_blocks, write_tests

        node_starts, leaf_starts = ensemble.node_starts, ensemble.leaf_starts
        left, right = ensemble.left, ensemble.right
        self.value_rows = ValueRows(ensemble, places)
        words = -(-ensemble.tree_leaves // WORD)
        self.word_starts = frozen(np.concatenate([[0], np.cumsum(words)]), np.int64)
        counts = np.zeros(self.word_starts[-1], dtype=np.int64)
        count_tests(node_starts, left, right, self.word_starts, counts)
        self.test_starts = frozen(np.concatenate([[0], np.cumsum(counts)]), np.int64)
        tests = int(self.test_starts[-1])
        rows, thresholds = np.empty(tests, dtype=np.int32), np.empty(tests, dtype=np.float32)
        masks, leaf_values = np.empty(tests, dtype=np.uint32), np.empty(len(ensemble.leaf_value))
        write_tests(
            node_starts, left, right, self.value_rows.of_nodes, ensemble.threshold,
            frozen(ensemble.leaf_value, np.float64), leaf_starts, self.word_starts, self.test_starts,
            rows, thresholds, masks, leaf_values,
        )  # fmt: skip
        self.sets = None
        if places is not None:
            of_set = rows >= len(self.value_rows.features)
            self.sets = self._set_tests(
                places.table, rows[of_set] - len(self.value_rows.features), masks[of_set], of_set
            )
            self.test_starts = self._starts(~of_set)
            rows, thresholds, masks = rows[~of_set], thresholds[~of_set], masks[~of_set]
        self.packed = packed(
            self.value_rows.features, self.value_rows.fills, self.word_starts, self.test_starts, rows, thresholds,
            masks, leaf_starts, leaf_values,
        )  # fmt: skip
        self._sets = None if self.sets is None else (tuple(self.sets.table), *self.sets[1:])
        self._kernel = score_by_blocks if jit.PLAIN else score_by_blocks.own
        whole = (0, ensemble.n_trees)
        self._kept_bundles = whole, self._bundles(*whole)  # of the range of trees that was scored last

    def _set_tests(self, table: Any, places: np.ndarray, masks: np.ndarray, chosen: np.ndarray) -> SetTests:
        from rankforce.kernels.trees.scoring import SetTests

        return SetTests(table, self._starts(chosen), frozen(places, np.int32), frozen(masks, np.uint32))

    def _starts(self, chosen: np.ndarray) -> np.ndarray:
        """Where the tests of each word begin if only those that are chosen by a mask are kept."""
        return frozen(np.append(0, np.cumsum(chosen))[self.test_starts], np.int64)

    def add_scores(self, matrix: np.ndarray, first_tree: int, last_tree: int, scores: np.ndarray) -> bool:
        """Add trees to the scores; false where few documents have infinite entries: scores then mean nothing."""
        key = (first_tree, last_tree)
        kept = self._kept_bundles  # read once: another thread may ask for other trees
        if kept[0] != key:
            kept = self._kept_bundles = key, self._bundles(*key)
        bundles = kept[1]
        features = matrix.view()
        features.setflags(write=False)  # the kernel is compiled for matrices that it cannot change
        arguments = (features, self.packed, bundles, self._sets)
        if len(scores) <= GROUP:
            return self._kernel(*arguments, 0, len(scores), scores)
        _over_documents(len(scores), lambda first, last: self._kernel(*arguments, first, last, scores))
        return True

    def _bundles(self, first_tree: int, last_tree: int) -> np.ndarray:
        """Where bundles of trees begin: a new one each time about ``BUNDLE_TESTS`` tests have been passed."""
        passed = self.test_starts[self.word_starts[first_tree : last_tree + 1]]
        if self.sets is not None:
            passed = passed + self.sets.starts[self.word_starts[first_tree : last_tree + 1]]
        number = (passed[:-1] - passed[0]) // BUNDLE_TESTS
        begins = np.flatnonzero(np.diff(number, prepend=-1)) + first_tree
        return frozen(np.append(begins, last_tree), np.int64)


def _over_documents(documents: int, work: Callable[[int, int], Any]) -> None:
    """Call ``work(first, last)`` on ranges of documents, in parallel where there are many."""
    if documents <= GROUP:
        work(0, documents)
        return
    starts = np.append(np.arange(0, documents, GROUP), documents)
    over_queries(starts, lambda first, last: work(int(starts[first]), int(starts[last])))
