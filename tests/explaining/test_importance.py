"""``rf.importance``: losses by their definition, whatever the model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.explaining import slow_twin
from tests.explaining.test_explain import MODELS, data_for, some_data
from tests.models.random_trees import random_ensemble

import rankforce as rf
from rankforce.explaining.attribution import rows_of
from rankforce.explaining.importance import dealt
from rankforce.explaining.neutralised import OneFeature, scores_of_rows, scores_without

QUICK = {"permutations": 2, "progress": False}


def test_values_are_dealt_within_queries_whatever_the_order_of_the_file():
    data = some_data(60)
    column = np.arange(60, dtype=np.float32)
    moved = dealt(column, data, "f1", 0, 5)
    for rows in data.each_query():
        assert sorted(moved[rows]) == sorted(column[rows])
    assert (moved != column).sum() > 30
    assert moved.tolist() != dealt(column, data, "f1", 1, 5).tolist()
    assert moved.tolist() != dealt(column, data, "f2", 0, 5).tolist()
    order = np.argsort(np.arange(60) % 3, kind="stable")  # queries one after the other
    sorted_data = rf.Dataset(data.features[order], data.labels["grades"][order], qid=data.qid[order])
    assert dealt(column[order], sorted_data, "f1", 0, 5).tolist() == moved[order].tolist()


@pytest.mark.parametrize("name", MODELS)
def test_scores_of_one_feature_are_those_of_the_model(name):
    model, data = MODELS[name], data_for(name)
    rows = rows_of(model, data)
    np.testing.assert_allclose(scores_of_rows(model, rows), model.predict(data), rtol=0, atol=0)
    for place in range(4):
        one = OneFeature(model, rows, place)
        np.testing.assert_allclose(one.scores(rows[:, place]), model.predict(data), atol=1e-12)
        changed = np.array(rows)
        changed[:, place] = 0.125
        np.testing.assert_allclose(one.scores(changed[:, place]), scores_of_rows(model, changed), atol=1e-12)
        np.testing.assert_allclose(one.scores_without(), scores_without(model, rows, place), atol=1e-12)


def test_taken_out_of_trees_is_the_mean_by_training_documents():
    model = random_ensemble(4, [8, 1, 12], 4)
    rows = some_data().features
    for place in range(4):
        known = frozenset(range(4)) - {place}
        twin = [sum(slow_twin.expected_value(tree, row, known) for tree in model.trees) for row in rows]
        np.testing.assert_allclose(scores_without(model, rows, place), twin, atol=1e-12)


@pytest.mark.parametrize("name", ["two layers", "by query"])
def test_taken_out_of_a_net_is_its_mean(name):
    model, data = MODELS[name], some_data()
    changed = np.array(data.features)
    changed[:, 1] = np.nan  # a missing value is the mean
    found = scores_without(model, rows_of(model, data), 1)
    np.testing.assert_allclose(found, model.predict(data.replace(features=changed)), atol=1e-12)


def test_losses_are_differences_of_evaluations():
    data = some_data(90)
    model = random_ensemble(1, [6, 9, 5], 4)
    found = rf.importance(model, data, "NDCG@5", seed=3, **QUICK)
    assert found.value == rf.evaluate(model, data, "NDCG@5", ties="expected").mean["NDCG@5"]
    for place, name in enumerate(data.feature_names):
        values = []
        for deal in range(2):
            changed = np.array(data.features)
            changed[:, place] = dealt(data.features[:, place], data, name, deal, 3)
            values.append(rf.evaluate(model._scores(changed), data, "NDCG@5", ties="expected").mean["NDCG@5"])
        assert found[name].permuted == pytest.approx(found.value - np.mean(values), abs=1e-9)
        without = rf.evaluate(scores_without(model, data.features, place), data, "NDCG@5", ties="expected")
        assert found[name].removed == pytest.approx(found.value - without.mean["NDCG@5"], abs=1e-9)
        low, high = found[name].permuted_interval
        assert low <= found[name].permuted <= high
    assert [loss.permuted for loss in found.losses] == sorted((loss.permuted for loss in found.losses), reverse=True)
    with pytest.raises(KeyError):
        found["nothing"]


def test_features_that_are_never_asked_for_lose_nothing():
    data = some_data(features=6)
    model = random_ensemble(1, [6, 5], 4, feature_names=("f0", "f1", "f2", "f3"))
    padded = random_ensemble(1, [2], 6)
    found = rf.importance(padded, data, **QUICK)
    assert len(found.unused) == 5
    assert all(found[name].permuted == found[name].removed == 0.0 for name in found.unused)
    some = rf.importance(model, data.take_features(range(4)), features=["f2", "f0"], **QUICK)
    assert {loss.feature for loss in some.losses} == {"f0", "f2"}


def test_a_feature_that_decides_everything_is_first():
    data = rf.make_artificial(queries=30, documents=12, features=4, seed=0)
    features = np.array(data.features)
    features[:, 2] = data.labels["grades"]
    data = data.replace(features=features)
    ranker = rf.LambdaMART(n_trees=5, min_documents=5, progress=False).fit(data)
    found = rf.importance(ranker, data, "NDCG@5", **QUICK)
    assert found.losses[0].feature == data.feature_names[2]
    assert found.losses[0].permuted_interval.low > 0.1
    assert found.losses[0].removed > 0.1


def test_results_in_other_forms():
    pytest.importorskip("pandas")
    found = rf.importance(MODELS["trees"], some_data(), **QUICK)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["permutations"] == 2
    assert "<table" in found._repr_html_()
    assert len(found.to_pandas()) == 4
    text = str(found)
    assert "dealt anew within each query, mean of 2 deals" in text
    assert "at its splits in trees a document goes both ways" in text


@pytest.mark.parametrize(
    "wrong",
    [{"permutations": 0}, {"features": ["x"]}, {"features": "f1"}, {"level": 2}, {"ties": "none"}, {"measure": "x"}],
)
def test_what_is_refused(wrong):
    with pytest.raises(rf.RankforceError):
        rf.importance(MODELS["trees"], some_data(), **(QUICK | wrong))
