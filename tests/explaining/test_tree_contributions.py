"""Shapley values of trees: against their definition, and adding up whatever the trees."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.explaining import slow_twin
from tests.models.random_trees import random_ensemble, random_features

import rankforce as rf
from rankforce.explaining import tree_contributions
from rankforce.explaining.tree_contributions import against_references, as_ensemble, path_dependent
from rankforce.models.dag import RankingGraph
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.threads import using_threads
from rankforce.trees.tree import Tree

THRESHOLDS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0], dtype=np.float32)


def on_thresholds(seed: int, documents: int, features: int, far: float = np.inf) -> np.ndarray:
    """Values on thresholds, one float beside them, missing, far out."""
    rng = np.random.default_rng(seed)
    beside = [THRESHOLDS, np.nextafter(THRESHOLDS, np.float32(9)), np.nextafter(THRESHOLDS, np.float32(-9))]
    values = np.concatenate([*beside, np.array([np.nan, far, -far, 0.0, -0.0], dtype=np.float32)])
    return rng.choice(values, (documents, features)).astype(np.float32)


@pytest.mark.parametrize(("leaves", "features"), [([1], 2), ([2], 1), ([8, 1, 3], 3), ([12, 7], 5), ([20], 4)])
@pytest.mark.parametrize("seed", [0, 1])
def test_path_dependent_is_the_definition(leaves, features, seed):
    model = random_ensemble(seed, leaves, features, values=THRESHOLDS)
    rows = on_thresholds(seed, 6, features)
    expected, found = path_dependent(model, rows)
    assert expected == pytest.approx(
        sum(slow_twin.expected_value(tree, rows[0], frozenset()) for tree in model.trees), abs=1e-12
    )
    for row, contributions in zip(rows, found, strict=True):
        np.testing.assert_allclose(contributions, slow_twin.path_dependent(model, row), atol=1e-12)


@pytest.mark.parametrize("seed", [2, 3])
def test_nodes_without_documents(seed):
    model = random_ensemble(seed, [9, 6], 3, values=THRESHOLDS)
    documents = np.array(model.leaf_documents)
    documents[np.random.default_rng(seed).random(len(documents)) < 0.6] = 0
    documents[[0, -1]] = 5
    model = dataclasses.replace(model, leaf_documents=documents)
    rows = on_thresholds(seed, 5, 3)
    _, found = path_dependent(model, rows)
    for row, contributions in zip(rows, found, strict=True):
        np.testing.assert_allclose(contributions, slow_twin.path_dependent(model, row), atol=1e-12)


@pytest.mark.parametrize(("leaves", "features"), [([1], 2), ([2], 1), ([8, 1, 3], 3), ([12, 7], 5)])
@pytest.mark.parametrize("references", [1, 4, 12])
def test_against_references_is_the_definition(leaves, features, references):
    model = random_ensemble(7, leaves, features, values=THRESHOLDS)
    rows, others = on_thresholds(1, 5, features, 1e30), on_thresholds(2, references, features, 1e30)
    found = against_references(model, rows, others)
    for row, contributions in zip(rows, found, strict=True):
        np.testing.assert_allclose(contributions, slow_twin.against_references(model._scores, row, others), atol=1e-12)


@pytest.mark.compiled_only
@pytest.mark.parametrize("leaves", [[31] * 8 + [1, 2], [150]])
def test_patterns_and_walks_agree(leaves, monkeypatch):
    """By patterns of references, and by a walk for each: two ways to the same sums."""
    model = random_ensemble(2, leaves, 25)
    rows, others = random_features(1, 30, 25), np.repeat(random_features(2, 20, 25), 2, axis=0)
    by_patterns = against_references(model, rows, others)
    monkeypatch.setattr(tree_contributions, "FEW_REFERENCES", 1000)
    np.testing.assert_allclose(against_references(model, rows, others), by_patterns, atol=1e-12)


@pytest.mark.compiled_only
def test_they_add_up_and_threads_do_not_matter():
    model = random_ensemble(0, [31] * 40 + [200], 30)
    rows = random_features(1, 300, 30)
    with using_threads(1):
        expected, alone = path_dependent(model, rows)
        against = against_references(model, rows[:40], rows[200:203])
        by_patterns = against_references(model, rows[:40], rows[200:230])
    np.testing.assert_allclose(alone.sum(axis=1) + expected, model._scores(rows), atol=1e-11)
    difference = model._scores(rows[:40]) - model._scores(rows[200:203]).mean()
    np.testing.assert_allclose(against.sum(axis=1), difference, atol=1e-11)
    with using_threads(3):
        assert path_dependent(model, rows)[1].tobytes() == alone.tobytes()
        assert against_references(model, rows[:40], rows[200:203]).tobytes() == against.tobytes()
        assert against_references(model, rows[:40], rows[200:230]).tobytes() == by_patterns.tobytes()
    # what stands beside a document does not matter either
    assert path_dependent(model, rows[37:38])[1].tobytes() == alone[37:38].tobytes()


@pytest.mark.compiled_only
def test_paths_of_very_many_features():
    """A vine: each split leads on to the next, of another feature. Gauss's rule needs 100 points, and is exact."""
    depth = 200
    nodes = np.arange(depth)
    vine = Tree(
        feature=nodes.astype(np.int32),
        threshold=np.zeros(depth, dtype=np.float32),
        missing_left=np.ones(depth, dtype=bool),
        left=~nodes.astype(np.int32),
        right=np.append(nodes[1:], ~depth).astype(np.int32),
        gain=np.ones(depth),
        leaf_value=np.linspace(-1, 1, depth + 1).astype(np.float32),
        leaf_documents=np.arange(1, depth + 2),
    )
    model = TreeEnsemble.from_trees([vine], [str(k) for k in range(depth)])
    rows = np.vstack([np.ones(depth), -np.ones(depth), random_features(0, 5, depth)]).astype(np.float32)
    expected, found = path_dependent(model, rows)
    np.testing.assert_allclose(found.sum(axis=1) + expected, model._scores(rows), atol=1e-12)


def test_a_model_without_counts_is_refused_with_the_way_out():
    model = random_ensemble(0, [4, 5], 3)
    bare = dataclasses.replace(model, leaf_documents=np.zeros_like(model.leaf_documents))
    with pytest.raises(rf.SettingsError, match=r"tree 0 does not say how many .* background=..."):
        path_dependent(bare, random_features(0, 2, 3))
    assert against_references(bare, random_features(0, 2, 3), random_features(1, 1, 3)).any()


def test_a_graph_becomes_a_tree_of_its_ways():
    graph = RankingGraph(
        feature_names=("a", "b", "c"),
        feature=[0, 1, 2],
        threshold=[0.0, 0.5, -0.5],
        missing_left=[True, False, True],
        left=[1, ~0, ~1],
        right=[2, 2, ~2],
        gain=[1.0, 1.0, 1.0],
        documents=[3, 4, 5],
    )
    tree = as_ensemble(graph)
    rows = on_thresholds(0, 50, 3, far=1e38)  # infinite entries are refused before anything is scored
    assert tree.tree_leaves.tolist() == [5]
    np.testing.assert_array_equal(tree._scores(rows), graph._scores(rows))
    found = against_references(tree, rows[:4], rows[10:12])
    for row, contributions in zip(rows, found, strict=False):
        np.testing.assert_allclose(contributions, slow_twin.against_references(graph._scores, row, rows[10:12]))
    single = RankingGraph(
        feature_names=("a",), feature=[], threshold=[], missing_left=[], left=[], right=[], gain=[], documents=[2]
    )
    assert as_ensemble(single)._scores(rows[:, :1]).tolist() == single._scores(rows[:, :1]).tolist()


def test_a_graph_of_too_many_ways_is_refused():
    tests = 40
    chain = np.append(np.arange(1, tests), ~0)
    graph = RankingGraph(
        feature_names=("a",),
        feature=np.zeros(tests),
        threshold=np.linspace(-1, 1, tests),
        missing_left=np.ones(tests, dtype=bool),
        left=chain,
        right=np.append(chain[:-1], ~1),
        gain=np.ones(tests),
        documents=[1, 1],
    )
    with pytest.raises(rf.SettingsError, match="ways through"):
        as_ensemble(graph)
