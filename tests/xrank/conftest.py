"""Samples for the tests of ranking graphs."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.binning.binned import Binned
from rankforce.xrank.sample import Sample


def small_data(seed=0, queries=6, documents=7, features=3, values=5, missing=0.15, weights=False):
    """Few values, missing ones among them; grades 0 to 3 that depend on the features a little."""
    random = np.random.default_rng(seed)
    x = random.integers(0, values, (queries * documents, features)).astype(np.float32)
    grades = np.clip(x[:, 0] + random.integers(-1, 2, len(x)), 0, 3)
    x[random.random(x.shape) < missing] = np.nan
    weighted = {"query_weights": random.choice([0.5, 1.0, 3.0], queries)} if weights else {}
    return rf.Dataset(x, grades, np.repeat(np.arange(queries), documents), **weighted)


def sample_of(data, measure="NDCG", seed=0, max_bins=255):
    return Sample.of(data, Binned.of(data, max_bins), rf.measure(measure), seed)


@pytest.fixture(params=[(0, "NDCG", False), (1, "NDCG@3", True), (2, "DCG", False)], ids=["NDCG", "NDCG@3", "DCG"])
def case(request):
    """(data, measure, sample)"""
    seed, measure, weights = request.param
    data = small_data(seed, weights=weights)
    return data, measure, sample_of(data, measure)
