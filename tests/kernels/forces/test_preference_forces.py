"""Forces of listed pairs against one line per pair."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces.preference_forces import PreferenceForces


def slow_forces(preferences, scores, sigma):
    """By row: σ(P̄ − P) and σ²P(1 − P) of every pair in turn."""
    data = preferences.data
    weights = np.ones(len(data)) if data.weights is None else data.weights
    per_query = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
    forces, curvatures = np.zeros(len(data)), np.zeros(len(data))
    for i, j, target, weight in zip(
        preferences.better, preferences.worse, preferences.probability, preferences.weight, strict=True
    ):
        P = 1 / (1 + np.exp(-sigma * (scores[i] - scores[j])))
        scale = weight * weights[i] * weights[j] * per_query[data.row_queries[i]]
        forces[i] += scale * sigma * (target - P)
        forces[j] -= scale * sigma * (target - P)
        curvatures[[i, j]] += scale * sigma**2 * P * (1 - P)
    return forces, curvatures


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_forces_are_the_sum_over_listed_pairs(sigma, weighted):
    rng = np.random.default_rng(1)
    more = {"weights": rng.random(20), "query_weights": rng.random(4)} if weighted else {}
    data = rf.Dataset(np.ones((20, 1)), qid=np.tile([3, 1, 2, 0], 5), **more)
    better = rng.integers(0, 20, 60)
    worse = (better + 4 * rng.integers(1, 5, 60)) % 20
    preferences = rf.Preferences(data, better, worse, rng.random(60), rng.random(60))
    scores = rng.normal(size=20) * 3
    forces, curvatures = PreferenceForces(preferences, sigma=sigma).at(data.by_query(scores), np.arange(20))
    slow = slow_forces(preferences, scores, sigma)
    np.testing.assert_allclose(data.by_row(forces), slow[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(data.by_row(curvatures), slow[1], rtol=1e-12, atol=1e-14)
    assert forces.sum() == pytest.approx(0, abs=1e-12)
    only_first = np.array([True, False, False, False])
    forces, _ = PreferenceForces(preferences, sigma=sigma).at(data.by_query(scores), np.arange(20), 0, only_first)
    np.testing.assert_allclose(forces[:5], data.by_query(slow[0])[:5], rtol=1e-12, atol=1e-14)
    assert not forces[5:].any()


def test_far_apart_scores_neither_overflow_nor_vanish():
    data = rf.Dataset(np.ones((2, 1)), group=[2])
    forces = PreferenceForces(rf.Preferences(data, [0], [1]))
    for gap, wanted in ((-2000.0, 1.0), (40.0, np.exp(-40.0)), (2000.0, 0.0)):
        found, curvature = forces.at(np.array([gap, 0.0]), np.arange(2))
        assert found[0] == -found[1] == pytest.approx(wanted, rel=1e-12)
        assert np.isfinite(curvature).all()


def test_query_weights_count_after_dividing_by_the_deviation():
    data = rf.Dataset(np.ones((6, 1)), qid=[0, 0, 0, 1, 1, 1])
    weighted = data.replace(query_weights=[1.0, 5.0])
    scores = np.array([0.3, 0.1, 0.0, 0.2, 0.5, 0.1])
    plain, heavy = (
        PreferenceForces(rf.Preferences(one, [0, 0, 3], [1, 2, 4]), normalise="deviation").at(scores, np.arange(6))[0]
        for one in (data, weighted)
    )
    assert plain[3:].std() == pytest.approx(1.0)
    np.testing.assert_allclose(heavy, plain * [1, 1, 1, 5, 5, 5], rtol=1e-12)
