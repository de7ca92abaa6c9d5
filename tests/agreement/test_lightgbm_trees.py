"""LightGBM and rankforce must find the same tree where bins and gains leave no room for opinion."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.binning.binned import Binned
from rankforce.data.dataset import Dataset
from rankforce.trees.grower import Grower
from rankforce.trees.leaves import leaf_sums

lightgbm = pytest.importorskip("lightgbm")


def few_valued(seed, n=4000):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, k, n) for k in (2, 3, 5, 9, 17, 33, 60, 100)]).astype(np.float32)
    y = X[:, 3] + 0.2 * X[:, 5] * (X[:, 1] == 1) + 0.05 * X[:, 7] + np.sin(X[:, 4]) + rng.normal(size=n)
    return X, y


def paths(node):
    """{leaf index: [(feature, threshold, went left)]} of LightGBM's tree."""
    if "leaf_index" in node:
        return {node["leaf_index"]: (frozenset(), node["leaf_value"], node["leaf_count"])}
    result = {}
    for side, left in (("left_child", True), ("right_child", False)):
        for leaf, (path, value, count) in paths(node[side]).items():
            step = (node["split_feature"], node["threshold"], left)
            result[leaf] = (path | {step}, value, count)
    return result


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("leaves", "minimum", "depth", "l2"), [(8, 20, None, 0.0), (31, 60, None, 0.0), (24, 20, 4, 5.0)]
)
def test_same_least_squares_tree(seed, leaves, minimum, depth, l2):
    X, y = few_valued(seed)
    booster = lightgbm.train(
        {
            "objective": "regression", "num_leaves": leaves, "min_data_in_leaf": minimum, "max_depth": depth or -1,
            "lambda_l2": l2, "learning_rate": 1.0, "max_bin": 255, "min_data_in_bin": 1, "verbosity": -1,
            "boost_from_average": False, "num_threads": 1, "min_sum_hessian_in_leaf": 0.0,
            "feature_pre_filter": False,
        },
        lightgbm.Dataset(X, y),
        1,
    )  # fmt: skip
    theirs = booster.dump_model()["tree_info"][0]["tree_structure"]
    binned = Binned.of(Dataset(X, qid=np.arange(len(X)) // 10))
    grown = Grower(binned, n_leaves=leaves, min_documents=minimum, max_depth=depth, l2=l2, split="least_squares").grow(
        y
    )
    counts = grown.structure.leaf_documents
    values = leaf_sums(grown.leaf_of, len(counts), y)[0] / (counts + l2)
    their_leaves = booster.predict(X, pred_leaf=True).ravel()
    # The same documents end up together, with the same value.
    assert grown.structure.n_leaves == len(set(their_leaves.tolist()))
    assert len({*zip(grown.leaf_of.tolist(), their_leaves.tolist(), strict=True)}) == grown.structure.n_leaves
    np.testing.assert_allclose(values[grown.leaf_of], booster.predict(X), rtol=1e-5)
    # And the splits are the same: features, and thresholds between the same whole numbers.
    ours = sorted(
        (int(f), int(np.floor(t))) for f, t in zip(grown.structure.feature, grown.structure.threshold, strict=True)
    )
    steps = {(path, step[:2]) for path, *_ in paths(theirs).values() for step in path}
    assert set(ours) == {(feature, int(np.floor(threshold))) for _, (feature, threshold) in steps}
