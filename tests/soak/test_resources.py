"""Bounds on memory and interrupted trainings: random cases, each against the same work without a bound or a kill."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from rankforce.binning.binned import Binned
from rankforce.data.dataset import Dataset
from rankforce.threads import using_threads
from rankforce.trees.grower import Grower

FACTOR = int(os.environ.get("RANKFORCE_SOAK", "1"))


def check_bounded_tree(seed):
    """One random tree with few histograms, against the same tree with one for every leaf."""
    rng = np.random.default_rng(seed)
    documents, features = int(rng.integers(2, 600)), int(rng.integers(1, 40))
    values = rng.integers(2, 300, size=features)
    X = rng.integers(0, values, size=(documents, features)).astype(np.float32)
    X[rng.random(X.shape) < rng.choice([0.0, 0.1])] = np.nan
    queries = int(rng.integers(1, documents + 1))
    data = Dataset(X, qid=np.sort(rng.integers(0, queries, size=documents)))
    binned = Binned.of(data, max_bins=int(rng.integers(2, 256)), memory=str(rng.choice(["fast", "low"])))
    settings = {
        "n_leaves": int(rng.integers(2, 80)),
        "growth": str(rng.choice(["leafwise", "symmetric"])),
        "min_documents": int(rng.choice([1, 2, 5, 20])),
        "max_depth": None if rng.random() < 0.7 else int(rng.integers(1, 8)),
        "l2": float(rng.choice([0.0, 1.0])),
        "split": str(rng.choice(["newton", "least_squares"])),
        "monotone": None if rng.random() < 0.5 else rng.integers(-1, 2, size=features),
    }
    forces = rng.normal(size=documents) + np.nan_to_num(X[:, 0]) / values[0]
    curvatures = rng.random(documents) * (rng.random(documents) < 0.9)
    sample = {
        "rows": None if rng.random() < 0.7 else np.flatnonzero(rng.random(documents) < 0.7).astype(np.int32),
        "features": None if rng.random() < 0.7 else rng.random(features) < 0.6,
    }
    histogram = 8 * 264 * binned.rows.shape[1]
    bound = int(histogram * rng.choice([0.0, 4.0, 6.0, 12.0, 30.0]))
    grown = []
    for bytes_allowed in (2**40, bound):
        with using_threads(int(rng.integers(1, 3))):
            grower = Grower(binned, histogram_bytes=bytes_allowed, **settings)
            grown.append([grower.grow(forces, curvatures, tree_number=k, **sample) for k in range(2)])
    for whole, bounded in zip(*grown, strict=True):
        for name, expected in vars(whole.structure).items():
            np.testing.assert_array_equal(getattr(bounded.structure, name), expected, f"{name}, case {seed}")
        for name in ("leaf_of", "lower", "upper", "column", "split_bin"):
            np.testing.assert_array_equal(getattr(bounded, name), getattr(whole, name), f"{name}, case {seed}")
    return grower, grown[1][0].structure.n_leaves


@pytest.mark.compiled_only
def test_trees_do_not_depend_on_the_memory_for_histograms():
    made_again = 0
    for seed in range(60):
        grower, n_leaves = check_bounded_tree(seed)
        made_again += n_leaves > len(grower._pool.sums) + 1
    assert made_again > 15  # the bound was felt


@pytest.mark.soak
def test_many_trees_do_not_depend_on_the_memory_for_histograms():
    first = random.SystemRandom().randrange(2**32)
    cases = 3000 * FACTOR
    for seed in range(first, first + cases):
        check_bounded_tree(seed)
    print(f"{cases} trees, from seed {first}")
