"""Trees weighed by an exact sweep: the weight is the best there is, and trainings stay repeatable."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.boosting import course as boosting
from rankforce.boosting.line_search import LARGEST_WEIGHT


def some_data(seed=0, queries=60):
    made = rf.make_artificial(queries=queries, documents=(3, 20), features=6, seed=seed)
    return made.replace(features=np.round(made.features, 1))  # ties


def settings(**more):
    return {"n_trees": 6, "n_leaves": 5, "min_documents": 3, "seed": 1, "progress": False} | more


@pytest.mark.parametrize("on", ["train", "validation"])
@pytest.mark.parametrize("measure", ["NDCG@5", "NDCG@3(judged_only=true)"])
def test_no_weight_on_a_dense_grid_is_better(on, measure, monkeypatch):
    seen = []
    true = boosting.best_weight

    def watching(running, tree, leaf_of, weighed):
        weight = true(running, tree, leaf_of, weighed)
        found = running.value_with(weighed(weight), leaf_of)
        grid = (np.arange(150) + 0.503) * (LARGEST_WEIGHT / 151)
        best = max(running.value_with(weighed(one), leaf_of) for one in grid)
        seen.append((weight, found, best, running.value_with(tree, leaf_of)))
        return weight

    monkeypatch.setattr(boosting, "best_weight", watching)
    train, valid = some_data(), some_data(1)
    labels = train.label().copy()
    labels[::7] = np.nan
    train = train.replace(labels={"grades": labels})
    ranker = rf.LambdaMART(measure, line_search=2, line_search_on=on, **settings())
    ranker.fit(train, validation=valid)
    assert len(seen) == 3
    for weight, found, best, with_one in seen:
        assert 0.0 < weight < LARGEST_WEIGHT
        assert found >= best - 1e-12
        assert found >= with_one
    assert any(weight != 1.0 for weight, *_ in seen)
    assert seen[-1][1] == ranker.history_[on][-1]


def test_only_every_kth_tree_is_weighed():
    data = some_data()
    plain = rf.LambdaMART("NDCG@5", **settings(n_trees=3)).fit(data).model_
    weighed = rf.LambdaMART("NDCG@5", line_search=3, **settings(n_trees=3)).fit(data).model_
    for tree, other in zip(plain.trees[:2], weighed.trees[:2], strict=True):
        np.testing.assert_array_equal(tree.leaf_value, other.leaf_value)
    ratio = weighed.trees[2].leaf_value / plain.trees[2].leaf_value
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    assert ratio[0] != 1.0
    assert weighed.provenance.settings["line_search"] == 3


def test_the_first_tree_has_nothing_to_cross_and_keeps_its_weight():
    data = some_data()
    plain = rf.LambdaMART("NDCG@5", **settings(n_trees=1)).fit(data).model_
    weighed = rf.LambdaMART("NDCG@5", line_search=1, **settings(n_trees=1)).fit(data).model_
    np.testing.assert_array_equal(plain.trees[0].leaf_value, weighed.trees[0].leaf_value)


def test_interrupted_trainings_and_threads_give_the_same_bytes(tmp_path):
    train, valid = some_data(queries=200), some_data(1)
    common = settings(n_trees=9, line_search=2, line_search_on="validation", early_stopping=8, query_fraction=0.7)
    files = []
    for name, threads, stops in (("whole", 2, (9,)), ("one", 1, (9,)), ("parts", 2, (3, 4, 9))):
        for trees in stops:
            ranker = rf.LambdaMART("NDCG@5", **(common | {"n_trees": trees, "threads": threads}))
            ranker.fit(train, validation=valid, checkpoint=tmp_path / name, checkpoint_every=1)
        ranker.set_params(n_trees=9).model_.save(tmp_path / f"{name}.json")
        files.append((tmp_path / f"{name}.json").read_bytes())
    assert files[0] == files[1] == files[2]
    with pytest.raises(rf.SettingsError, match="line_search was 2 and is 3"):
        rf.LambdaMART("NDCG@5", **(common | {"line_search": 3})).fit(
            train, validation=valid, checkpoint=tmp_path / "whole"
        )


def test_regression_trees_can_be_weighed_for_a_ranking_measure():
    data = some_data()
    ranker = rf.MART("regression", line_search=2, validation_measure="NDCG@5", **settings()).fit(data)
    plain = rf.MART("regression", validation_measure="NDCG@5", **settings()).fit(data)
    assert ranker.history_["train"][1] >= plain.history_["train"][1]
    assert ranker.history_["train"] != plain.history_["train"]


def test_what_cannot_be_searched_is_refused():
    data = some_data()
    with pytest.raises(rf.SettingsError, match="needs validation data"):
        rf.LambdaMART(line_search=2, line_search_on="validation", **settings()).fit(data)
    with pytest.raises(rf.SettingsError, match="one tree per round, and here are 5"):
        rf.MART("multiclass", line_search=2, **settings()).fit(data)
    with pytest.raises(rf.SettingsError, match="line_search must be"):
        rf.LambdaMART(line_search=0, **settings()).fit(data)
    with pytest.raises(rf.SettingsError, match="line_search_on must be"):
        rf.LambdaMART(line_search=1, line_search_on="test", **settings()).fit(data)
    judged, data = data, data.replace(labels={})
    preferences = rf.Preferences(data, better=[1], worse=[0])
    with pytest.raises(rf.SettingsError, match="listed preferences are watched"):
        rf.LambdaMART(line_search=1, **settings()).fit(data, preferences=preferences)
    with pytest.raises(rf.SettingsError, match="listed preferences are watched"):
        rf.LambdaMART(line_search=1, line_search_on="validation", **settings()).fit(judged, validation=preferences)


def test_several_tiers_are_searched_by_the_first_on_training_data_and_refused_on_validation_data():
    data = some_data()
    data = data.with_label("clicks", (data.labels["grades"] + np.arange(data.n_documents) % 3) / 8)
    graded = rf.Graded(["NDCG@5", "CNDCG@5:clicks"], [0.8, 0.2])
    ranker = rf.LambdaMART(objective=graded, line_search=1, **settings())
    with pytest.raises(rf.SettingsError, match=r"2 are watched \(NDCG@5, CNDCG@5:clicks\): use line_search_on='train'"):
        ranker.unfitted(line_search_on="validation").fit(data, validation=data)
    ranker.fit(data, validation=data.replace(features=np.array(data.features)))
    ranker.unfitted(line_search_on="validation", validation_measure="NDCG@5").fit(data, validation=data)
