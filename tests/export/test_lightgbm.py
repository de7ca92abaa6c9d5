"""LightGBM's text and dump: exact scores, strict shapes, refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.export.models_of_every_form import NAMES, TREES, between, data, hard_trees, model, rows

import rankforce as rf


@pytest.mark.parametrize("holes", [True, False], ids=["nan", "zero"])
@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("format", ["lightgbm", "lightgbm-json"])
def test_the_check_finds_no_difference(format, kind, holes):
    checked = rf.export_model(model(kind, holes), None, format, check=data(holes)).check
    assert checked is not None
    assert (checked.changed_leaves, checked.reordered, checked.tied) == (0, 0, 0)
    assert checked.largest_difference <= (1e-15 if kind == "weighted" else 0.0)


def test_names_that_lightgbm_does_not_take_are_refused():
    for name in ("a b", "a:b", 'a"b', "a,b", "a[0]"):
        with pytest.raises(rf.SettingsError, match=r"LightGBM takes no names with white space"):
            rf.export_model(hard_trees(True, names=(name, *NAMES[1:])), None, "lightgbm")


def test_the_engine_may_have_more_features_in_another_order():
    mine = model("hard")
    features = ["more", *reversed(NAMES)]
    document = json.loads(rf.export_model(mine, None, "lightgbm-json", features=features, check=True).contents)
    assert document["feature_names"] == features
    assert document["max_feature_idx"] == 5
    used = {name for name, info in document["feature_infos"].items() if info["values"] == []}
    assert used == {mine.feature_names[feature] for feature in np.unique(mine.feature)}


def test_a_dump_that_is_changed_is_refused_by_the_reader():
    from rankforce.errors import ModelFileError
    from rankforce.export.exporting import _prepared
    from rankforce.export.format import format_named

    target = format_named("lightgbm-json")
    prepared = _prepared(model("hard"), target, None, None, None, "name", False)[0]
    written = target.write(prepared, ".json")
    target.read(written, prepared, ".json")
    for before, after in (
        ('"decision_type":"<="', '"decision_type":"=="'),
        ('"missing_type":"NaN"', '"missing_type":"None"'),
        ('"num_leaves":8', '"num_leaves":9'),
        ('"objective": "lambdarank"', '"objective": "binary"'),
        ('"leaf_count"', '"count"'),
    ):
        broken = written.replace(before.encode(), after.encode(), 1)
        assert broken != written
        with pytest.raises(ModelFileError):
            target.read(broken, prepared, ".json")


def test_rows_between_float32_numbers_are_hard():
    """The rows that tests of engines in double rely on are not float32 rows in disguise."""
    made = rows("hard", False, 50)
    doubles = between(made)
    assert (doubles != made).mean() > 0.5
    assert np.isfinite(doubles).all()
