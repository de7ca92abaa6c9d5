"""MART against scikit-learn's gradient boosting: the same trees where both must grow the same."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble

import rankforce as rf

SMALL = {
    "n_trees": 15, "n_leaves": 6, "growth": "leafwise", "min_documents": 10, "learning_rate": 0.3, "progress": False,
}  # fmt: skip
THEIRS = {"n_estimators": 15, "max_leaf_nodes": 6, "max_depth": None, "min_samples_leaf": 10, "learning_rate": 0.3}


@pytest.fixture(scope="module")
def data():
    """Features of few values, all of which are bins; labels with noise, so that no two splits gain the same."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 12, (600, 5)).astype(np.float32)
    worth = X[:, 0] * 0.3 + (X[:, 1] > 6) * 2 - 0.2 * np.abs(X[:, 2] - 5) + rng.normal(size=600)
    y = np.clip(np.round(worth), 0, 3)
    return rf.Dataset(X, y, group=[20] * 30, labels={"worth": worth}, weights=None)


def gradient_boosting(kind):
    return getattr(ensemble, f"GradientBoosting{kind}")(random_state=0, **THEIRS)


@pytest.mark.parametrize("weighted", [False, True])
def test_regression(data, weighted):
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(data)) if weighted else None
    ours = rf.MART(label="worth", **SMALL).fit(data.replace(weights=weights))
    theirs = gradient_boosting("Regressor").fit(data.features, data.labels["worth"], sample_weight=weights)
    np.testing.assert_allclose(ours.predict(data), theirs.predict(data.features), rtol=1e-5, atol=1e-5)


def test_regression_by_histograms(data):
    ours = rf.MART(label="worth", **SMALL).fit(data)
    theirs = ensemble.HistGradientBoostingRegressor(
        max_iter=15, max_leaf_nodes=6, max_depth=None, min_samples_leaf=10, learning_rate=0.3, early_stopping=False
    ).fit(data.features, data.labels["worth"])
    np.testing.assert_allclose(ours.predict(data), theirs.predict(data.features), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_binary(data, weighted):
    """With σ = ½ the paper's forces are y − p with y in {0, 1}, and F is the log-odds."""
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(data)) if weighted else None
    ours = rf.MART("binary", sigma=0.5, relevant=2, **SMALL).fit(data.replace(weights=weights))
    theirs = gradient_boosting("Classifier").fit(data.features, data.labels["grades"] >= 2, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(data), theirs.decision_function(data.features), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(data), theirs.predict_proba(data.features), atol=1e-5)


def test_multiclass(data):
    ours = rf.MART("multiclass", **SMALL).fit(data)
    theirs = gradient_boosting("Classifier").fit(data.features, data.labels["grades"])
    assert ours.grades_.tolist() == theirs.classes_.tolist()
    np.testing.assert_allclose(ours.predict_proba(data), theirs.predict_proba(data.features), atol=1e-5)
    np.testing.assert_allclose(ours.predict(data), theirs.predict_proba(data.features) @ theirs.classes_, atol=1e-4)
