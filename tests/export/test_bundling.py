"""Bundles: valid bodies with the right names, the model inside, nothing half-written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.export.models_of_every_form import NAMES, hard_trees, model

import rankforce as rf
from rankforce.models.provenance import Provenance
from rankforce.models.tree_ensemble import TreeEnsemble

PLAIN = ("title", "price", "brand", "age", "stock")
PLUGINS = ("ranklib", "ltr-xgboost", "ltr-xgboost-raw")


def shop_model(holes: bool = False) -> TreeEnsemble:
    return hard_trees(holes, names=PLAIN, thresholds=np.float32([0.5, 1.0, -7.25, 100.0]))


def read_strictly(folder: Path) -> dict[str, object]:
    """Every file of a bundle: JSON without NaN, doubled keys or unknown endings, the rest as text."""

    def refuse(name):
        raise ValueError(name)

    def pairs(listed):
        assert len(dict(listed)) == len(listed), "a key is there twice"
        return dict(listed)

    read = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            continue
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(folder).as_posix()
        assert path.suffix in (".json", ".md", ".profile")
        read[name] = (
            json.loads(text, parse_constant=refuse, object_pairs_hook=pairs) if path.suffix == ".json" else text
        )
    return read


@pytest.mark.parametrize("format", PLUGINS)
def test_bodies_for_the_plugins(format, tmp_path):
    made = rf.export_bundle(shop_model(), tmp_path / "shop", format, engine="opensearch-2.19.5", check=True)
    files = read_strictly(tmp_path / "shop")
    assert sorted(files) == list(made.files)
    assert re.fullmatch(r"shop_[0-9a-f]{8}", made.name)
    features = files["featureset.json"]["featureset"]
    assert [one["name"] for one in features["features"]] == list(PLAIN)
    assert all(one.keys() == {"name", "params", "template_language", "template"} for one in features["features"])
    uploaded = files["createmodel.json"]["model"]
    assert uploaded["name"] == made.name
    assert uploaded["model"]["definition"] == made.exported.contents.decode()
    assert uploaded["model"]["type"].startswith("model/")
    logged = files["log.json"]
    sltr = logged["query"]["bool"]["filter"][1]["sltr"]
    assert sltr["featureset"] == features["name"] == "shop_features"
    assert logged["ext"]["ltr_log"]["log_specs"] == {
        "name": "main",
        "named_query": sltr["_name"],
        "missing_as_zero": True,
    }
    assert files["rescore.json"]["rescore"]["query"]["rescore_query"]["sltr"]["model"] == made.name
    assert "_ltr/_featureset/shop_features/_createmodel" in files["README.md"]
    assert "skeletons" in files["README.md"]
    assert made.exported.check is not None
    assert made.exported.check.passed


def test_linear_models_for_the_plugins(tmp_path):
    linear = rf.LambdaRank(hidden=0, epochs=1, progress=False).fit(rf.make_artificial(5, 6, 3)).model_
    made = rf.export_bundle(linear, tmp_path / "shop", "ltr-linear", missing="zero", engine="opensearch-2.19")
    definition = read_strictly(tmp_path / "shop")["createmodel.json"]["model"]["model"]
    assert definition["type"] == "model/linear"
    assert json.loads(definition["definition"]) == json.loads(made.exported.contents)


@pytest.mark.parametrize("holes", [True, False])
def test_files_for_solr(holes, tmp_path):
    made = rf.export_bundle(shop_model(holes), tmp_path / "shop", "solr", engine="solr-9.10")
    files = read_strictly(tmp_path / "shop")
    assert [one["name"] for one in files["features.json"]] == list(PLAIN)
    assert all(("defaultValue" in one["params"]) is holes for one in files["features.json"])
    assert files["model.json"]["name"] == made.name
    assert {one["name"] for one in files["model.json"]["features"]} <= set(PLAIN)
    assert f"model={made.name} " in files["rerank.json"]["params"]["rq"]
    assert "[features" in files["log.json"]["params"]["fl"]


def test_files_for_vespa(tmp_path):
    made = rf.export_bundle(model("hard"), tmp_path / "shop", "vespa")
    files = read_strictly(tmp_path / "shop")
    assert files[f"models/{made.name}.json"] == json.loads(made.exported.contents)
    profile = files[f"schemas/SCHEMA/{made.name}.profile"]
    assert f'lightgbm("{made.name}.json")' in profile
    logged = files[f"schemas/SCHEMA/{made.name}_features.profile"]
    assert all(f"        {name}\n" in logged for name in NAMES)
    assert re.findall(r"function (\S+)\(\)", logged) == ["age"]
    assert files["query.json"]["ranking"] == made.name
    assert files["log.json"]["ranking"] == f"{made.name}_features"


def test_a_net_for_vespa_is_a_profile_between_features_and_ranking(tmp_path):
    made = rf.export_bundle(model("net"), tmp_path / "shop", "vespa")
    files = read_strictly(tmp_path / "shop")
    parents = {
        name: parent
        for text in files.values()
        if isinstance(text, str)
        for name, parent in re.findall(r"^rank-profile (\w+) inherits (\w+) \{$", text, re.MULTILINE)
    }
    assert parents == {
        made.name: f"{made.name}_model",
        f"{made.name}_model": f"{made.name}_features",
        f"{made.name}_features": "default",
    }
    assert "rf_score()" in files[f"schemas/SCHEMA/{made.name}.profile"]


def test_definitions_of_the_engine_are_kept(tmp_path):
    definitions = [
        {"name": name, "params": ["keywords"], "template": {"match": {"text": "{{keywords}}"}}}
        for name in ("more", *reversed(PLAIN))
    ]
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"featureset": {"name": "mine", "features": definitions}}))
    rf.export_bundle(shop_model(), tmp_path / "shop", "ranklib", features=path)
    files = read_strictly(tmp_path / "shop")
    assert files["featureset.json"]["featureset"]["features"] == definitions
    assert "skeletons" not in files["README.md"]
    ordinals = {
        int(one)
        for one in re.findall(r"<feature>(\d+)</feature>", files["createmodel.json"]["model"]["model"]["definition"])
    }
    used = {PLAIN[feature] for feature in np.unique(shop_model().feature)}
    assert {definitions[ordinal - 1]["name"] for ordinal in ordinals} == used


def test_a_feature_set_that_lacks_a_feature_is_refused(tmp_path):
    with pytest.raises(rf.DataError, match="lack what the model uses"):
        rf.export_bundle(shop_model(), tmp_path / "shop", "ranklib", features=["title"])
    assert not (tmp_path / "shop").exists()


def test_names_follow_the_model(tmp_path):
    names = {
        rf.export_bundle(one, tmp_path / folder, "ltr-xgboost", name="shop", engine="opensearch-2.19").name
        for folder, one in (("a", shop_model()), ("b", shop_model()), ("c", shop_model(holes=False).truncate(3)))
    }
    assert len(names) == 2  # the same model has the same name


def test_folders_that_hold_something_are_left_alone(tmp_path):
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(rf.SettingsError, match="not empty"):
        rf.export_bundle(shop_model(), tmp_path, "ranklib")
    with pytest.raises(rf.SettingsError, match="no folder"):
        rf.export_bundle(shop_model(), tmp_path / "note.txt", "ranklib")
    with pytest.raises(rf.SettingsError, match="that of a search engine"):
        rf.export_bundle(shop_model(), tmp_path / "new", "onnx")
    (tmp_path / "empty").mkdir()
    rf.export_bundle(shop_model(), tmp_path / "empty", "ranklib")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "note.txt"]


def test_provenance_decides_what_missing_is(tmp_path):
    unknown = TreeEnsemble.from_trees(shop_model().trees, PLAIN, provenance=Provenance())
    with pytest.raises(rf.SettingsError, match="missing='zero'"):
        rf.export_bundle(unknown, tmp_path / "shop", "ranklib")
