"""Artificial data: the polynomial by hand, exact moments, exact shares, chosen click agreement."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rankforce import SettingsError, make_artificial
from rankforce.data.artificial.artificial import Cubic, _moments


def test_polynomial_by_hand():
    function = Cubic.draw(4, 7)
    x = np.random.default_rng(0).uniform(-1, 1, (5, 4)).astype(np.float32)
    expected = []
    for row in x.astype(float):
        terms = (
            sum(function.linear[i] * row[i] for i in range(4)),
            sum(row[i] * row[function.pairs[i]] for i in range(4)),
            sum(row[i] * row[function.triples[0][i]] * row[function.triples[1][i]] for i in range(4)),
        )
        expected.append(sum((t - m) / v**0.5 for t, (m, v) in zip(terms, function._term_moments, strict=True)) / 3)
    np.testing.assert_allclose(function(x), expected, rtol=1e-12)


def test_moments_equal_exact_quadrature():
    # Gauss-Legendre with 4 points is exact up to degree 7 in each variable: squares of cubics have 6
    points, weights = np.polynomial.legendre.leggauss(4)
    for permutations in itertools.islice(itertools.product(itertools.permutations(range(3)), repeat=2), 0, 36, 5):
        monomials = list(zip(range(3), *permutations, strict=True))
        mean = square = 0.0
        for places in itertools.product(range(4), repeat=3):
            weight = np.prod(weights[list(places)] / 2)
            value = sum(np.prod(points[[places[v] for v in monomial]]) for monomial in monomials)
            mean += weight * value
            square += weight * value**2
        np.testing.assert_allclose(_moments(monomials), (mean, square - mean**2), atol=1e-12)


def test_terms_have_mean_0_and_variance_1():
    function = Cubic.draw(30, 3)
    target = function(np.random.default_rng(1).uniform(-1, 1, (40_000, 30)).astype(np.float32))
    assert abs(target.mean()) < 0.02
    assert 0.5 < target.std() * 3**0.5 < 1.5


def test_shape_ranges_and_grade_shares():
    data = make_artificial(100, 20, 7, seed=2)
    assert (data.n_queries, data.n_documents, data.n_features) == (100, 2000, 7)
    assert -1 <= data.features.min() < -0.99
    assert 0.99 < data.features.max() <= 1
    assert np.bincount(data.labels["grades"].astype(int)).tolist() == [1040, 640, 260, 40, 20]


def test_grades_rise_with_the_target():
    data = make_artificial(30, 10, 5, seed=1, function_seed=4)
    target = Cubic.draw(5, 4)(data.features)
    for low, high in itertools.pairwise(range(5)):
        below, above = (target[data.labels["grades"] == grade] for grade in (low, high))
        assert not len(below) or not len(above) or below.max() <= above.min()


def test_seeds():
    one = make_artificial(5, 4, 3, seed=1)
    assert make_artificial(5, 4, 3, seed=1).fingerprint == one.fingerprint
    other = make_artificial(5, 4, 3, seed=2)
    assert not np.array_equal(other.features, one.features)
    function = make_artificial(5, 4, 3, seed=1, function_seed=9)
    np.testing.assert_array_equal(function.features, one.features)
    assert not np.array_equal(function.labels["grades"], one.labels["grades"])


def test_documents_from_a_range():
    data = make_artificial(300, (2, 5), 3)
    assert set(data.query_sizes.tolist()) == {2, 3, 4, 5}


def test_first_query():
    assert make_artificial(3, 2, 2, first_query=100).query_ids.tolist() == [100, 101, 102]


def test_noise_makes_grades_less_predictable():
    def correlation(noise):
        data = make_artificial(200, 20, 5, seed=3, noise=noise)
        return np.corrcoef(Cubic.draw(5, 0)(data.features), data.labels["grades"])[0, 1]

    assert correlation(0.0) > correlation(1.0) > correlation(5.0) > 0


def test_missing_values():
    data = make_artificial(100, 20, 10, missing=0.3)
    assert abs(np.isnan(data.features).mean() - 0.3) < 0.02
    full = make_artificial(100, 20, 10)
    np.testing.assert_array_equal(data.labels["grades"], full.labels["grades"])


def agreement(data) -> float:
    """The share of pairs of one query with different grades whose better document has the higher click rate."""
    right = pairs = 0
    for rows in data.each_query():
        grades, clicks = data.labels["grades"][rows], data.labels["clicks"][rows]
        better = grades[:, None] > grades[None, :]
        right += (better & (clicks[:, None] > clicks[None, :])).sum()
        pairs += better.sum()
    return right / pairs


@pytest.mark.parametrize("wanted", [0.5, 0.6, 0.8, 0.95, 1.0])
def test_click_agreement(wanted):
    data = make_artificial(400, 30, 5, clicks=True, click_agreement=wanted)
    clicks = data.labels["clicks"]
    assert 0 <= clicks.min() <= clicks.max() <= 1
    assert agreement(data) == pytest.approx(wanted, abs=0.01 if wanted < 1 else 0)
    assert len(np.unique(clicks)) > 10_000


def test_position_bias_lowers_agreement_and_shown_hides():
    fair = make_artificial(200, 30, 5, clicks=True, click_agreement=0.95)
    biased = make_artificial(200, 30, 5, clicks=True, click_agreement=0.95, position_bias=1.0)
    assert agreement(biased) < agreement(fair) - 0.02
    hidden = make_artificial(200, 30, 5, clicks=True, shown=10)
    assert (np.isnan(hidden.labels["clicks"]).reshape(200, 30).sum(axis=1) == 20).all()


def test_impressions_give_observed_rates():
    data = make_artificial(100, 20, 5, clicks=True, position_bias=1.0, impressions=50)
    counts = data.labels["clicks"] * 50
    np.testing.assert_allclose(counts, np.rint(counts), atol=1e-9)
    assert (counts == 0).any()


def test_one_grade_only():
    data = make_artificial(10, 5, 3, shares=(1.0,), clicks=True)
    assert (data.labels["grades"] == 0).all()


@pytest.mark.parametrize(
    "settings",
    [
        {"queries": 0},
        {"queries": 1.5},
        {"documents": 0},
        {"documents": (5, 2)},
        {"documents": (1, 2, 3)},
        {"features": 0},
        {"seed": -1},
        {"function_seed": "a"},
        {"shares": (0.5, 0.4)},
        {"shares": ()},
        {"shares": (1.5, -0.5)},
        {"noise": -1},
        {"noise": "a"},
        {"missing": 1.5},
        {"clicks": True, "click_agreement": 0.4},
        {"clicks": True, "position_bias": -1},
        {"clicks": True, "shown": 0},
        {"clicks": True, "impressions": 0},
    ],
)
def test_impossible_settings(settings):
    with pytest.raises(SettingsError):
        make_artificial(**({"queries": 3, "documents": 3, "features": 3} | settings))


def test_drift_moves_the_truth_from_one_function_to_another():
    def grades(**settings):
        return make_artificial(queries=40, documents=20, features=8, seed=3, **settings).labels["grades"]

    here, there = grades(), grades(function_seed=5)
    np.testing.assert_array_equal(grades(drift=0.0, drift_seed=5), here)
    np.testing.assert_array_equal(grades(drift=1.0, drift_seed=5), there)
    near, far = (np.corrcoef(here, grades(drift=drift, drift_seed=5))[0, 1] for drift in (0.2, 0.6))
    assert np.corrcoef(here, there)[0, 1] < far < near < 0.999
    with pytest.raises(SettingsError, match="drift"):
        grades(drift=1.5)


@pytest.mark.parametrize("wrong", ["last", 1, None])
def test_clicks_are_wanted_or_not(wrong):
    with pytest.raises(SettingsError, match="clicks must be True or False"):
        make_artificial(queries=2, clicks=wrong)
    assert "clicks" in make_artificial(queries=2, documents=3, features=2, clicks=np.bool_(True)).labels
