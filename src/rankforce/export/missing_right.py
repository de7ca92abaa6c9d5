"""Trees in which every missing value goes right: for engines that send it there whatever a file says.

A node that sends missing values left becomes two: ``x < t`` and, on its right, "is x known", which is ``x <= largest``.
Known values go on as before, missing ones come to a copy of what was left::

        x <= t                       x <= t
       /      \\          becomes    /      \\
    L, missing   R               L      x <= largest
                                        /         \\
                                       R       L, x missing

Below such a question the answer to it is known, so that a feature is asked at most once on any way, and tests of a
feature that is missing fall away.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce.errors import SettingsError
from rankforce.export.forms import AdditiveTrees, ScaledTree
from rankforce.export.thresholds import LARGEST

MOST_TIMES = 32  # as many leaves as before
FEW_LEAVES = 1000  # count as so many

_Known = frozenset[tuple[int, bool]]  # features of which a way has shown that they are missing (True) or not


def with_missing_right(form: AdditiveTrees) -> AdditiveTrees:
    """The same sum of trees, with no missing value that goes left."""
    most = MOST_TIMES * max(sum(tree.n_leaves for tree in form.trees), FEW_LEAVES)
    trees: list[ScaledTree] = []
    for tree in form.trees:
        trees.append(_rebuilt(tree, most))
        most -= trees[-1].n_leaves
    return dataclasses.replace(form, trees=tuple(trees))


def with_missing_categories_right(form: AdditiveTrees) -> AdditiveTrees:
    """The same, where it is only sets of categories that send missing values right whatever a file says."""
    most = MOST_TIMES * max(sum(tree.n_leaves for tree in form.trees), FEW_LEAVES)
    trees: list[ScaledTree] = []
    for tree in form.trees:
        trees.append(_rebuilt(tree, most, tree.asks_set))
        most -= trees[-1].n_leaves
    return dataclasses.replace(form, trees=tuple(trees))


def _rebuilt(tree: ScaledTree, most: int, bound: np.ndarray | None = None) -> ScaledTree:
    """The tree with at most so many leaves; ``bound``: the nodes that cannot send missing values left (None: all)."""
    bound = np.ones(tree.n_nodes, dtype=bool) if bound is None else bound
    if not (tree.missing_left & bound).any():
        return tree
    growing = _Growing(tree, bound)
    waiting: list[tuple[int, _Known, int, int]] = [(tree.root, frozenset(), -1, 0)]
    while waiting:
        child, known, parent, side = waiting.pop()
        if len(growing.leaves) > most:
            raise SettingsError(
                f"the engine sends every missing value right, and trees that undo it would have more than {MOST_TIMES} "
                "times as many leaves: export as 'ranklib', or train smaller trees"
            )
        while child >= 0 and (int(tree.feature[child]), True) in known:
            child = int(tree.left[child] if tree.missing_left[child] else tree.right[child])
        if child < 0:
            growing.attach(parent, side, growing.add_leaf(~child))
            continue
        feature, left, right = int(tree.feature[child]), int(tree.left[child]), int(tree.right[child])
        node = growing.add_node(child, tree.threshold[child])
        growing.attach(parent, side, node)
        if not bound[child]:
            waiting += [(right, known, node, 1), (left, known, node, 0)]
            continue
        present, absent = known | {(feature, False)}, known | {(feature, True)}
        if (feature, False) in known or not tree.missing_left[child]:
            # what goes right may still be missing, unless it is known not to be
            waiting += [(right, known, node, 1), (left, present, node, 0)]
            continue
        asked = growing.add_node(child, LARGEST, compares=True)
        growing.attach(node, 1, asked)
        waiting += [(left, absent, asked, 1), (right, present, asked, 0), (left, present, node, 0)]
    return growing.finished()


class _Growing:
    """A tree made of nodes and leaves of another."""

    def __init__(self, tree: ScaledTree, bound: np.ndarray) -> None:
        self.tree = tree
        self.bound = bound
        self.nodes: list[list[int]] = []  # node of the tree, left, right
        self.thresholds: list[np.float32] = []
        self.listed: list[np.ndarray | None] = []
        self.leaves: list[int] = []

    def add_node(self, of: int, threshold: np.float32, compares: bool = False) -> int:
        self.nodes.append([of, 0, 0])
        self.listed.append(None if compares else self.tree.codes(of))
        self.thresholds.append(threshold)
        return len(self.nodes) - 1

    def add_leaf(self, of: int) -> int:
        self.leaves.append(of)
        return ~(len(self.leaves) - 1)

    def attach(self, parent: int, side: int, child: int) -> None:
        if parent >= 0:
            self.nodes[parent][1 + side] = child

    def finished(self) -> ScaledTree:
        table = np.array(self.nodes, dtype=np.int64).reshape(-1, 3)
        thresholds = np.array(self.thresholds, dtype=np.float32)
        of = table[:, 0]
        own = thresholds == self.tree.threshold[of]
        return ScaledTree(
            feature=self.tree.feature[table[:, 0]],
            threshold=thresholds,
            missing_left=self.tree.missing_left[of] & ~self.bound[of],
            left=table[:, 1].astype(np.int32),
            right=table[:, 2].astype(np.int32),
            gain=np.where(own, self.tree.gain[table[:, 0]], 0.0),
            leaf_value=self.tree.leaf_value[self.leaves],
            leaf_documents=self.tree.leaf_documents[self.leaves],
            listed=tuple(self.listed) if any(codes is not None for codes in self.listed) else (),
        )
