"""Models with sets of categories, read and scored by the engines that they were written for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.importing.adversarial_rows import adversarial_rows
from tests.models.random_trees import categorical_ensemble

import rankforce as rf
from rankforce.models.tree_ensemble import TreeEnsemble

COUNTS = {1: 5, 4: 70}
CATEGORIES = {"f1": tuple("abcdö"), "f4": tuple(range(0, 140, 2))}
LISTED: list[Any] = [None, CATEGORIES]


def model_of(seed: int, categories: Any) -> TreeEnsemble:
    return categorical_ensemble(seed, [31] * 6 + [2, 1, 40], COUNTS, categories=categories, base_score=0.5)


def checked(model: TreeEnsemble, path: Path, form: str, **options: Any) -> None:
    exported = model.export(path, form, missing="nan", check=True, **options)
    assert exported.check is not None
    assert exported.check.passed, exported.check
    assert exported.check.changed_leaves == 0


@pytest.mark.parametrize("categories", LISTED, ids=["unlisted", "listed"])
def test_lightgbm_scores_the_same_bits(categories: Any, tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    model = model_of(1, categories)
    path = tmp_path / "model.txt"
    checked(model, path, "lightgbm", engine="lightgbm")
    rows = adversarial_rows(model, 2, 800)
    booster = lightgbm.Booster(model_file=path)
    np.testing.assert_array_equal(booster.predict(rows), model.predict(rows))
    again = rf.load(path)
    assert again.categories == model.categories
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    json_path = tmp_path / "model.json"
    checked(model, json_path, "lightgbm-json")
    np.testing.assert_array_equal(rf.load(json_path).predict(rows), model.predict(rows))
    assert rf.load(json_path).categories == model.categories


@pytest.mark.parametrize("form", ["lightgbm", "lightgbm-json"])
def test_names_of_categories_that_no_tree_asks_for_come_back(form: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"qid": np.repeat(range(40), 10), "brand": ["one"] * 400, "shop": rng.choice(list("abc"), 400)}
    )
    frame["label"] = (frame["shop"] == "b") + rng.integers(0, 2, 400)
    data = rf.Dataset(frame)
    model = rf.LambdaMART(n_trees=3, progress=False).fit(data).model_
    assert model.categories == {"brand": ("one",), "shop": ("a", "b", "c")}
    assert not (model.feature == model.feature_names.index("brand")).any()
    checked(model, tmp_path / "model", form)
    again = rf.load(tmp_path / "model")
    assert again.categories == model.categories
    np.testing.assert_array_equal(again.predict(data), model.predict(data))


def test_lightgbm_reads_frames_of_pandas(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    model = model_of(2, CATEGORIES)
    checked(model, tmp_path / "model.txt", "lightgbm")
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.standard_normal((300, 7)).astype(np.float32), columns=list(model.feature_names))
    for name, listed in CATEGORIES.items():
        frame[name] = pd.Categorical(rng.choice(np.array([*listed, None], dtype=object), 300), list(reversed(listed)))
    booster = lightgbm.Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_array_equal(booster.predict(frame), model.predict(frame))


@pytest.mark.parametrize("ending", ["json", "ubj"])
@pytest.mark.parametrize("categories", LISTED, ids=["unlisted", "listed"])
def test_xgboost_scores_the_same_but_for_float32(categories: Any, ending: str, tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    model = model_of(4, categories)
    path = tmp_path / f"model.{ending}"
    checked(model, path, "xgboost", engine="xgboost")
    rows = adversarial_rows(model, 2, 800)
    types = ["c" if place in COUNTS else "float" for place in range(7)]
    names = list(model.feature_names)
    data = xgboost.DMatrix(rows, feature_types=types, feature_names=names, enable_categorical=True)
    scores = xgboost.Booster(model_file=path).predict(data)
    np.testing.assert_allclose(scores, model.predict(rows), rtol=3e-6, atol=3e-6)
    np.testing.assert_array_equal(rf.load(path).predict(rows), model.predict(rows))


@pytest.mark.parametrize("categories", LISTED, ids=["unlisted", "listed"])
def test_onnxruntime_scores_the_same_bits(categories: Any, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    model = model_of(5, categories)
    path = tmp_path / "model.onnx"
    checked(model, path, "onnx")
    rows = adversarial_rows(model, 2, 800)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"features": rows.astype(np.float64)})
    np.testing.assert_array_equal(scores[:, 0], model.predict(rows))


def test_treelite_scores_the_same(tmp_path: Path) -> None:
    treelite = pytest.importorskip("treelite")
    model = model_of(6, CATEGORIES)
    rows = adversarial_rows(model, 2, 800)
    rows[:, [1, 4]] = np.where(rows[:, [1, 4]] < 0, np.nan, rows[:, [1, 4]])  # it refuses negative codes
    model.export(tmp_path / "model.txt", "lightgbm", missing="nan", engine="treelite")
    loaded = treelite.frontend.load_lightgbm_model(str(tmp_path / "model.txt"))
    scores = np.asarray(treelite.gtil.predict(loaded, rows.astype(np.float64), pred_margin=True)).reshape(-1)
    np.testing.assert_allclose(scores, model.predict(rows), rtol=1e-6, atol=1e-6)
