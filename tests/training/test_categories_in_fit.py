"""Categories from the data to the model: validation data is coded alike, what cannot use them refuses them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankforce as rf
from rankforce import DataError, Dataset
from rankforce.inspection.column_guards import SuspectColumnWarning
from rankforce.rankers.catalogue import ranker_classes

BRANDS = ["acme", "bolt", "omni", "zeta"]


def shop(queries=30, seed=0, brands=BRANDS):
    rng = np.random.default_rng(seed)
    n = queries * 10
    frame = pd.DataFrame(
        {
            "qid": np.repeat(np.arange(queries), 10),
            "brand": rng.choice(brands, n),
            "price": rng.normal(size=n),
        }
    )
    frame["label"] = frame["brand"].isin(["acme", "omni"]) + (rng.random(n) < 0.2)
    return frame


def ranker(**settings):
    return rf.LambdaMART(**({"n_trees": 5, "min_documents": 5, "progress": False} | settings))


def test_the_model_has_the_categories_of_the_data():
    data = Dataset(shop())
    model = ranker().fit(data).model_
    assert dict(model.categories) == dict(data.categories) == {"brand": tuple(BRANDS)}
    assert rf.evaluate(model, data, "NDCG").mean[rf.measure("NDCG")] > 0.9
    raw = shop()[["price", "brand"]]
    np.testing.assert_array_equal(model.predict(raw), model.predict(data))


def test_validation_data_is_coded_as_the_training_data():
    train = Dataset(shop())
    other = shop(seed=1, brands=["omni", "acme", "aaa", "zeta"])
    validation = Dataset(other)
    assert validation.categories != train.categories
    fitted = ranker().fit(train, validation=validation)
    by_hand = Dataset(other, like=train)
    assert by_hand.categories == train.categories
    assert fitted.history_ == ranker().fit(train, validation=by_hand).history_
    as_tuple = (other[["brand", "price"]], other["label"], other["qid"])
    assert fitted.history_ == ranker().fit(train, validation=as_tuple).history_
    names = dict(zip(other["brand"], validation.features[:, 0].tolist(), strict=True))
    assert names["acme"] != dict(zip(other["brand"], by_hand.features[:, 0].tolist(), strict=True))["acme"]
    np.testing.assert_array_equal(fitted.predict(validation), fitted.predict(by_hand))


def test_numbers_are_never_taken_for_categories_of_the_other_side():
    train = Dataset(shop())
    codes = train.replace(categories={})
    for first, second, words in (
        (train, codes, "numbers in the validation data and categories in the training data"),
        (codes, train, "categories in the validation data and numbers in the training data"),
    ):
        with pytest.raises(DataError, match=f"'brand' holds {words}"):
            ranker().fit(first, validation=second)


@pytest.mark.parametrize("kind", [kind for kind in ranker_classes().values() if not kind().learns_categories])
def test_rankers_that_read_numbers_refuse_categories(kind):
    with pytest.raises(DataError, match=r"'brand'.*data\.without_features\(\['brand'\]\)"):
        kind(progress=False).fit(Dataset(shop(3)))


def test_a_bag_can_what_its_rankers_can():
    data = Dataset(shop())
    bag = rf.Bagging(ranker(), n_models=2, progress=False).fit(data)
    assert dict(bag.model_.categories) == dict(data.categories)
    with pytest.raises(DataError, match="Bagging reads features as numbers"):
        rf.Bagging(rf.LambdaRank(), n_models=2, progress=False).fit(data)


def test_nothing_is_ranked_by_a_category():
    data = Dataset(shop())
    for use in (lambda: rf.evaluate("brand", data), lambda: rf.combine(["brand", "price"], data)):
        with pytest.raises(DataError, match="'brand' holds categories"):
            use()


def test_preferences_of_other_lists_are_refused():
    train, other = Dataset(shop()), Dataset(shop(seed=1, brands=["omni", "acme", "aaa", "zeta"]))
    preferences = rf.Preferences.from_grades(train)
    with pytest.raises(DataError, match="other lists of categories"):
        ranker().fit(train, preferences=preferences, validation=rf.Preferences.from_grades(other))


def test_a_combination_by_a_net_knows_nothing_of_the_features():
    frame = shop()
    data = Dataset(frame, feature_names=["1", "2"])
    models = [ranker(seed=seed, n_trees=2).fit(data).model_ for seed in (0, 1)]
    combined = rf.combine(models, data, method="net", seed=0)
    assert np.isfinite(combined.value)


def test_fit_warns_of_columns_that_were_hardly_meant():
    frame = shop()
    frame["sku"] = np.random.default_rng(0).permutation(len(frame))
    with pytest.warns(SuspectColumnWarning, match=r"'sku'.*looks like an id.*ignore=\['sku'\]"):
        ranker(n_trees=1).fit(frame)
    ranker(n_trees=1).fit(Dataset(frame, ignore=["sku"]))
    matrix = frame[["sku", "price"]].to_numpy()
    ranker(n_trees=1).fit(matrix, frame["label"], frame["qid"])  # an array has no columns that were taken for something


def test_the_model_remembers_what_its_columns_were():
    frame = shop().assign(title=[f"title {row}" for row in range(300)], new=True)
    fitted = ranker(n_trees=1).fit(Dataset(frame, ignore=["title"]))
    card = rf.model_card(fitted.model_)
    assert card.columns == {
        "qid": "query",
        "label": "label",
        "brand": "category",
        "new": "0 and 1",
        "title": "left out (as asked)",
    }
    assert "title: left out (as asked)" in str(card)
    assert card.to_dict()["categories"] == {"brand": 4}
    plain = ranker(n_trees=1).fit(shop()[["price"]].to_numpy(), shop()["label"], shop()["qid"])
    assert rf.model_card(plain.model_).columns == {}
