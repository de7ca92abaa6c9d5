"""LightGBM and Treelite read our files and score as we do, bit by bit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.export.models_of_every_form import NAMES, TREES, between, model, rows

import rankforce as rf

lightgbm = pytest.importorskip("lightgbm")


def booster(kind, holes, tmp_path):
    path = tmp_path / "model.txt"
    rf.export_model(model(kind, holes), path, "lightgbm")
    return lightgbm.Booster(model_file=str(path))


def without_middles_of_zero(fed):
    return np.where(np.abs(fed) <= 1e-35, 0.0, fed)


def without_tiny(given):
    return np.where(np.abs(given) <= 1e-35, 0, given).astype(np.float32)


@pytest.mark.parametrize("holes", [True, False], ids=["nan", "zero"])
@pytest.mark.parametrize("kind", TREES)
def test_lightgbm_scores_bit_by_bit(kind, holes, tmp_path):
    mine, read = model(kind, holes), booster(kind, holes, tmp_path)
    assert read.feature_name() == list(NAMES)
    given = without_tiny(rows(kind, holes))
    for fed in (given.astype(np.float64), without_middles_of_zero(between(given))):
        expected = mine.predict(fed.astype(np.float32))
        found = read.predict(fed)
        if kind == "weighted":
            assert np.abs(found - expected).max() < 1e-15
        else:
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("kind", ["hard", "symmetric", "leafwise"])
def test_leaves_are_ours(kind, tmp_path):
    fed = without_middles_of_zero(between(without_tiny(rows(kind, True))))
    leaves = booster(kind, True, tmp_path).predict(fed, pred_leaf=True)
    assert np.array_equal(leaves, model(kind).leaf_indices(fed.astype(np.float32)))


@pytest.mark.parametrize("kind", ["hard", "based", "leafwise"])
def test_contributions_add_up(kind, tmp_path):
    given = without_tiny(rows(kind, True, 50))
    contributions = booster(kind, True, tmp_path).predict(given.astype(np.float64), pred_contrib=True)
    assert np.abs(contributions.sum(axis=1) - model(kind).predict(given)).max() < 1e-13


def test_the_dump_has_the_shape_of_lightgbms(tmp_path):
    theirs = booster("leafwise", True, tmp_path).dump_model()
    mine = json.loads(rf.export_model(model("leafwise"), None, "lightgbm-json").contents)
    assert mine.keys() == theirs.keys()
    assert mine["feature_infos"].keys() == theirs["feature_infos"].keys()
    for ours, other in zip(mine["tree_info"], theirs["tree_info"], strict=True):
        assert_alike(ours, other)


def assert_alike(mine, theirs):
    """Number for number, but for gains and means, which LightGBM keeps in fewer digits."""
    assert mine.keys() == theirs.keys()
    for key, value in mine.items():
        if isinstance(value, dict):
            assert_alike(value, theirs[key])
        elif key in ("split_gain", "internal_value"):
            assert theirs[key] == pytest.approx(value, rel=1e-5)
        else:
            assert value == theirs[key]


def test_missing_values_of_models_that_know_none_go_where_zero_goes(tmp_path):
    given = rows("hard", False)
    given = without_tiny(given)
    holed = np.where(given == 0, np.nan, given).astype(np.float64)
    assert np.array_equal(booster("hard", False, tmp_path).predict(holed), model("hard", False).predict(given))


def test_treelite_reads_the_text(tmp_path):
    treelite = pytest.importorskip("treelite")
    path = tmp_path / "model.txt"
    rf.export_model(model("leafwise"), path, "lightgbm")
    given = rows("leafwise", True, 100).astype(np.float64)
    found = treelite.gtil.predict(treelite.frontend.load_lightgbm_model(path), given)
    assert np.abs(found.ravel() - model("leafwise").predict(given.astype(np.float32))).max() < 1e-14


def test_what_is_smaller_than_1e35_is_zero_to_lightgbm(tmp_path):
    """Why rows here are without such numbers: no file can change that."""
    given = rows("tiny", True)
    found = booster("tiny", True, tmp_path).predict(given.astype(np.float64))
    assert np.array_equal(found, model("tiny").predict(without_tiny(given)))
    assert not np.array_equal(found, model("tiny").predict(given))
