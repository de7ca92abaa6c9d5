"""LightGBM's text and dump: exact scores, strict shapes, refusals."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from tests.export.models_of_every_form import NAMES, TREES, between, data, hard_trees, model, rows

import rankforce as rf
from rankforce.models.tree_ensemble import TreeEnsemble


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


def test_counts_that_lightgbm_could_not_add_are_scaled_down():
    """Shares stay, nodes have what their leaves have, and every leaf has a document."""
    covers = np.array([0, 1, 3 * 2**31, 2**31, 2**20, 2**33, 7, 2**31 - 1])
    mine = model("hard")
    tree = dataclasses.replace(mine.trees[1], leaf_documents=covers)
    model_of = dataclasses.replace(TreeEnsemble.from_trees([tree], NAMES), provenance=mine.provenance)
    document = json.loads(rf.export_model(model_of, None, "lightgbm-json", check=True).contents)
    leaves = {}

    def documents(node):
        if "leaf_index" in node:
            leaves[node["leaf_index"]] = node["leaf_count"]
            return node["leaf_count"]
        total = documents(node["left_child"]) + documents(node["right_child"])
        assert node["internal_count"] == node["internal_weight"] == total
        return total

    total = documents(document["tree_info"][0]["tree_structure"])
    assert total < 2**31
    counts = np.array([leaves[number] for number in range(len(covers))])
    assert counts.min() == 1
    assert np.abs(counts / total - covers / covers.sum()).max() < 1e-8


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
