"""Splits on sets of categories: whole trees against slow, obvious growers, and against all sets that there are."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.trees.reference_categories import best_worth_of_all_sets
from tests.trees.reference_grower import grow_reference, small_data
from tests.trees.reference_symmetric import grow_symmetric_reference
from tests.trees.test_grower import integers

from rankforce.binning.binned import Binned
from rankforce.data import category_sets
from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError
from rankforce.threads import using_threads
from rankforce.trees.grower import Grower
from rankforce.trees.tree import Tree

REFERENCES = {"leafwise": grow_reference, "symmetric": grow_symmetric_reference}
DEFAULTS = {"n_leaves": 8, "min_documents": 4, "category_smoothing": 2.0}
CASES = {
    "plain": {},
    "not smoothed": {"category_smoothing": 0.0, "min_documents": 1},
    "many leaves": {"n_leaves": 40, "min_documents": 1},
    "few documents": {"n_leaves": 12, "min_documents": 9},
    "large minimum": {"n_leaves": 12, "min_documents": 30},
    "depth": {"n_leaves": 12, "max_depth": 2},
    "l2 and least gain": {"l2": 3.5, "min_gain": 0.05},
    "another feature monotone": {"monotone": [0, -1, 0, 0, 0, 0, 0, -1, 0, 0, 0], "n_leaves": 14},
    "few histograms": {"n_leaves": 12, "histogram_bytes": 0},
    "few histograms, small leaves": {"n_leaves": 12, "histogram_bytes": 0, "min_documents": 1},
}
CATEGORIES = {"1": 4, "3": 30, "9": 9, "6": 2}  # numbered from 1


def categorical(seed, n=120, **changes):
    """Columns of 4, 9 and 2 categories, and one of 30, more than have bins; with missing values."""
    X, rng = small_data(seed, n)
    given = {"categories": {name: list(range(count)) for name, count in CATEGORIES.items()}} | changes
    data = Dataset(X, qid=np.repeat(np.arange(12), n // 12), **given)
    return data, rng


def made(seed, **options):
    data, rng = categorical(seed)
    X = data.features
    effects = rng.normal(size=30)
    known = np.nan_to_num(X[:, [0, 2, 8]]).astype(int)
    signal = effects[known].sum(axis=1) + 0.5 * np.nan_to_num(X[:, 1]) - np.isnan(X[:, 8])
    signal += rng.normal(size=len(X)) * 0.3
    forces = signal - signal.mean()
    curvatures = rng.random(len(X)) + 0.05
    idle = rng.random(len(X)) < 0.2
    idle |= X[:, 8] == 4  # a whole category without any pair
    forces[idle] = 0.0
    curvatures[idle] = 0.0
    return data, Binned.of(data, max_bins=12, **options), forces, curvatures


def splits_of(grown, binned):
    for c, b, m, bins in zip(grown.column, grown.split_bin, grown.structure.missing_left, grown.left_bins, strict=True):
        in_set = c in binned.binning.category_bins
        yield int(c), frozenset(np.flatnonzero(bins).tolist()) if in_set else int(b), bool(m)


@pytest.mark.parametrize("growth", REFERENCES)
@pytest.mark.parametrize("split", ["newton", "least_squares"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_whole_trees_equal_the_reference(case, split, growth, seed):
    settings = DEFAULTS | CASES[case]
    _, binned, forces, curvatures = made(seed)
    grown = Grower(binned, growth=growth, split=split, **settings).grow(forces, curvatures)
    q, r, scales = integers(binned, forces, curvatures if split == "newton" else None)
    monotone = settings.get("monotone")
    expected = REFERENCES[growth](
        binned,
        q,
        r,
        n_leaves=settings["n_leaves"],
        min_documents=settings["min_documents"],
        max_depth=settings.get("max_depth", math.inf),
        l2=math.ldexp(settings.get("l2", 0.0), scales.curvature_exponent),
        min_gain=settings.get("min_gain", 0.0) / scales.gain_unit,
        monotone=None if monotone is None else [monotone[f] for f in binned.binning.features],
        category_smoothing=settings["category_smoothing"],
    )
    assert any(isinstance(of, frozenset) for _, of, _ in expected.splits)
    assert list(splits_of(grown, binned)) == expected.splits
    np.testing.assert_allclose(grown.structure.gain, np.array(expected.gains) * scales.gain_unit, rtol=1e-9)
    for number, leaf in enumerate(expected.leaves):
        assert (grown.leaf_of[leaf.documents] == number).all()
        assert grown.structure.leaf_documents[number] == len(leaf.documents)


@pytest.mark.parametrize("seed", range(6))
def test_no_set_of_all_there_are_gains_more(seed):
    """Squared error, nothing smoothed: the order of the means leads to the best of all 2^k sets."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 7, 60)
    data = Dataset(codes[:, None], qid=np.zeros(60, dtype=int), categories={"1": range(7)})
    binned = Binned.of(data)
    forces = rng.normal(size=60)
    grower = Grower(binned, n_leaves=2, min_documents=1, split="least_squares", category_smoothing=0.0)
    gain = grower.grow(forces).structure.gain[0]
    q, r, scales = integers(binned, forces, None)
    whole = sum(q) ** 2 / sum(r)
    best = best_worth_of_all_sets(
        [(sum(q[d] for d in here), len(here)) for here in (np.flatnonzero(codes == b) for b in np.unique(codes))]
    )
    assert gain == pytest.approx((best - whole) * scales.gain_unit, rel=1e-9)


def walked(tree, X):
    """The leaf of every row, by the finished tree."""
    leaves = np.empty(len(X), dtype=int)
    for row, x in enumerate(X):
        node = 0 if tree.n_nodes else -1
        while node >= 0:
            left = tree.goes_left(x[tree.feature[[node]]], np.array([node]))[0]
            node = tree.left[node] if left else tree.right[node]
        leaves[row] = ~node
    return leaves


@pytest.mark.parametrize("growth", REFERENCES)
@pytest.mark.parametrize("memory", ["fast", "low"])
def test_rare_unknown_and_missing_categories_go_where_the_finished_tree_sends_them(growth, memory):
    data, binned, forces, curvatures = made(3, memory=memory)
    grown = Grower(binned, growth=growth, n_leaves=16, min_documents=2, category_smoothing=1.0).grow(forces, curvatures)
    np.testing.assert_array_equal(grown.leaf_of, walked(grown.structure, data.features))
    np.testing.assert_array_equal(grown.route(binned), grown.leaf_of)
    rng = np.random.default_rng(1)
    other = data.features.copy()
    for name, count in CATEGORIES.items():
        other[:, int(name) - 1] = rng.integers(-1, count, len(other))
    other[rng.random(other.shape) < 0.1] = np.nan
    validation = data.replace(features=other)
    np.testing.assert_array_equal(grown.route(Binned.by(binned.binning, validation)), walked(grown.structure, other))


@pytest.mark.parametrize("growth", REFERENCES)
def test_the_bin_of_all_other_categories_never_goes_left(growth):
    listed = 0
    for seed in range(4):
        _, binned, forces, curvatures = made(seed)
        grower = Grower(binned, growth=growth, n_leaves=16, min_documents=2, category_smoothing=1.0)
        grown = grower.grow(forces, curvatures)
        for column, bins in zip(grown.column.tolist(), grown.left_bins, strict=True):
            if column in binned.binning.category_bins:
                assert not bins[binned.binning.n_bins[column] - 1 :].any()
                listed += int(bins.sum())
    assert listed > 10


def test_without_other_categories_those_of_less_weight_are_listed():
    codes = np.repeat([0, 1, 2, 3], [4, 5, 20, 31])
    forces = np.where(codes <= 1, 1.0, -1.0)
    data = Dataset(codes[:, None], qid=np.zeros(60, dtype=int), categories={"1": ["a", "b", "c", "d", "unseen"]})
    for sign in (1.0, -1.0):
        grower = Grower(Binned.of(data), n_leaves=2, min_documents=1, split="least_squares")
        tree = grower.grow(sign * forces).structure
        assert category_sets.categories_of(tree.node_words(0)).tolist() == [0, 1]
        assert tree.threshold.tolist() == [0.0]
        assert tree.missing_left.tolist() == [False]  # nothing is missing: with the larger side
        unseen = tree.goes_left(np.array([4.0, -1.0, 1.5], dtype=np.float32), np.zeros(3, dtype=int))
        assert not unseen.any()


@pytest.mark.compiled_only
@pytest.mark.parametrize("growth", REFERENCES)
def test_threads_and_memory_do_not_matter(growth):
    rng = np.random.default_rng(0)
    n = 30_000
    codes = np.column_stack([rng.integers(0, count, n) for count in (3, 40, 254, 255, 1000)])
    X = np.column_stack([codes, rng.normal(size=(n, 4))])
    names = {str(place + 1): range(count) for place, count in enumerate((3, 40, 254, 255, 1000))}
    data = Dataset(X, qid=np.repeat(np.arange(n // 100), 100), categories=names)
    effects = rng.normal(size=1000)
    forces = effects[codes].sum(axis=1) + rng.normal(size=n)
    curvatures = rng.random(n)
    trees = []
    for threads, settings in ((1, {}), (2, {}), (3, {}), (2, {"histogram_bytes": 0}), (2, {"memory": "low"})):
        binned = Binned.of(data, memory=settings.pop("memory", "fast"))
        with using_threads(threads):
            grown = Grower(binned, growth=growth, n_leaves=31, **settings).grow(forces - forces.mean(), curvatures)
        trees.append([getattr(grown.structure, field.name).tobytes() for field in dataclasses.fields(Tree)])
    assert all(tree == trees[0] for tree in trees)
    assert len(grown.structure.subset_words) > 20


def test_categories_of_single_documents_are_not_taken_for_a_pattern():
    rng = np.random.default_rng(2)
    n = 400
    X = np.column_stack([np.arange(n) % 200, rng.normal(size=n)])
    data = Dataset(X, qid=np.zeros(n, dtype=int), categories={"1": range(200)})
    forces = 0.5 * np.sign(X[:, 1]) + rng.normal(size=n)
    first = {
        smoothing: Grower(Binned.of(data), n_leaves=2, split="least_squares", category_smoothing=smoothing)
        .grow(forces)
        .structure.feature[0]
        for smoothing in (0.0, 30.0)
    }
    assert first == {0.0: 0, 30.0: 1}


def test_least_documents_are_exact_where_a_whole_category_has_no_force():
    for seed in range(4):
        for growth in REFERENCES:
            _, binned, forces, curvatures = made(seed)
            grown = Grower(binned, growth=growth, n_leaves=12, min_documents=9).grow(forces, curvatures)
            assert grown.structure.n_leaves > 3
            assert grown.structure.leaf_documents.min() >= 9


def test_a_direction_for_categories_is_refused():
    _, binned, _, _ = made(0)
    with pytest.raises(SettingsError, match="monotone is for numeric features"):
        Grower(binned, monotone=[1] + [0] * 10)


@pytest.mark.parametrize("smoothing", [-1.0, math.nan, math.inf, True, "10"])
def test_impossible_smoothing_is_refused(smoothing):
    _, binned, _, _ = made(0)
    with pytest.raises(SettingsError, match="category_smoothing"):
        Grower(binned, category_smoothing=smoothing)
