"""Models of XGBoost, read from its files: the same leaves; the same sums but for XGBoost's float32 rounding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.importing.adversarial_rows import adversarial_rows

import rankforce as rf
from rankforce.errors import ModelFileError

xgb = pytest.importorskip("xgboost")

SETTINGS: dict[str, dict[str, Any]] = {
    "rank:ndcg": {"objective": "rank:ndcg"},
    "rank:pairwise, lossguide": {"objective": "rank:pairwise", "grow_policy": "lossguide", "max_leaves": 9},
    "reg:squarederror": {"objective": "reg:squarederror"},
    "binary:logistic": {"objective": "binary:logistic", "base_score": 0.3},
    "count:poisson": {"objective": "count:poisson"},
    "dart": {"objective": "rank:ndcg", "booster": "dart", "rate_drop": 0.5, "seed": 3},
    "forest": {"objective": "reg:squarederror", "num_parallel_tree": 3, "subsample": 0.5, "seed": 3},
}
NAMES = ["bm25", "clicks", "page_rank", "length"]


def make_data(labels: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    features = rng.standard_normal((600, 4)).astype(np.float32)
    features[:, 1] = np.round(features[:, 1])
    features[rng.random(features.shape) < 0.1] = np.nan
    grades = np.clip(np.round(np.nan_to_num(features[:, 0] + features[:, 1]) + 1), 0, 4)
    return features, grades > 1 if labels == "binary" else grades


def train(settings: dict[str, Any], trees: int = 8, names: bool = True, **more: Any) -> Any:
    features, labels = make_data("binary" if "binary" in settings["objective"] else "grades")
    data = xgb.DMatrix(features, labels, group=[30] * 20, feature_names=NAMES if names else None)
    return xgb.train({"max_depth": 4, "nthread": 1, "verbosity": 0} | settings, data, num_boost_round=trees, **more)


def read(booster: Any, folder: Path, form: str) -> Any:
    path = folder / f"model.{form}"
    if form == "dump":
        path.write_text("[" + ",".join(booster.get_dump(dump_format="json", with_stats=True)) + "]")
    else:
        booster.save_model(path)
    return rf.load(path)


@pytest.mark.parametrize("form", ["json", "ubj", "dump"])
@pytest.mark.parametrize("kind", SETTINGS)
def test_leaves_and_margins_are_xgboosts(kind: str, form: str, tmp_path: Path) -> None:
    booster = train(SETTINGS[kind])
    model = read(booster, tmp_path, form)
    rows = adversarial_rows(model, 2)
    places = [NAMES.index(name) for name in model.feature_names]
    theirs = np.full((len(rows), 4), np.nan, dtype=np.float32)
    theirs[:, places] = rows
    matrix = xgb.DMatrix(theirs, feature_names=NAMES)
    leaves = booster.predict(matrix, pred_leaf=True).reshape(len(rows), -1)
    ours = model.leaf_indices(rows)
    for tree in range(model.n_trees):  # the numbers differ, the documents that share a leaf do not
        pairs = {(int(a), int(b)) for a, b in zip(ours[:, tree], leaves[:, tree], strict=True)}
        assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    margins = booster.predict(matrix, output_margin=True).astype(np.float64)
    scores = model.predict(rows)
    if form == "dump":  # which holds no base score, nor the weights of dart
        if kind == "dart":
            return
        scores = scores + (margins - scores)[0]
    np.testing.assert_allclose(scores, margins, rtol=2e-6, atol=2e-6)
    assert model.provenance.settings["imported"]["library"] == "XGBoost"
    assert (model.leaf_documents > 0).any()


def test_covers_that_are_counts_stay_counts(tmp_path: Path) -> None:
    model = read(train(SETTINGS["reg:squarederror"]), tmp_path, "json")
    assert (np.add.reduceat(model.leaf_documents, model.leaf_starts[:-1]) == 600).all()


def test_training_that_stopped_early_counts_up_to_the_best_iteration(tmp_path: Path) -> None:
    features, labels = make_data("grades")
    watched = xgb.DMatrix(features, labels[::-1].copy(), feature_names=NAMES)
    booster = train(
        SETTINGS["reg:squarederror"],
        30,
        evals=[(watched, "watched")],
        early_stopping_rounds=3,
        verbose_eval=False,
    )
    for form in ("json", "ubj"):
        model = read(booster, tmp_path, form)
        assert model.n_trees == booster.best_iteration + 1 < booster.num_boosted_rounds()
        expected = booster.predict(
            xgb.DMatrix(features, feature_names=NAMES), iteration_range=(0, booster.best_iteration + 1)
        )
        np.testing.assert_allclose(model.predict(features), expected, rtol=2e-6, atol=2e-6)


def test_features_without_names_are_numbered(tmp_path: Path) -> None:
    booster = train(SETTINGS["rank:ndcg"], names=False)
    for form in ("json", "ubj", "dump"):
        model = read(booster, tmp_path, form)
        assert model.feature_names == ("1", "2", "3", "4")
        features, _ = make_data("grades")
        spread = model.predict(features) - booster.predict(xgb.DMatrix(features))
        np.testing.assert_allclose(spread, spread[0], atol=2e-6)


@pytest.mark.parametrize("form", ["json", "ubj", "dump"])
@pytest.mark.parametrize("one_hot", [1, 100])
def test_categorical_splits_are_xgboosts(form: str, one_hot: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    features = rng.standard_normal((900, 4)).astype(np.float32)
    features[:, 1], features[:, 3] = rng.integers(0, 45, 900), rng.integers(0, 3, 900)
    features[rng.random(features.shape) < 0.1] = np.nan
    labels = np.sin(1.7 * np.nan_to_num(features[:, 1], nan=5)) + np.nan_to_num(features[:, 0]) * (features[:, 3] == 1)
    types = ["q", "c", "q", "c"]
    data = xgb.DMatrix(features, labels, feature_types=types, enable_categorical=True)
    booster = xgb.train({"max_depth": 5, "nthread": 1, "max_cat_to_onehot": one_hot}, data, 8)
    model = read(booster, tmp_path, form)
    assert model.n_features == 4
    assert 0.1 < (model.subset >= 0).mean() < 0.9
    rows = adversarial_rows(model, 2, 600)
    margins = booster.predict(
        xgb.DMatrix(rows, feature_types=types, enable_categorical=True), output_margin=True
    ).astype(np.float64)
    scores = model.predict(rows)
    if form == "dump":
        scores = scores + (margins - scores)[0]
    np.testing.assert_allclose(scores, margins, rtol=2e-6, atol=2e-6)
    assert len(np.unique(margins)) > 100


def test_categories_of_frames_keep_their_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"bm25": rng.standard_normal(600).astype(np.float32)})
    frame["brand"] = pd.Categorical([f"brand {k}" for k in rng.integers(0, 12, 600)])
    frame["shop"] = pd.Categorical(rng.integers(0, 3, 600) * 10)
    frame.loc[rng.random(600) < 0.1, "brand"] = None
    labels = np.sin(1.7 * frame["brand"].cat.codes) + frame["bm25"] * (frame["shop"] == 10)
    booster = xgb.train({"nthread": 1}, xgb.DMatrix(frame, labels, enable_categorical=True), 5)
    expected = booster.predict(xgb.DMatrix(frame, enable_categorical=True))
    for form in ("json", "ubj"):
        model = read(booster, tmp_path, form)
        if not model.categories:
            pytest.skip("this XGBoost does not write the names of categories")
        assert model.categories["brand"] == tuple(frame["brand"].cat.categories)
        assert model.categories["shop"] == (0, 10, 20)
        np.testing.assert_allclose(model.predict(frame), expected, rtol=2e-6, atol=2e-6)


def test_what_cannot_be_kept_is_refused_with_the_reason(tmp_path: Path) -> None:
    outputs = train({"objective": "multi:softprob", "num_class": 5}, 1)
    linear = train({"objective": "reg:squarederror", "booster": "gblinear"}, 1)
    for form in ("json", "ubj"):
        for booster, reason in ((outputs, "several outputs"), (linear, "gblinear")):
            with pytest.raises(ModelFileError, match=reason):
                read(booster, tmp_path, form)
    document = json.loads(train(SETTINGS["rank:ndcg"], 1).save_raw("json"))
    document["learner"]["objective"]["name"] = "mine"
    (tmp_path / "mine.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="'mine' is not known"):
        rf.load(tmp_path / "mine.json")
