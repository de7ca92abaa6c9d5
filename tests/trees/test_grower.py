"""Whole trees against a slow, obvious grower."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.trees.reference_grower import grow_reference, small_data

from rankforce.binning.binned import Binned
from rankforce.compiling import jit
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError
from rankforce.kernels.trees.leafwise import grow_tree
from rankforce.threads import using_threads
from rankforce.trees.grower import Grower
from rankforce.trees.quantised import quantise

CASES = {
    "plain": {},
    "many leaves": {"n_leaves": 40, "min_documents": 1},
    "few documents": {"n_leaves": 12, "min_documents": 9},
    "large minimum": {"n_leaves": 12, "min_documents": 35},
    "depth": {"n_leaves": 12, "max_depth": 2},
    "l2": {"l2": 3.5},
    "least gain": {"min_gain": 0.6, "n_leaves": 30},
    "monotone": {"monotone": [1, -1, 0, 1, 0, 0, 0, -1, 1, 0, 0], "n_leaves": 14},
    "monotone with l2 and minimum": {"monotone": [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1], "l2": 1.0, "min_documents": 8},
}
DEFAULTS = {"n_leaves": 8, "min_documents": 4}


def made(seed, **options):
    X, rng = small_data(seed)
    data = Dataset(X, qid=np.repeat(np.arange(12), 10))
    binned = Binned.of(data, max_bins=16, **options)
    signal = np.nan_to_num(X[:, 1]) + 0.3 * X[:, 0] - np.isnan(X[:, 3]) + rng.normal(size=len(X)) * 0.3
    forces = signal - signal.mean()
    curvatures = rng.random(len(X)) + 0.05
    idle = rng.random(len(X)) < 0.1  # documents without any pair
    forces[idle] = 0.0
    curvatures[idle] = 0.0
    return data, binned, forces, curvatures


def integers(binned, forces, curvatures, rows=None):
    """The entries that a grower makes, taken apart."""
    documents = np.arange(binned.n_documents, dtype=np.int32) if rows is None else rows
    entries = np.zeros(binned.n_documents, dtype=np.int64)
    scales = quantise(forces, curvatures, documents, binned.query_starts, binned.query_hashes, 0, 0, entries)
    q = [int(entry) >> scales.shift for entry in entries]
    r = [int(entry) & ((1 << scales.shift) - 1) for entry in entries]
    return q, r, scales


def check_same(grown, expected, binned, scales):
    tree = grown.structure
    splits = (grown.column, grown.split_bin, tree.missing_left)
    assert [(int(c), int(b), bool(m)) for c, b, m in zip(*splits, strict=True)] == (expected.splits)
    assert [[int(a), int(b)] for a, b in zip(tree.left, tree.right, strict=True)] == expected.children
    assert tree.leaf_documents.tolist() == [len(leaf.documents) for leaf in expected.leaves]
    np.testing.assert_allclose(tree.gain, np.array(expected.gains) * scales.gain_unit, rtol=1e-9)
    for number, leaf in enumerate(expected.leaves):
        assert (grown.leaf_of[leaf.documents] == number).all()
    np.testing.assert_allclose(grown.lower, [leaf.lower * scales.value_unit for leaf in expected.leaves], rtol=1e-12)
    np.testing.assert_allclose(grown.upper, [leaf.upper * scales.value_unit for leaf in expected.leaves], rtol=1e-12)


def check_whole_tree(growth, reference, case, split, seed):
    """Grow a tree of one of the cases and compare it with what the reference grows."""
    settings = DEFAULTS | CASES[case]
    _, binned, forces, curvatures = made(seed)
    grown = Grower(binned, growth=growth, split=split, **settings).grow(forces, curvatures)
    q, r, scales = integers(binned, forces, curvatures if split == "newton" else None)
    monotone = settings.pop("monotone", None)
    expected = reference(
        binned,
        q,
        r,
        n_leaves=settings["n_leaves"],
        min_documents=settings["min_documents"],
        max_depth=settings.get("max_depth", math.inf),
        l2=math.ldexp(settings.get("l2", 0.0), scales.curvature_exponent),
        min_gain=settings.get("min_gain", 0.0) / scales.gain_unit,
        monotone=None if monotone is None else [monotone[f] for f in binned.binning.features],
    )
    assert len(expected.leaves) > 1
    check_same(grown, expected, binned, scales)


@pytest.mark.parametrize("split", ["newton", "least_squares"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_whole_trees_equal_the_reference(case, split, seed):
    check_whole_tree("leafwise", grow_reference, case, split, seed)


@pytest.mark.parametrize("split", ["newton", "least_squares"])
def test_a_sample_of_documents_and_of_features(split):
    _, binned, forces, curvatures = made(5)
    rows = np.flatnonzero(np.repeat(np.arange(12) % 3 != 0, 10)).astype(np.int32)
    features = np.array([True, False, True, True, False, False, True, True, False, True, True])
    grown = Grower(binned, split=split, **DEFAULTS).grow(forces, curvatures, rows=rows, features=features)
    q, r, _ = integers(binned, forces, curvatures if split == "newton" else None, rows)
    expected = grow_reference(
        binned, q, r, usable=features[binned.binning.features].tolist(), documents=rows.tolist(), **DEFAULTS
    )
    assert [leaf.documents for leaf in expected.leaves] == [
        [d for d in rows if grown.leaf_of[d] == leaf] for leaf in range(grown.structure.n_leaves)
    ]
    assert set(grown.structure.feature.tolist()) <= set(np.flatnonzero(features).tolist())
    assert (grown.leaf_of >= 0).all()
    np.testing.assert_array_equal(grown.leaf_of, routed(grown.structure, binned, made(5)[0].features))


def routed(tree, binned, X):
    """The leaf of every row of X, by thresholds."""
    leaves = []
    for x in X:
        node = 0 if tree.n_nodes else -1
        while node >= 0:
            value = x[tree.feature[node]]
            left = tree.missing_left[node] if np.isnan(value) else value <= tree.threshold[node]
            node = tree.left[node] if left else tree.right[node]
        leaves.append(~node)
    return leaves


def test_leaves_by_bins_are_leaves_by_thresholds():
    data, binned, forces, curvatures = made(7)
    grown = Grower(binned, n_leaves=20, min_documents=2).grow(forces, curvatures)
    np.testing.assert_array_equal(grown.leaf_of, routed(grown.structure, binned, data.features))
    np.testing.assert_array_equal(grown.route(binned), grown.leaf_of)
    other, _ = small_data(99)
    validation = Dataset(other * 1.7, qid=np.zeros(len(other), dtype=int))
    np.testing.assert_array_equal(
        grown.route(Binned.by(binned.binning, validation)), routed(grown.structure, binned, validation.features)
    )


def same(one, two):
    return all(
        getattr(one.structure, name).tobytes() == getattr(two.structure, name).tobytes()
        for name in ("feature", "threshold", "missing_left", "left", "right", "gain", "leaf_documents")
    )


def test_low_memory_grows_the_same_tree():
    data, binned, forces, curvatures = made(3)
    low = Binned.of(data, max_bins=16, memory="low")
    assert low.columns is None
    assert same(Grower(binned, **DEFAULTS).grow(forces, curvatures), Grower(low, **DEFAULTS).grow(forces, curvatures))


@pytest.mark.parametrize("growth", ["leafwise", "symmetric"])
@pytest.mark.parametrize("histogram_bytes", [2**30, 1])
def test_one_grower_grows_trees_of_any_size(growth, histogram_bytes):
    """What it keeps from one tree to the next is for the largest, and leaves no trace in a smaller one."""
    _, binned, forces, curvatures = made(4)
    options = {"growth": growth, "min_documents": 2, "histogram_bytes": histogram_bytes}
    grower = Grower(binned, n_leaves=17, **options)
    for n_leaves in (9, 17, 2, 1, 12, None, 3):
        alone = Grower(binned, n_leaves=n_leaves or 17, **options).grow(forces, curvatures)
        assert alone.structure.n_leaves == (n_leaves or 17) or growth == "symmetric"
        assert same(grower.grow(forces, curvatures, n_leaves=n_leaves), alone)
    with pytest.raises(SettingsError, match="a tree of 18 leaves is larger than this grower was made for"):
        grower.grow(forces, curvatures, n_leaves=18)


def test_monotone_trees_are_monotone():
    X, rng = small_data(11, missing=0.0)
    data = Dataset(X, qid=np.repeat(np.arange(12), 10))
    binned = Binned.of(data)
    forces = np.sin(3 * X[:, 1]) + X[:, 1] + rng.normal(size=len(X)) * 0.2
    monotone = [0, 1, *[0] * 9]
    grown = Grower(binned, n_leaves=20, min_documents=2, monotone=monotone).grow(forces, np.ones(len(X)))
    free = np.bincount(grown.leaf_of, forces) / np.bincount(grown.leaf_of)
    values = np.clip(free, grown.lower, grown.upper)
    for x in X[:20]:
        line = np.repeat(x[None], 60, axis=0)
        line[:, 1] = np.linspace(-4, 4, 60)
        assert (np.diff(values[routed(grown.structure, binned, line)]) >= 0).all()


@pytest.mark.parametrize("forces", [np.zeros(120), np.ones(120)])
def test_nothing_to_gain_is_a_single_leaf(forces):
    _, binned, _, _ = made(1)
    for split in ("newton", "least_squares"):
        grown = Grower(binned, split=split, **DEFAULTS).grow(forces, np.ones(120))
        assert grown.structure.n_leaves == 1
        assert grown.structure.n_nodes == 0
        assert (grown.leaf_of == 0).all()
        assert (grown.route(binned) == 0).all()
        assert grown.structure.leaf_documents.tolist() == [120]


def test_constant_features_only():
    data = Dataset(np.ones((50, 3)), qid=np.zeros(50, dtype=int))
    grown = Grower(Binned.of(data)).grow(np.arange(50.0), np.ones(50))
    assert grown.structure.n_leaves == 1
    assert (grown.leaf_of == 0).all()


def test_missing_against_the_rest():
    X = np.full((40, 1), 7.0)
    X[:15] = np.nan
    grown = Grower(Binned.of(Dataset(X, qid=np.zeros(40, dtype=int))), min_documents=1).grow(
        np.r_[np.ones(15), -np.ones(25)], np.ones(40)
    )
    assert grown.structure.n_leaves == 2
    assert not grown.structure.missing_left[0]
    assert grown.structure.threshold[0] == np.finfo(np.float32).max
    assert grown.leaf_of.tolist() == [1] * 15 + [0] * 25


def test_mistakes_are_explained():
    _, binned, forces, curvatures = made(1)
    grower = Grower(binned)
    with pytest.raises(DataError, match="finite"):
        grower.grow(np.where(np.arange(120) == 3, np.nan, forces), curvatures)
    with pytest.raises(DataError, match="negative"):
        grower.grow(forces, -curvatures)
    with pytest.raises(DataError, match="one entry per document"):
        grower.grow(forces[:5], curvatures)
    with pytest.raises(DataError, match="need curvatures"):
        grower.grow(forces)
    for wrong in (
        {"n_leaves": 0}, {"min_documents": 0}, {"l2": -1.0}, {"min_gain": math.inf}, {"split": "entropy"},
        {"monotone": [1]}, {"monotone": [2] * 11}, {"max_depth": -1},
    ):  # fmt: skip
        with pytest.raises(SettingsError, match=next(iter(wrong))):
            Grower(binned, **wrong)


def large(order=None, n_queries=300):
    rng = np.random.default_rng(4)
    n = n_queries * 40
    X = rng.normal(size=(n, 21)).astype(np.float32)
    X[:, ::3] = rng.poisson(1.0, size=(n, 7))
    X[rng.random(X.shape) < 0.05] = np.nan
    forces = np.nan_to_num(X[:, 0] * X[:, 1]) * np.exp(3 * rng.normal(size=n))  # heavy tails: hashed rounding
    curvatures = rng.random(n)
    qid = np.repeat(np.arange(n_queries), 40)
    rows = np.arange(n).reshape(n_queries, 40)[rng.permutation(n_queries)].ravel() if order else np.arange(n)
    return Dataset(X[rows], qid=qid[rows]), forces[rows], curvatures[rows]


@pytest.mark.compiled_only
@pytest.mark.parametrize("split", ["newton", "least_squares"])
def test_same_bytes_for_any_threads_and_order_of_queries(split, monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "5")  # more threads than processors may work on a tree
    trees = []
    for threads, shuffled in ((1, False), (2, False), (5, False), (2, True)):
        with using_threads(threads):
            data, forces, curvatures = large(shuffled)
            binned = Binned.of(data)
            grower = Grower(binned, n_leaves=60, min_documents=15, split=split, seed=3)
            for number in range(3):
                trees.append(grower.grow(forces, curvatures, tree_number=number))
    first = trees[:3]
    assert all(grown.structure.n_leaves == 60 for grown in first)
    for k, grown in enumerate(trees):
        assert same(grown, first[k % 3])


@pytest.mark.compiled_only
@pytest.mark.skipif(jit.PLAIN, reason="nothing is compiled")
def test_the_kernel_is_compiled_once():
    before = set(grow_tree.own.signatures)  # data with categories has a variant of its own
    for split, memory, settings in (("newton", "fast", {}), ("least_squares", "low", {"l2": 1, "max_depth": 3})):
        _, binned, forces, curvatures = made(2, memory=memory)
        monotone = [1] * 11 if memory == "low" else None
        Grower(binned, split=split, monotone=monotone, **DEFAULTS | settings).grow(forces, curvatures)
    assert len(set(grow_tree.own.signatures) - before) <= 1
