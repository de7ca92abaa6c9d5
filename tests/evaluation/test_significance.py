"""Errors, intervals and tests against scipy.stats and against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from rankforce.errors import SettingsError
from rankforce.evaluation import significance
from rankforce.measures.mean import weighted_mean


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(3).beta(2.0, 3.0, 40)


@pytest.fixture
def weights() -> np.ndarray:
    return np.random.default_rng(4).integers(1, 5, 40).astype(np.float64)


def test_mean_and_error_of_equal_weights_are_those_of_scipy(values: np.ndarray) -> None:
    assert weighted_mean(values) == pytest.approx(values.mean(), rel=1e-15)
    assert significance.standard_error(values) == pytest.approx(stats.sem(values), rel=1e-14)
    assert significance.standard_error(values, np.full(40, 7.0)) == pytest.approx(stats.sem(values), rel=1e-13)


def test_t_interval_is_that_of_scipy(values: np.ndarray) -> None:
    for level in (0.9, 0.95, 0.99):
        expected = stats.t.interval(level, len(values) - 1, loc=values.mean(), scale=stats.sem(values))
        np.testing.assert_allclose(significance.t_interval(values, level=level), expected, rtol=1e-12)


def test_weighted_mean_does_not_depend_on_the_order_of_the_queries(values: np.ndarray, weights: np.ndarray) -> None:
    assert weighted_mean(values, weights) == pytest.approx(np.average(values, weights=weights), rel=1e-14)
    shuffled = np.random.default_rng(0).permutation(40)
    assert weighted_mean(values[shuffled], weights[shuffled]) == weighted_mean(values, weights)


def test_weighted_standard_error_is_the_spread_of_the_weighted_mean(weights: np.ndarray) -> None:
    # Values drawn afresh many times: the formula must say how far their weighted mean scatters.
    generator = np.random.default_rng(5)
    draws = generator.normal(size=(4000, 40))
    spread = np.average(draws, weights=weights, axis=1).std()
    said = np.mean([significance.standard_error(one, weights) for one in draws[:400]])
    assert said == pytest.approx(spread, rel=0.05)


def test_bootstrap_interval_is_that_of_scipy(values: np.ndarray) -> None:
    expected = stats.bootstrap(
        (values,), np.mean, confidence_level=0.95, n_resamples=20_000, method="percentile", rng=1
    ).confidence_interval
    found = significance.bootstrap_interval(values, resamples=20_000, seed=2)
    np.testing.assert_allclose(found, expected, atol=0.004)


def test_bootstrap_is_seeded_and_weighted(values: np.ndarray, weights: np.ndarray) -> None:
    first = significance.bootstrap_interval(values, weights, seed=1)
    assert first == significance.bootstrap_interval(values, weights, seed=1)
    assert first != significance.bootstrap_interval(values, weights, seed=2)
    assert first.low < weighted_mean(values, weights) < first.high


def test_bootstrap_in_chunks_covers_all_resamples(values: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = significance.bootstrap_interval(values, resamples=997, seed=1)
    monkeypatch.setattr(significance, "_CHUNK", 4000)
    np.testing.assert_allclose(significance.bootstrap_interval(values, resamples=997, seed=1), whole, rtol=1e-12)


def test_paired_t_test_is_that_of_scipy() -> None:
    generator = np.random.default_rng(6)
    a, b = generator.random(30), generator.random(30) + 0.1
    expected = stats.ttest_rel(b, a)
    found = significance.paired_t_test(b - a)
    np.testing.assert_allclose(found, (expected.statistic, expected.pvalue), rtol=1e-10)


def test_exact_randomisation_is_that_of_scipy_and_of_enumeration() -> None:
    for seed in range(6):
        differences = np.random.default_rng(seed).normal(0.3, 1.0, 9).round(1)
        patterns = np.array(list(itertools.product((-1, 1), repeat=9)))
        enumerated = np.mean(np.abs(patterns @ differences) >= abs(differences.sum()) - 1e-9)
        assert significance.randomisation_test(differences).p_value == pytest.approx(enumerated, rel=1e-12)
        scipy_test = stats.permutation_test(
            (differences, np.zeros(9)), lambda x, y, axis: (x - y).mean(axis), permutation_type="samples"
        )
        assert significance.randomisation_test(differences).p_value == pytest.approx(scipy_test.pvalue, rel=1e-12)


def test_sampled_randomisation_comes_near_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.random.default_rng(8).normal(0.25, 1.0, 14)
    exact = significance.randomisation_test(differences).p_value
    monkeypatch.setattr(significance, "EXACT_UP_TO", 4)
    sampled = significance.randomisation_test(differences, seed=1)
    assert sampled.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / significance.FLIPS))
    assert sampled == significance.randomisation_test(differences, seed=1)


def test_sampled_p_value_is_never_zero() -> None:
    assert significance.randomisation_test(np.ones(50), flips=1000).p_value == pytest.approx(1 / 1001)


def test_weights_count_in_the_randomisation() -> None:
    differences = np.array([1.0, -1.0, 1.0, -1.0])
    assert significance.randomisation_test(differences).p_value == 1.0
    assert significance.randomisation_test(differences, np.array([9.0, 1.0, 9.0, 1.0])).p_value < 1.0


def test_no_difference_and_too_few_queries() -> None:
    nothing = np.zeros(5)
    assert significance.paired_t_test(nothing) == (0.0, 1.0)
    assert significance.randomisation_test(nothing).p_value == 1.0
    assert math.isnan(significance.paired_t_test(np.ones(5)).p_value)
    assert math.isnan(significance.paired_t_test(np.ones(1)).p_value)
    assert math.isnan(significance.randomisation_test(np.ones(0)).p_value)
    assert math.isnan(significance.t_interval(np.ones(1)).low)
    assert math.isnan(significance.bootstrap_interval(np.ones(1)).low)
    assert math.isnan(weighted_mean(np.ones(0)))


def test_holm() -> None:
    # Smallest first: 0.01·4, 0.02·3, then never falling, at most 1.
    assert significance.holm([0.02, 0.01, 0.03, 0.9]) == pytest.approx([0.06, 0.04, 0.06, 0.9])
    assert significance.holm([0.6, 0.7]) == [1.0, 1.0]
    corrected = significance.holm([math.nan, 0.01])
    assert math.isnan(corrected[0])
    assert corrected[1] == 0.01


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, "0.95", True])
def test_impossible_levels(level: object) -> None:
    with pytest.raises(SettingsError, match="level must lie between 0 and 1"):
        significance.check_level(level)  # type: ignore[arg-type]


def test_a_query_of_weight_0_is_as_good_as_none(values: np.ndarray, weights: np.ndarray) -> None:
    more, zeros = np.append(values, [0.9] * 50), np.append(weights, [0.0] * 50)
    for statistic in (
        significance.standard_error,
        significance.t_interval,
        significance.bootstrap_interval,
        significance.paired_t_test,
        significance.randomisation_test,
    ):
        assert statistic(more, zeros) == statistic(values, weights)
    assert math.isnan(significance.standard_error(np.array([0.1, 0.5]), np.array([1.0, 0.0])))
