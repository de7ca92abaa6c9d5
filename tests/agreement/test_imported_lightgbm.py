"""Models of LightGBM, read from its files: the same leaves and the same sums, bit for bit."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.importing.adversarial_rows import adversarial_rows

import rankforce as rf
from rankforce.errors import ModelFileError, RankforceWarning

lgb = pytest.importorskip("lightgbm")

SETTINGS: dict[str, dict[str, Any]] = {
    "lambdarank": {"objective": "lambdarank"},
    "regression": {"objective": "regression"},
    "without missing": {"objective": "lambdarank", "use_missing": False},
    "zero as missing": {"objective": "regression", "zero_as_missing": True},
    "dart": {"objective": "lambdarank", "boosting": "dart"},
    "l1": {"objective": "regression_l1"},
    "binary": {"objective": "binary"},
}


def train(settings: dict[str, Any], *, names: bool = True, trees: int = 12, leaves: int = 15) -> Any:
    rng = np.random.default_rng(1)
    features = rng.standard_normal((900, 5)).astype(np.float32)
    features[:, 1] = np.round(features[:, 1])
    features[:, 2] *= rng.random(900) < 0.3
    features[rng.random(features.shape) < 0.08] = np.nan
    labels = np.clip(np.round(np.nan_to_num(features[:, 0] + features[:, 1] * features[:, 2]) + 1), 0, 4)
    if settings["objective"] == "binary":
        labels = (labels > 1).astype(float)
    named: Any = ["bm25", "clicks", "page_rank", "length", "age"] if names else "auto"
    data = lgb.Dataset(features, labels, group=[30] * 30, feature_name=named)
    fixed = {"num_leaves": leaves, "min_data_in_leaf": 5, "verbosity": -1, "num_threads": 1, "deterministic": True}
    return lgb.train(fixed | settings, data, num_boost_round=trees)


def read(booster: Any, folder: Path, form: str) -> Any:
    path = folder / "model"
    if form == "text":
        booster.save_model(path)
    else:
        path.write_text(json.dumps(booster.dump_model()))
    return rf.load(path)


@pytest.mark.parametrize("form", ["text", "JSON"])
@pytest.mark.parametrize("kind", SETTINGS)
def test_scores_are_lightgbms_bit_for_bit(kind: str, form: str, tmp_path: Path) -> None:
    booster = train(SETTINGS[kind])
    model = read(booster, tmp_path, form)
    rows = adversarial_rows(model, 2)
    np.testing.assert_array_equal(model.predict(rows), booster.predict(rows, raw_score=True))
    np.testing.assert_array_equal(model.predict(rows[:1]), booster.predict(rows[:1], raw_score=True))
    if kind != "zero as missing":
        np.testing.assert_array_equal(model.leaf_indices(rows), booster.predict(rows, pred_leaf=True))
        assert (model.leaf_documents > 0).all()
        counts = [
            model.leaf_documents[a:b].sum() for a, b in zip(model.leaf_starts, model.leaf_starts[1:], strict=False)
        ]
        assert counts == [900] * model.n_trees
    assert model.feature_names == ("bm25", "clicks", "page_rank", "length", "age")
    assert model.provenance.settings["imported"]["library"] == "LightGBM"
    model.save(tmp_path / "ours.json")
    np.testing.assert_array_equal(rf.load(tmp_path / "ours.json").predict(rows), model.predict(rows))


def test_splits_of_type_zero_need_copies_sometimes(tmp_path: Path) -> None:
    booster = train(SETTINGS["zero as missing"])
    assert read(booster, tmp_path, "text").tree_leaves.sum() > 12 * 15


def test_a_random_forest_is_the_mean_of_its_trees(tmp_path: Path) -> None:
    booster = train({"objective": "regression", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5})
    for form in ("text", "JSON"):
        model = read(booster, tmp_path, form)
        rows = adversarial_rows(model, 3)
        np.testing.assert_allclose(model.predict(rows), booster.predict(rows), rtol=1e-14, atol=1e-14)


def test_names_that_lightgbm_made_up_are_numbers(tmp_path: Path) -> None:
    model = read(train(SETTINGS["lambdarank"], names=False, trees=2), tmp_path, "text")
    assert model.feature_names == ("1", "2", "3", "4", "5")


def test_trees_of_one_leaf(tmp_path: Path) -> None:
    booster = train({"objective": "regression", "min_gain_to_split": 1e9}, trees=2)
    for form in ("text", "JSON"):
        model = read(booster, tmp_path, form)
        assert set(model.tree_leaves) == {1}
        np.testing.assert_array_equal(model.predict(np.zeros((3, 5))), booster.predict(np.zeros((3, 5))))


def categorical_frame(rng: np.random.Generator, documents: int) -> Any:
    """Two columns of categories, one of texts and one of whole numbers, beside two of numbers."""
    frame = pd.DataFrame(rng.standard_normal((documents, 2)).astype(np.float32), columns=["bm25", "age"])
    frame["brand"] = pd.Categorical([f"brand {k}" for k in rng.integers(0, 45, documents)])
    frame["shop"] = pd.Categorical(rng.integers(0, 3, documents) * 10)
    frame.loc[rng.random(documents) < 0.1, "brand"] = None
    frame.loc[rng.random(documents) < 0.1, "age"] = None
    return frame


CATEGORICAL = {"objective": "regression", "min_data_per_group": 5, "cat_smooth": 1.0, "min_data_in_leaf": 5}


def labels_of(frame: Any) -> np.ndarray:
    return np.sin(1.7 * frame["brand"].cat.codes) + frame["bm25"] * (frame["shop"] == 10) + frame["age"].fillna(0.3)


@pytest.mark.parametrize("form", ["text", "JSON"])
@pytest.mark.parametrize("missing", [True, False])
def test_categorical_splits_are_lightgbms_bit_for_bit(form: str, missing: bool, tmp_path: Path) -> None:
    frame = categorical_frame(np.random.default_rng(1), 1200)
    matrix = np.column_stack(
        [frame[name].cat.codes if frame[name].dtype == "category" else frame[name] for name in frame]
    )
    matrix = np.where((matrix < 0) & (np.arange(4) == 2), np.nan if missing else 46, matrix).astype(np.float32)
    data = lgb.Dataset(matrix, labels_of(frame), categorical_feature=[2, 3], params={"verbosity": -1})
    booster = lgb.train(CATEGORICAL | {"verbosity": -1, "num_threads": 1, "num_leaves": 15}, data, 12)
    model = read(booster, tmp_path, form)
    assert 0.2 < (model.subset >= 0).mean() < 0.9
    assert model.unnamed_categories == {2, 3}
    rows = adversarial_rows(model, 2, 600)
    np.testing.assert_array_equal(model.predict(rows), booster.predict(rows))
    np.testing.assert_array_equal(model.leaf_indices(rows), booster.predict(rows, pred_leaf=True))
    np.testing.assert_array_equal(model.predict(rows[:1]), booster.predict(rows[:1]))
    model.save(tmp_path / "ours.json")
    np.testing.assert_array_equal(rf.load(tmp_path / "ours.json").predict(rows), model.predict(rows))


@pytest.mark.parametrize("form", ["text", "JSON"])
def test_categories_of_pandas_keep_their_names(form: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame, other = categorical_frame(rng, 1200), categorical_frame(rng, 300)
    data = lgb.Dataset(frame, labels_of(frame), params={"verbosity": -1})
    booster = lgb.train(CATEGORICAL | {"verbosity": -1, "num_threads": 1}, data, 6)
    model = read(booster, tmp_path, form)
    assert model.categories == {
        "brand": tuple(frame["brand"].cat.categories),
        "shop": tuple(frame["shop"].cat.categories),
    }
    other["brand"] = other["brand"].cat.add_categories(["unheard of"]).fillna("unheard of")
    np.testing.assert_array_equal(model.predict(other), booster.predict(other))
    np.testing.assert_array_equal(model.predict(other[["shop", "age", "bm25", "brand"]]), booster.predict(other))


def test_ordered_categories_of_pandas_are_nobodys(tmp_path: Path) -> None:
    frame = categorical_frame(np.random.default_rng(3), 600)
    target = labels_of(frame)
    frame["size"] = pd.Categorical(np.random.default_rng(3).choice(["S", "M", "L"], 600), ["S", "M", "L"], ordered=True)
    booster = lgb.train(CATEGORICAL | {"verbosity": -1}, lgb.Dataset(frame, target, params={"verbosity": -1}), 2)
    model = read(booster, tmp_path, "text")
    assert not model.categories  # which list belongs to which feature, the file does not say
    with pytest.raises(rf.DataError, match="categories"):
        model.predict(frame)


@pytest.mark.parametrize("form", ["text", "JSON"])
def test_names_of_ordered_categories_are_not_those_of_declared_numbers(form: str, tmp_path: Path) -> None:
    """One list and one categorical feature, and they are not of the same column."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"size": rng.choice(["S", "M", "L"], 600), "shop": rng.choice([0, 2], 600)})
    frame["size"] = pd.Categorical(frame["size"], ["S", "M", "L"], ordered=True)
    target = (frame["shop"] == 2) + frame["size"].cat.codes
    data = lgb.Dataset(frame, target, categorical_feature=["shop"], params={"verbosity": -1})
    booster = lgb.train(CATEGORICAL | {"verbosity": -1, "num_threads": 1}, data, 3)
    with pytest.warns(RankforceWarning, match="the 3 categories 'S', ... may be those of an ordered column"):
        model = read(booster, tmp_path, form)
    assert not model.categories
    assert model.unnamed_categories == {1}
    codes = np.column_stack([frame["size"].cat.codes, frame["shop"]]).astype(np.float32)
    np.testing.assert_array_equal(model.predict(codes), booster.predict(frame))


def test_names_that_json_does_not_tell_the_features_of_are_left_out_with_a_word(tmp_path: Path) -> None:
    """A feature of one category is never split on, and JSON says nothing of it; the text does."""
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"brand": pd.Categorical(["one"] * 600), "shop": pd.Categorical(rng.choice(list("abc"), 600))})
    data = lgb.Dataset(frame, frame["shop"].cat.codes % 2, params={"verbosity": -1})
    booster = lgb.train(CATEGORICAL | {"verbosity": -1, "num_threads": 1}, data, 3)
    model = read(booster, tmp_path, "text")
    assert set(model.categories) == {"brand", "shop"}
    np.testing.assert_array_equal(model.predict(frame), booster.predict(frame))
    with pytest.warns(RankforceWarning, match="2 lists of categories, and 1 categorical feature with splits"):
        model = read(booster, tmp_path, "JSON")
    codes = np.column_stack([frame[name].cat.codes for name in frame]).astype(np.float32)
    np.testing.assert_array_equal(model.predict(codes), booster.predict(frame))


def test_rare_categories_that_lightgbm_does_not_list_leave_names_where_they_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    brands = [f"brand {code}" for code in range(6)]
    drawn = np.append(rng.choice(brands[:5], 599), brands[5])
    frame = pd.DataFrame({"brand": pd.Categorical(drawn, brands), "new": rng.integers(0, 2, 600)})
    target = frame["brand"].cat.codes % 2 + frame["new"]
    booster = lgb.train(CATEGORICAL | {"verbosity": -1}, lgb.Dataset(frame, target, params={"verbosity": -1}), 2)
    assert "5" not in re.search(r"feature_infos=(\S+)", booster.model_to_string())[1].split(":")
    assert read(booster, tmp_path, "text").categories == {"brand": tuple(brands)}


def test_what_cannot_be_kept_is_refused_with_the_reason(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    features, labels = rng.integers(0, 5, (300, 2)).astype(float), rng.integers(0, 3, 300)
    quiet = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5, "min_data_per_group": 5, "cat_smooth": 1.0}
    for settings, categories, reason in (
        ({"objective": "multiclass", "num_class": 3}, "auto", "several outputs"),
        ({"objective": "regression", "linear_tree": True}, "auto", "linear"),
    ):
        data = lgb.Dataset(features, labels, categorical_feature=categories, params=quiet | settings)
        booster = lgb.train(quiet | settings, data, num_boost_round=2)
        for form in ("text", "JSON"):
            if reason == "linear" and form == "JSON" and "leaf_coeff" not in json.dumps(booster.dump_model()):
                continue
            with pytest.raises(ModelFileError, match=reason):
                read(booster, tmp_path, form)
