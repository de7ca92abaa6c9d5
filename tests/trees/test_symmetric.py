"""Symmetric trees against a slow, obvious grower."""

from __future__ import annotations

import numpy as np
import pytest
from tests.trees.reference_symmetric import grow_symmetric_reference
from tests.trees.test_grower import CASES, DEFAULTS, check_whole_tree, integers, large, made, routed, same

from rankforce.binning.binned import Binned
from rankforce.compiling import jit
from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError
from rankforce.kernels.trees.symmetric import grow_symmetric_tree
from rankforce.threads import using_threads
from rankforce.trees.grower import Grower


@pytest.mark.parametrize("split", ["newton", "least_squares"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_whole_trees_equal_the_reference(case, split, seed):
    check_whole_tree("symmetric", grow_symmetric_reference, case, split, seed)


def test_leaves_of_a_level_ask_the_same_question():
    _, binned, forces, curvatures = made(3)
    tree = Grower(binned, growth="symmetric", n_leaves=16, min_documents=3).grow(forces, curvatures).structure
    level = np.zeros(tree.n_nodes, dtype=int)
    for node in range(tree.n_nodes):
        for child in (tree.left[node], tree.right[node]):
            if child >= 0:
                level[child] = level[node] + 1
    questions = {(k, int(f), float(t)) for k, f, t in zip(level, tree.feature, tree.threshold, strict=True)}
    # A leaf that a test could not split answers the next one in its place.
    assert len({question[1:] for question in questions}) <= 4 < tree.n_nodes


def test_the_last_level_splits_the_leaves_that_gain_most():
    _, binned, forces, curvatures = made(0)
    whole = Grower(binned, growth="symmetric", n_leaves=8, min_documents=4).grow(forces, curvatures).structure
    part = Grower(binned, growth="symmetric", n_leaves=7, min_documents=4).grow(forces, curvatures).structure
    assert (whole.n_leaves, part.n_leaves) == (8, 7)
    last = sorted(whole.gain[3:])
    assert sorted(part.gain[3:]) == last[1:]


@pytest.mark.parametrize("split", ["newton", "least_squares"])
def test_a_sample_of_documents_and_of_features(split):
    data, binned, forces, curvatures = made(5)
    rows = np.flatnonzero(np.repeat(np.arange(12) % 3 != 0, 10)).astype(np.int32)
    features = np.array([True, False, True, True, False, False, True, True, False, True, True])
    grower = Grower(binned, growth="symmetric", split=split, **DEFAULTS)
    grown = grower.grow(forces, curvatures, rows=rows, features=features)
    q, r, _ = integers(binned, forces, curvatures if split == "newton" else None, rows)
    expected = grow_symmetric_reference(
        binned, q, r, usable=features[binned.binning.features].tolist(), documents=rows.tolist(), **DEFAULTS
    )
    assert [leaf.documents for leaf in expected.leaves] == [
        [d for d in rows if grown.leaf_of[d] == leaf] for leaf in range(grown.structure.n_leaves)
    ]
    np.testing.assert_array_equal(grown.leaf_of, routed(grown.structure, binned, data.features))


def test_low_memory_grows_the_same_tree():
    data, binned, forces, curvatures = made(3)
    low = Binned.of(data, max_bins=16, memory="low")
    trees = [Grower(one, growth="symmetric", **DEFAULTS).grow(forces, curvatures) for one in (binned, low)]
    assert same(*trees)


@pytest.mark.parametrize("forces", [np.zeros(120), np.ones(120)])
def test_nothing_to_gain_is_a_single_leaf(forces):
    _, binned, _, _ = made(1)
    for split in ("newton", "least_squares"):
        grown = Grower(binned, growth="symmetric", split=split, **DEFAULTS).grow(forces, np.ones(120))
        assert grown.structure.n_leaves == 1
        assert (grown.leaf_of == 0).all()


def test_constant_features_only():
    data = Dataset(np.ones((50, 3)), qid=np.zeros(50, dtype=int))
    grown = Grower(Binned.of(data), growth="symmetric").grow(np.arange(50.0), np.ones(50))
    assert grown.structure.n_leaves == 1


def test_another_growth_is_refused():
    with pytest.raises(SettingsError, match="growth must be one of 'leafwise', 'symmetric', not 'depthwise'"):
        Grower(made(1)[1], growth="depthwise")


@pytest.mark.compiled_only
@pytest.mark.parametrize("split", ["newton", "least_squares"])
def test_same_bytes_for_any_threads_and_order_of_queries(split, monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "5")  # more threads than processors may work on a tree
    trees = []
    for threads, shuffled in ((1, False), (2, False), (5, False), (2, True)):
        with using_threads(threads):
            data, forces, curvatures = large(shuffled)
            grower = Grower(Binned.of(data), growth="symmetric", n_leaves=60, min_documents=15, split=split, seed=3)
            for number in range(3):
                trees.append(grower.grow(forces, curvatures, tree_number=number))
    first = trees[:3]
    assert all(grown.structure.n_leaves >= 16 for grown in first), [grown.structure.n_leaves for grown in first]
    for k, grown in enumerate(trees):
        assert same(grown, first[k % 3])


@pytest.mark.compiled_only
@pytest.mark.skipif(jit.PLAIN, reason="nothing is compiled")
def test_the_kernel_is_compiled_once():
    before = set(grow_symmetric_tree.own.signatures)  # data with categories has a variant of its own
    for split, memory, settings in (("newton", "fast", {}), ("least_squares", "low", {"l2": 1, "max_depth": 3})):
        _, binned, forces, curvatures = made(2, memory=memory)
        monotone = [1] * 11 if memory == "low" else None
        Grower(binned, growth="symmetric", split=split, monotone=monotone, **DEFAULTS | settings).grow(
            forces, curvatures
        )
    assert len(set(grow_symmetric_tree.own.signatures) - before) <= 1
