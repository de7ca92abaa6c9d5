"""Tree scoring with compiled kernels: what they need of an ensemble, laid out once, and which of them to call."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce.compiling import jit
from rankforce.compiling.intrinsics import DOCUMENT_BLOCK
from rankforce.models.model import frozen
from rankforce.threads import over_queries

if TYPE_CHECKING:
    from rankforce.models.tree_ensemble import TreeEnsemble

FEW_DOCUMENTS = 8  # up to here walking is faster than a block of 64; of large trees, up to twice as many
LARGE_TREE = 400  # leaves; above this walking is faster than all tests of the tree
BUNDLE_TESTS = 4096  # tests (48 kB) that stay in the second-level cache while blocks of documents pass through


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
        self.largest = int(ensemble.tree_leaves.max(initial=1))
        self._tests: NodeTests | None = None

    def add_scores(self, matrix: np.ndarray, first_tree: int, last_tree: int, scores: np.ndarray) -> None:
        """Add trees ``first_tree`` to ``last_tree`` to the scores, in tree order."""
        if first_tree == last_tree or not len(scores):
            return
        few = FEW_DOCUMENTS * (1 if self.largest <= DOCUMENT_BLOCK else 2)
        rest = len(scores) % DOCUMENT_BLOCK  # of the last block, which costs as much as a full one
        by_block = 0 if self.largest > LARGE_TREE else len(scores) - (rest if rest <= few else 0)
        if by_block:
            if self._tests is None:
                self._tests = NodeTests(self.ensemble)
            self._tests.add_scores(matrix[:by_block], first_tree, last_tree, scores[:by_block])
        if by_block < len(scores):
            self._walk_scores(matrix[by_block:], first_tree, last_tree, scores[by_block:])

    def _walk_scores(self, matrix: np.ndarray, first_tree: int, last_tree: int, scores: np.ndarray) -> None:
        from rankforce.kernels.trees.scoring import score_by_walking

        roots, nodes, thresholds = self.ensemble.walk
        values = self.ensemble.leaf_value
        roots = roots[first_tree:last_tree]

        def work(first: int, last: int) -> None:
            score_by_walking(matrix, roots, nodes, thresholds, values, first, last, scores)

        _over_documents(len(scores), work)

    def find_leaves(self, matrix: np.ndarray, out: np.ndarray) -> None:
        """The leaf of each document in each tree, counted over all trees: out int32 (documents, trees)."""
        find_leaves(matrix, *self.ensemble.walk, out)


def find_leaves(
    matrix: np.ndarray, roots: np.ndarray, nodes: np.ndarray, thresholds: np.ndarray, out: np.ndarray
) -> None:
    """As ``tree_walk.find_leaves``, compiled."""
    from rankforce.kernels.trees.scoring import leaves_by_walking

    _over_documents(
        len(matrix), lambda first, last: leaves_by_walking(matrix, roots, nodes, thresholds, first, last, out)
    )


class NodeTests:
    """The tests of all nodes by word of leaves: what ``score_by_blocks`` reads (see kernels/tree_scoring.py)."""

    def __init__(self, ensemble: TreeEnsemble) -> None:
        from rankforce.kernels.trees.scoring import WORD, count_tests, write_tests

        node_starts, leaf_starts = ensemble.node_starts, ensemble.leaf_starts
        left, right = ensemble.left, ensemble.right
        # one row per feature and side of its missing values that occurs
        sides = ensemble.feature.astype(np.int64) * 2 + ensemble.missing_left
        kinds, node_rows = np.unique(sides, return_inverse=True)
        self.row_features = frozen(kinds // 2, np.int32)
        self.row_fills = frozen(np.where(kinds % 2, -np.inf, np.inf), np.float32)
        words = -(-ensemble.tree_leaves // WORD)
        self.word_starts = frozen(np.concatenate([[0], np.cumsum(words)]), np.int64)
        counts = np.zeros(self.word_starts[-1], dtype=np.int64)
        count_tests(node_starts, left, right, self.word_starts, counts)
        self.test_starts = frozen(np.concatenate([[0], np.cumsum(counts)]), np.int64)
        tests = int(self.test_starts[-1])
        rows, thresholds = np.empty(tests, dtype=np.int32), np.empty(tests, dtype=np.float32)
        masks, leaf_values = np.empty(tests, dtype=np.uint32), np.empty(len(ensemble.leaf_value))
        write_tests(
            node_starts, left, right, frozen(node_rows, np.int32), ensemble.threshold, ensemble.leaf_value, leaf_starts,
            self.word_starts, self.test_starts, rows, thresholds, masks, leaf_values,
        )  # fmt: skip
        self.rows, self.thresholds = frozen(rows, np.int32), frozen(thresholds, np.float32)
        self.masks, self.leaf_values = frozen(masks, np.uint32), frozen(leaf_values, np.float64)
        self.leaf_starts = leaf_starts
        whole = (0, ensemble.n_trees)
        self._kept_bundles = whole, self._bundles(*whole)  # of the range of trees that was scored last

    def add_scores(self, matrix: np.ndarray, first_tree: int, last_tree: int, scores: np.ndarray) -> None:
        from rankforce.kernels.trees.scoring import score_by_blocks

        key = (first_tree, last_tree)
        kept = self._kept_bundles  # read once: another thread may ask for other trees
        if kept[0] != key:
            kept = self._kept_bundles = key, self._bundles(*key)
        bundles = kept[1]

        def work(first: int, last: int) -> None:
            score_by_blocks(
                matrix, self.row_features, self.row_fills, bundles, self.word_starts, self.test_starts, self.rows,
                self.thresholds, self.masks, self.leaf_starts, self.leaf_values, first, last, scores,
            )  # fmt: skip

        _over_documents(len(scores), work)

    def _bundles(self, first_tree: int, last_tree: int) -> np.ndarray:
        """Where bundles of trees begin: a new one each time about ``BUNDLE_TESTS`` tests have been passed."""
        passed = self.test_starts[self.word_starts[first_tree : last_tree + 1]]
        number = (passed[:-1] - passed[0]) // BUNDLE_TESTS
        begins = np.flatnonzero(np.diff(number, prepend=-1)) + first_tree
        return frozen(np.append(begins, last_tree), np.int64)


def _over_documents(documents: int, work: Callable[[int, int], Any]) -> None:
    """Call ``work(first, last)`` on ranges of documents, in parallel where there are many."""
    from rankforce.kernels.trees.scoring import GROUP

    if documents <= GROUP:
        work(0, documents)
        return
    starts = np.append(np.arange(0, documents, GROUP), documents)
    over_queries(starts, lambda first, last: work(int(starts[first]), int(starts[last])))
