"""PRank: what it learns, its average, its file, the same bytes for any threads and any order."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import rankforce as rf
from rankforce import memory
from rankforce.models.perceptron import Perceptron
from rankforce.models.storage import from_bytes, to_bytes

QUICK = {"epochs": 5, "progress": False}


def linear_data(queries=60, seed=0, function=lambda x: x[:, 0] - 2 * x[:, 1], scale=1.0):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, size=(queries * 12, 4)).astype(np.float32)
    target = function(x)
    grades = np.searchsorted(np.quantile(target, [0.5, 0.8, 0.95]), target)
    return rf.Dataset(x * np.float32(scale) + np.float32(scale), grades, np.repeat(np.arange(queries), 12))


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=60, documents=20, features=6, seed=1)


@pytest.fixture(scope="module")
def held_out():
    return rf.make_artificial(queries=60, documents=20, features=6, seed=2)


def ndcg(ranker, data):
    return rf.evaluate(ranker, data, ["NDCG"]).mean["NDCG"]


def product(x):
    return x[:, 0] * x[:, 1]


def test_each_form_learns_what_it_can_express():
    train, test = linear_data(), linear_data(seed=1)
    for kernel in ("linear", "quadratic"):
        assert ndcg(rf.PRank(kernel, **QUICK).fit(train), test) > 0.97
    assert ndcg(rf.PRank(large_margin=True, n_members=20, **QUICK).fit(train), test) > 0.98
    train, test = linear_data(function=product), linear_data(seed=1, function=product)
    assert ndcg(rf.PRank("quadratic", **QUICK).fit(train), test) > 0.95
    assert ndcg(rf.PRank("linear", **QUICK).fit(train), test) < 0.8


def test_features_of_any_scale_learn_alike():
    one, other = (rf.PRank(**QUICK).fit(linear_data(scale=scale)) for scale in (1.0, 1024.0))
    np.testing.assert_allclose(one.model_.weights, other.model_.weights, rtol=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "quadratic"])
def test_the_average_has_a_larger_margin_than_its_members(kernel):
    """On noisy grades, where single perceptrons wander."""
    train = rf.make_artificial(queries=80, documents=15, features=5, seed=3, noise=1.0)
    test = rf.make_artificial(queries=200, documents=15, features=5, seed=4)
    single = np.mean([ndcg(rf.PRank(kernel, seed=seed, **QUICK).fit(train), test) for seed in range(5)])
    assert ndcg(rf.PRank(kernel, large_margin=True, n_members=30, **QUICK).fit(train), test) > single + 0.01


def test_one_member_that_sees_everything_is_the_single_one(data):
    one = rf.PRank(**QUICK).fit(data).model_
    same = rf.PRank(large_margin=True, n_members=1, probability=1.0, **QUICK).fit(data).model_
    np.testing.assert_array_equal(one.weights, same.weights)
    np.testing.assert_array_equal(one.thresholds, same.thresholds)


def test_the_best_epoch_is_kept(data, held_out):
    told = []
    ranker = rf.PRank(epochs=30, early_stopping=6, progress=False)
    ranker.fit(data, validation=held_out, callbacks=[told.append])
    values = ranker.history_["validation"]
    assert ranker.best_iteration_ == 1 + int(np.argmax(values))
    assert len(values) == min(30, ranker.best_iteration_ + 6) == len(told)
    assert ndcg(ranker, held_out) == pytest.approx(max(values), abs=1e-12)
    without = rf.PRank(epochs=3, progress=False).fit(data)
    assert without.best_iteration_ == 3
    assert ndcg(without, data) == pytest.approx(without.history_["train"][-1], abs=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "quadratic"])
def test_files_hold_the_same_scores(data, kernel, tmp_path):
    ranker = rf.PRank(kernel, large_margin=True, n_members=3, **QUICK).fit(data)
    ranker.save(tmp_path / "model.json")
    again = rf.load(tmp_path / "model.json")
    assert isinstance(again, Perceptron)
    np.testing.assert_array_equal(again.predict(data), ranker.predict(data))
    np.testing.assert_array_equal(again.predict_grades(data), ranker.model_.predict_grades(data))
    assert from_bytes(to_bytes(again)).contents() == ranker.model_.contents()
    assert again.provenance.settings["kernel"] == kernel
    np.testing.assert_array_equal(again.predict(data.features[:1]), ranker.predict(data)[:1])


def test_a_file_with_a_wrong_model_is_refused(data):
    model = rf.PRank(**QUICK).fit(data).model_
    for change in (
        {"kernel": "cubic"},
        {"weights": model.weights[1:]},
        {"weights": np.full(6, np.nan)},
        {"deviations": np.zeros(6)},
        {"thresholds": model.thresholds[1:]},
        {"grades": model.grades[::-1]},
    ):
        with pytest.raises(rf.RankforceError):
            dataclasses.replace(model, **change)


def test_grades_by_threshold():
    model = rf.PRank(epochs=20, progress=False).fit(linear_data()).model_
    test = linear_data(seed=1)
    assert (model.predict_grades(test) == test.labels["grades"]).mean() > 0.85


def test_the_same_bytes_for_any_threads_and_any_order_of_queries(data):
    shuffled = data.take_queries(np.random.default_rng(0).permutation(data.n_queries))

    def fitted(given, threads):
        ranker = rf.PRank("quadratic", large_margin=True, n_members=5, threads=threads, **QUICK).fit(given)
        return ranker.model_

    one = fitted(data, 1)
    assert to_bytes(fitted(data, 2)) == to_bytes(one)
    assert fitted(shuffled, 2).contents() == one.contents()


def test_missing_values_weights_and_unlabelled_documents(data):
    features = np.array(data.features)
    grades = np.array(data.labels["grades"])
    features[::7, 0] = np.nan
    grades[::11] = np.nan
    weights = np.where(np.arange(len(data)) % 5 == 0, 0.0, 1.0)
    some = rf.PRank(**QUICK).fit(data.replace(features=features, labels={"grades": grades}, weights=weights))
    assert np.isfinite(some.predict(features)).all()
    column = features[:, 0]
    assert some.model_.means[0] == pytest.approx(np.nanmean(column.astype(float)))
    taking_part = (weights > 0) & ~np.isnan(grades)
    absurd = np.where(taking_part, grades, 4 - np.nan_to_num(grades))  # what does not take part may be anything
    same = rf.PRank(**QUICK).fit(
        data.replace(features=features, labels={"grades": absurd}, weights=taking_part.astype(float))
    )
    np.testing.assert_array_equal(some.model_.weights, same.model_.weights)
    doubled = rf.PRank(**QUICK).fit(data.replace(weights=np.full(len(data), 2.0)))
    np.testing.assert_array_equal(doubled.model_.weights, 2 * rf.PRank(**QUICK).fit(data).model_.weights)


def test_a_constant_and_an_empty_feature_do_no_harm(data):
    features = np.column_stack([data.features, np.ones(len(data)), np.full(len(data), np.nan)])
    ranker = rf.PRank(**QUICK).fit(rf.Dataset(features, data.labels["grades"], data.qid))
    np.testing.assert_array_equal(ranker.model_.weights[-2:], 0.0)
    np.testing.assert_array_equal(ranker.predict(features), rf.PRank(**QUICK).fit(data).predict(data))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "cubic"}, "kernel"),
        ({"epochs": 0}, "epochs"),
        ({"probability": 0.0}, "probability"),
        ({"n_members": 0}, "n_members"),
        ({"early_stopping": 3}, "validation"),
        ({"validation_measure": "NDGC"}, "NDGC"),
    ],
)
def test_what_is_refused(data, settings, message):
    with pytest.raises(rf.RankforceError, match=message):
        rf.PRank(**{"progress": False} | settings).fit(data)


def test_labels_that_are_no_grades_are_refused(data):
    with pytest.raises(rf.DataError, match="too many"):
        rf.PRank(**QUICK).fit(data.replace(labels={"grades": np.random.default_rng(0).random(len(data))}))
    with pytest.raises(rf.DataError, match="the grade 1"):
        rf.PRank(**QUICK).fit(data.replace(labels={"grades": np.ones(len(data))}))


def test_what_the_quadratic_kernel_cannot_have_is_refused_before_anything_is_made(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 100_000_000)
    data = rf.Dataset(np.zeros((4, 6000), dtype=np.float32), [0, 1, 0, 1], [1, 1, 2, 2])
    with pytest.raises(rf.SettingsError) as caught:
        rf.PRank("quadratic", progress=False).fit(data)
    assert str(caught.value) == (
        "PRank with kernel='quadratic' needs 288 MB of memory (18,009,001 weights of 6,000 features × 2 vectors × 8 "
        "bytes, and 4 documents × 6,000 features × 8 bytes), and 100 MB can be had: give fewer features or members, or "
        "kernel='linear'"
    )
