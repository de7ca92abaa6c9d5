"""Splits on sets of categories: whole trees against slow, obvious growers, and against all sets that there are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.trees.reference_grower import grow_reference, small_data
from tests.trees.reference_symmetric import grow_symmetric_reference
from tests.trees.test_grower import integers

from rankforce.binning.binned import Binned
from rankforce.data.dataset import Dataset
from rankforce.trees.grower import Grower

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
    data, binned, forces, curvatures = made(seed)
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
