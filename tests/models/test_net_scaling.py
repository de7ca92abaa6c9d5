"""Scaling of features: what each kind does, missing and monstrous values, and which one is chosen."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.models.net_scaling import KINDS, Scaling


def some_data(rng, queries=12, features=4):
    sizes = rng.integers(2, 9, queries)
    X = rng.normal(size=(sizes.sum(), features)) * [1, 100, 1e-3, 1] + [5, 0, 0, 0]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = 7.0
    qid = rng.permutation(np.repeat(np.arange(queries), sizes))
    return rf.Dataset(X, rng.integers(0, 3, len(X)), qid)


@pytest.fixture
def data():
    return some_data(np.random.default_rng(0))


def test_standard(data):
    inputs = Scaling.of(data, "standard").of_data(data)
    assert inputs.dtype == np.float32
    X = data.by_query(data.features).astype(np.float64)
    wanted = (X - np.nanmean(X, axis=0)) / np.where(np.nanstd(X, axis=0) > 0, np.nanstd(X, axis=0), 1)
    np.testing.assert_allclose(inputs, np.nan_to_num(wanted), rtol=1e-5, atol=1e-6)
    assert (inputs[np.isnan(X)] == 0).all()
    assert (inputs[:, 3] == 0).all()


def test_log1p(data):
    logarithms = np.sign(data.features) * np.log1p(np.abs(data.features))
    wanted = Scaling.of(data.replace(features=logarithms), "standard").of_data(data.replace(features=logarithms))
    np.testing.assert_allclose(Scaling.of(data, "log1p").of_data(data), wanted, rtol=1e-3, atol=1e-4)


def test_per_query(data):
    inputs = data.by_row(Scaling.of(data, "query").of_data(data))
    for rows in data.each_query():
        part = data.features[rows].astype(np.float64)
        for values, given in zip(inputs[rows].T, part.T, strict=True):
            known = ~np.isnan(given)
            assert (values[~known] == 0).all()
            if known.sum() and np.ptp(given[known]) > 0:
                assert values[known].mean() == pytest.approx(0, abs=1e-5)
                assert values[known].std() == pytest.approx(1, rel=1e-4)
            else:
                assert (values == 0).all()


def test_none(data):
    np.testing.assert_array_equal(
        Scaling.of(data, "none").of_data(data), np.nan_to_num(data.by_query(data.features), nan=0.0)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_queries_changes_no_bit(data, kind):
    rows = np.concatenate(
        [data.rows[a:b] for a, b in reversed(list(zip(data.query_starts, data.query_starts[1:], strict=False)))]
    )
    other = rf.Dataset(data.features[rows], data.labels["grades"][rows], data.qid[rows])
    one, two = Scaling.of(data, kind), Scaling.of(other, kind)
    np.testing.assert_array_equal(one.centre, two.centre)
    np.testing.assert_array_equal(one.scale, two.scale)


def test_heavy_tails_choose_logarithms(data):
    chosen, reason = Scaling.chosen(data)
    assert chosen.kind == "standard"
    assert "no heavy tails" in reason
    X = np.random.default_rng(0).normal(size=(2000, 2))
    X[7, 1] = 2e8
    chosen, reason = Scaling.chosen(rf.Dataset(X, group=[2000], feature_names=["a", "b"]))
    assert chosen.kind == "log1p"
    assert "'b'" in reason


@pytest.mark.parametrize("documents", [40, 192, 400, 1900, 5000])
@pytest.mark.parametrize("seed", range(3))
def test_heavy_tails_are_found_on_few_documents_and_ordinary_features_left_alone(documents, seed):
    """Of n values none lies more than √(n − 1) standard deviations from the mean: these alone cannot decide."""
    rng = np.random.default_rng(seed)
    ordinary = {
        "normal": rng.normal(size=documents),
        "uniform": rng.random(documents),
        "counts": rng.poisson(3.0, documents),
        "few counts": rng.poisson(0.2, documents),
        "exponential": rng.exponential(size=documents),
        "log-normal": np.exp((1.0 if documents <= 400 else 0.5) * rng.normal(size=documents)),
        "missing": np.where(rng.random(documents) < 0.5, np.nan, rng.normal(size=documents)),
        "unknown": np.full(documents, np.nan),
        "constant": np.ones(documents),
    }
    if documents < 400:  # beyond, a single 1 lies more than 20 standard deviations from the mean
        ordinary["rare"] = np.arange(documents) == 3
    everything = rf.Dataset(np.column_stack(list(ordinary.values())), group=[documents])
    assert Scaling.chosen(everything)[0].kind == "standard"
    for heavy in (np.exp(8.0 * rng.normal(size=documents)), -np.exp(6.0 * rng.normal(size=documents))):
        data = rf.Dataset(np.column_stack([*ordinary.values(), heavy]), group=[documents])
        chosen, reason = Scaling.chosen(data)
        assert chosen.kind == "log1p"
        assert f"feature '{len(ordinary) + 1}' reaches" in reason


def test_monstrous_values_stay_finite(data):
    for kind in KINDS:
        scaling = Scaling.of(data, kind)
        inputs = scaling.inputs(np.full((2, 4), [[3e38], [-3e38]], dtype=np.float32))
        assert np.isfinite(inputs).all()


def test_all_values_missing():
    data = rf.Dataset([[np.nan, 1.0], [np.nan, 2.0]], group=[2])
    for kind in KINDS:
        assert (Scaling.of(data, kind).of_data(data)[:, 0] == 0).all()


def test_impossible_scalings():
    with pytest.raises(rf.SettingsError, match="'log1p'"):
        Scaling("log", np.zeros(1), np.ones(1))
    with pytest.raises(rf.DataError, match="positive"):
        Scaling("standard", np.zeros(1), np.zeros(1))
    with pytest.raises(rf.DataError, match="one centre"):
        Scaling("standard", np.zeros(2), np.ones(1))


@pytest.mark.parametrize("kind", ["standard", "log1p"])
def test_a_feature_that_never_varied_stays_0_whatever_it_becomes(kind):
    data = rf.Dataset([[5.0, 1.0], [5.0, 2.0], [np.nan, 4.0]], [0, 1, 2], qid=[1, 1, 1])
    scaling = Scaling.of(data, kind)
    later = np.array([[5.0, 2.0], [1e38, 2.0], [-1e38, 2.0], [np.nan, 2.0]], dtype=np.float32)
    assert scaling.inputs(later)[:, 0].tolist() == [0.0] * 4
