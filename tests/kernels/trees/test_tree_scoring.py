from __future__ import annotations

import numpy as np
import pytest

from rankforce.models.compiled_trees import CompiledTrees, NodeTests, TreeRecords
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.trees.tree import Tree


def chain(leaves: int, first_feature: int) -> Tree:
    """A tree whose node k sends x_f <= k to leaf k, f alternating: leaf values say which leaf was reached."""
    nodes = leaves - 1
    return Tree(
        feature=(np.arange(nodes) + first_feature) % 2,
        threshold=np.arange(nodes, dtype=np.float32),
        missing_left=np.arange(nodes) % 3 == 0,
        left=~np.arange(nodes, dtype=np.int32),
        right=np.append(np.arange(1, nodes), ~nodes)[-nodes:].astype(np.int32) if nodes else np.empty(0, np.int32),
        gain=np.ones(nodes),
        leaf_value=np.arange(leaves, dtype=np.float32) + 0.1,
        leaf_documents=np.ones(leaves, dtype=np.int64),
    )


def reached(leaves: int, first_feature: int, row: np.ndarray) -> int:
    for node in range(leaves - 1):
        value = row[(node + first_feature) % 2]
        if node % 3 == 0 if np.isnan(value) else value <= node:
            return node
    return leaves - 1


SHAPES = [(1, 0), (2, 1), (33, 0), (70, 1)]
MODEL = TreeEnsemble.from_trees([chain(*shape) for shape in SHAPES], ["a", "b"])
MATRIX = np.array([[0, 0], [1, 40], [69, 3], [99, 99], [np.nan, 50], [50, np.nan], [np.nan, np.nan]], dtype=np.float32)
MATRIX.setflags(write=False)
LEAVES = np.array([[reached(*shape, row) for shape in SHAPES] for row in MATRIX])


def expected(first: int, last: int) -> np.ndarray:
    scores = np.zeros(len(MATRIX))
    for tree in range(first, last):
        scores += MODEL.trees[tree].leaf_value[LEAVES[:, tree]].astype(np.float64)
    return scores


@pytest.mark.parametrize(("first", "last"), [(0, 4), (1, 3), (0, 1), (3, 4)])
def test_walking_and_blocks_reach_the_same_leaves(first: int, last: int) -> None:
    for way in (CompiledTrees(MODEL), NodeTests(MODEL), TreeRecords(MODEL)):
        scores = np.zeros(len(MATRIX))
        way.add_scores(MATRIX, first, last, scores)
        np.testing.assert_array_equal(scores, expected(first, last))


def test_leaves() -> None:
    out = np.empty((len(MATRIX), len(SHAPES)), dtype=np.int32)
    CompiledTrees(MODEL).find_leaves(MATRIX, out)
    np.testing.assert_array_equal(out - MODEL.leaf_starts[:-1], LEAVES)


def test_tests_rule_out_the_left_side_of_each_node() -> None:
    tests = NodeTests(TreeEnsemble.from_trees([chain(70, 0)], ["a", "b"]))
    assert tests.test_starts.tolist() == [0, 32, 64, 69]  # node k touches the word of leaf k only
    assert tests.masks.tolist() == [1 << k for k in [*range(32), *range(32), *range(5)]]
    assert tests.leaf_values.tolist() == (np.arange(70, dtype=np.float32) + np.float32(0.1)).astype(float).tolist()
