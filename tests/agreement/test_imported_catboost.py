"""Models of CatBoost, read from its JSON: the same scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.importing.adversarial_rows import adversarial_rows

import rankforce as rf
from rankforce.errors import ModelFileError

catboost = pytest.importorskip("catboost")

SETTINGS: dict[str, dict[str, Any]] = {
    "symmetric": {"loss_function": "YetiRank", "depth": 4},
    "regression": {"loss_function": "RMSE", "depth": 3},
    "missing highest": {"loss_function": "RMSE", "depth": 3, "nan_mode": "Max"},
    "leafwise": {"loss_function": "RMSE", "grow_policy": "Lossguide", "max_leaves": 9},
    "depthwise": {"loss_function": "RMSE", "grow_policy": "Depthwise", "depth": 3},
}


def train(settings: dict[str, Any], **options: Any) -> Any:
    rng = np.random.default_rng(1)
    features = rng.standard_normal((600, 4)).astype(np.float32)
    features[:, 1] = np.round(features[:, 1])
    features[rng.random(features.shape) < 0.1] = np.nan
    grades = np.clip(np.round(np.nan_to_num(features[:, 0] + features[:, 1]) + 1), 0, 4)
    pool = catboost.Pool(features, grades, group_id=np.repeat(np.arange(20), 30), **options)
    fixed = {"iterations": 8, "verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 1}
    return catboost.CatBoost(fixed | settings).fit(pool)


@pytest.mark.parametrize("kind", SETTINGS)
def test_scores_are_catboosts(kind: str, tmp_path: Path) -> None:
    booster = train(SETTINGS[kind], feature_names=["bm25", "clicks", "page_rank", "length"])
    booster.save_model(str(tmp_path / "model.json"), format="json")
    model = rf.load(tmp_path / "model.json")
    assert model.feature_names == ("bm25", "clicks", "page_rank", "length")
    rows = adversarial_rows(model, 2)
    np.testing.assert_allclose(model.predict(rows), booster.predict(rows), rtol=1e-12, atol=1e-12)
    assert (np.add.reduceat(model.leaf_documents, model.leaf_starts[:-1]) == 600).all()
    assert model.provenance.settings["imported"]["library"] == "CatBoost"


def test_features_without_names_are_numbered(tmp_path: Path) -> None:
    train(SETTINGS["regression"]).save_model(str(tmp_path / "model.json"), format="json")
    assert rf.load(tmp_path / "model.json").feature_names == ("1", "2", "3", "4")


def test_what_cannot_be_kept_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = str(tmp_path / "model.json")
    train({"loss_function": "MultiClass", "depth": 2}).save_model(path, format="json")
    with pytest.raises(ModelFileError, match="output"):
        rf.load(path)
    rng = np.random.default_rng(1)
    frame = [[str(word), value] for word, value in zip(rng.integers(0, 4, 200), rng.random(200), strict=True)]
    pool = catboost.Pool(frame, rng.random(200), cat_features=[0])
    options = {"iterations": 2, "depth": 2, "verbose": 0, "allow_writing_files": False, "one_hot_max_size": 10}
    catboost.CatBoost(options).fit(pool).save_model(path, format="json", pool=pool)
    with pytest.raises(ModelFileError, match="not numeric"):
        rf.load(path)
