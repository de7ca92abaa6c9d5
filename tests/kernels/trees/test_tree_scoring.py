from __future__ import annotations

import numpy as np
import pytest

from rankforce.kernels.packed_arrays import part_of
from rankforce.kernels.trees.scoring import LEAF_VALUES, MASKS
from rankforce.kernels.trees.side_by_side import ordered
from rankforce.models.compiled_trees import CompiledTrees, NodeTests, TreeRecords
from rankforce.models.packed_arrays import packed
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
    masks, leaf_values = part_of(tests.packed, MASKS, np.uint32), part_of(tests.packed, LEAF_VALUES, np.float64)
    assert masks.tolist() == [1 << k for k in [*range(32), *range(32), *range(5)]]
    assert leaf_values.tolist() == (np.arange(70, dtype=np.float32) + np.float32(0.1)).astype(float).tolist()


def test_parts_of_a_packed_array_are_the_arrays() -> None:
    arrays = [
        np.arange(3, dtype=np.int32), np.array([], dtype=np.float64), np.array([1.5, -0.0], dtype=np.float32),
        np.array([2**32 - 1], dtype=np.uint32), np.array([-(2**62), 7]),
    ]  # fmt: skip
    whole = packed(*arrays)
    assert whole.dtype == np.int64
    assert not whole.flags.writeable
    for number, array in enumerate(arrays):
        part = part_of(whole, number, array.dtype)
        assert part.dtype == array.dtype
        assert part.tobytes() == array.tobytes()


EDGES = np.array([-3e38, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1e-38, 1.0, 3e38], dtype=np.float32)


def test_the_order_of_integers_is_that_of_the_floats() -> None:
    every = np.concatenate([[-np.inf], EDGES, [np.inf]]).astype(np.float32)
    keys = ordered((every + np.float32(0.0)).view(np.int32))
    np.testing.assert_array_equal(keys[:, None] > keys, every[:, None] > every)


def test_every_way_of_scoring_compares_as_floats_do() -> None:
    """Zeros of both signs are equal, the smallest numbers are not zero, and missing values go where a node says."""
    both = [
        Tree(
            feature=np.array([0]), threshold=np.array([edge]), left=np.array([-1]), right=np.array([-2]),
            missing_left=np.array([missing_left]), gain=np.ones(1), leaf_value=np.array([1.0, 2.0]) * 4.0**k,
            leaf_documents=np.ones(2, dtype=np.int64),
        )
        for k, edge in enumerate(EDGES) for missing_left in (False, True)
    ]  # fmt: skip
    model = TreeEnsemble.from_trees(both, ["a"])
    matrix = np.append(EDGES, np.float32(np.nan))[:, None]
    wanted = np.zeros(len(matrix))
    for tree in both:
        left = np.where(np.isnan(matrix[:, 0]), tree.missing_left[0], matrix[:, 0] <= tree.threshold[0])
        wanted += np.where(left, tree.leaf_value[0], tree.leaf_value[1])
    for way in (NodeTests(model), TreeRecords(model)):
        scores = np.zeros(len(matrix))
        assert way.add_scores(matrix, 0, len(both), scores)
        np.testing.assert_array_equal(scores, wanted)
