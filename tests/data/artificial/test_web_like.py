"""Web-like data: the promised kinds of features, the promised shares, the same bytes again."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce import SettingsError, make_web_like


@pytest.fixture(scope="module")
def data():
    return make_web_like(200, (20, 60), 136, seed=1)


def test_kinds_of_features(data):
    counts, levels, tails, bounded = (data.features[:, kind::4] for kind in range(4))
    assert (counts == np.floor(counts)).all()
    assert (counts == 0).mean() > 0.5
    assert max(len(np.unique(column)) for column in levels.T) <= 8
    assert np.log10(tails.max() / tails.min()) > 10
    assert np.abs(bounded).max() < 1


def test_some_features_are_constant_within_queries(data):
    for rows in data.each_query():
        assert (data.features[rows, 16::17] == data.features[rows[0], 16::17]).all()


def test_grades(data):
    shares = np.bincount(data.labels["grades"].astype(int)) / data.n_documents
    np.testing.assert_allclose(shares, (0.52, 0.32, 0.13, 0.02, 0.01), atol=1e-3)


def test_features_tell_something_and_none_tells_all(data):
    correlations = [abs(np.corrcoef(np.argsort(np.argsort(f)), data.labels["grades"])[0, 1]) for f in data.features.T]
    assert 0.2 < max(correlations) < 0.8


def test_seeds():
    one = make_web_like(20, 10, 20, seed=1)
    assert make_web_like(20, 10, 20, seed=1).fingerprint == one.fingerprint
    assert make_web_like(20, 10, 20, seed=2).fingerprint != one.fingerprint
    assert make_web_like(20, 10, 20, seed=1, function_seed=1).fingerprint != one.fingerprint


def test_missing_and_settings():
    assert abs(np.isnan(make_web_like(50, 20, 20, missing=0.2).features).mean() - 0.2) < 0.02
    assert make_web_like(2, 3, 1).n_features == 1
    for settings in ({"queries": 0}, {"features": 0}, {"missing": -1}, {"documents": 0}, {"seed": 0.5}):
        with pytest.raises(SettingsError):
            make_web_like(**settings)
