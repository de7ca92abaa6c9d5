"""``export_model``: arguments, missing values, features, shift, files; and that the check finds what is wrong."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.export import strict_readers
from tests.export.hard_models import HOLED, KNOWN, MILDER, NAMES, hard_rows, net, perceptron, random_tree, trees

import rankforce as rf
from rankforce.export.checking import check_written
from rankforce.export.exporting import ExportWarning, _prepared
from rankforce.export.feature_sets import feature_set
from rankforce.export.format import format_named
from rankforce.models.bagged import Bagged
from rankforce.models.combination import Combination
from rankforce.models.provenance import Provenance
from rankforce.models.tree_ensemble import TreeEnsemble

ROWS = hard_rows()
UNKNOWN = Provenance()


def test_what_missing_means_follows_from_the_training_data(tmp_path: Path) -> None:
    data = rf.make_artificial(10, 10, 3)
    features = data.features.copy()
    features[0, 1] = np.nan
    for given, meaning in ((data, "zero"), (data.replace(features=features), "nan")):
        ranker = rf.LambdaMART(n_trees=2, min_documents=3, progress=False).fit(given)
        ranker.save(tmp_path / "model.json")
        for model in (ranker, ranker.model_, rf.load(tmp_path / "model.json"), ranker.model_.truncate(1)):
            assert rf.export_model(model, None, "xgboost").missing == meaning
    assert Bagged.of(trees(), trees()).export(None, "xgboost").missing == "nan", "members know"
    assert Combination.of([trees(provenance=KNOWN)], [2.0]).export(None, "xgboost").missing == "zero"
    assert trees(provenance=UNKNOWN, base_model=trees()).export(None, "xgboost").missing == "nan"


def test_a_model_that_does_not_know_is_asked_for_it() -> None:
    with pytest.raises(rf.SettingsError, match=r"missing='zero'; if it was NaN, missing='nan'"):
        trees(provenance=UNKNOWN).export(None, "ranklib")
    assert trees(provenance=UNKNOWN).export(None, "ranklib", missing="zero").missing == "zero"


def test_models_within_count_for_what_missing_means() -> None:
    """One that learned with missing values sends them there still, and nobody speaks for one that does not know."""
    known, unknown = trees(provenance=KNOWN), trees(provenance=UNKNOWN)
    on_known_data = Combination.of([trees()], [2.0], provenance=KNOWN)
    for model in (
        trees(provenance=KNOWN, base_model=trees()),
        trees(provenance=KNOWN, base_model=Bagged.of(known, trees())),
        on_known_data,
        Combination.of([known, on_known_data], [0.5, 0.5]),
    ):
        assert model.export(None, "xgboost").missing == "nan"
    continued = trees(provenance=KNOWN, base_model=unknown)
    around = Combination.of([known, unknown], [0.5, 0.5], provenance=KNOWN)
    for model in (continued, around, Bagged.of(continued, around)):
        assert model.export(None, "xgboost").missing == "zero", "the data around is known"
    for model in (
        Combination.of([known, unknown], [0.5, 0.5]),
        Bagged.of(known, Bagged.of(unknown, known)),
        trees(provenance=UNKNOWN, base_model=known),
    ):
        with pytest.raises(rf.SettingsError, match="does not say whether values were missing"):
            model.export(None, "xgboost")


def test_without_an_engine_a_warning_says_where_the_file_is_not_right() -> None:
    with pytest.warns(ExportWarning, match=r"not in opensearch 3.2 to below 3.8 \(sends it right"):
        made = trees(provenance=KNOWN).export(None, "ltr-xgboost")
    assert made.wrong_in == ("opensearch 3.2 to below 3.8",)
    with pytest.warns(ExportWarning, match=r"so in opensearch from 3.8, elasticsearch from 1.5.9, and not"):
        trees().export(None, "ltr-xgboost")
    assert trees(provenance=KNOWN).export(None, "ranklib").wrong_in == ()


def test_nets_and_linear_functions_that_learned_with_missing_values_are_refused() -> None:
    for model in (perceptron(provenance=HOLED), net(2, provenance=HOLED)):
        for name in ("ranklib", "solr"):
            with pytest.raises(rf.SettingsError, match=r"reads it as 0.*missing='zero'"):
                model.export(None, name)


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("opensearch", r"depends on its release \(2.19.5 to below 3.2: reads it as 0;.*for example opensearch-3.8"),
        ("elasticsearch-8.15", "name the plugin's"),
        ("solr-9", "does not read 'ltr-xgboost-raw', which is for .*it reads 'solr'"),
        ("opensearch-2.19.4", r"does not read 'ltr-xgboost-raw': .* 2.19.5 to below 3.2"),
        ("opensearch-3", r"before 3.2 or a later one.*for example opensearch-3.2"),
        ("opensearch-2.19", r"before 2.19.5 or a later one"),
        ("opensearch 3", "is not known"),
        ("quicksearch-1", "is not known"),
    ],
)
def test_engines_that_cannot_be_meant(engine: str, message: str) -> None:
    with pytest.raises(rf.SettingsError, match=message):
        trees().export(None, "ltr-xgboost-raw", engine=engine)


FEATURES = ["x", *reversed(NAMES)]


@pytest.mark.parametrize(
    "given",
    [
        FEATURES,
        tuple(FEATURES),
        np.array(FEATURES),
        [{"name": name, "class": "org.apache.solr.ltr.feature.SolrFeature", "params": {}} for name in FEATURES],
        {"features": [{"name": name} for name in FEATURES]},
        {"featureset": {"name": "set", "features": [{"name": name, "template": {}} for name in FEATURES]}},
        {"_index": ".ltrstore", "_source": {"featureset": {"features": [{"name": name} for name in FEATURES]}}},
    ],
)
def test_features_as_engines_list_them(given: Any, tmp_path: Path) -> None:
    model = trees()
    used = np.arange(len(NAMES))
    for value in (given, tmp_path / "features.json", str(tmp_path / "features.json")):
        if value is not given:
            listed = given.tolist() if isinstance(given, np.ndarray) else given
            (tmp_path / "features.json").write_text(json.dumps(listed))
        found = feature_set(value, model.feature_names, used)
        assert found.names == tuple(FEATURES)
        assert [found.ordinal(feature) for feature in used] == [FEATURES.index(name) + 1 for name in NAMES]


def test_features_that_the_engine_lacks_are_named() -> None:
    model = trees(provenance=KNOWN)
    with pytest.raises(rf.DataError, match=r"lack what the model uses: 'age', 'clicks'; it has 'cliques', which the"):
        model.export(None, "ranklib", features=[*(name for name in NAMES if name not in ("age", "clicks")), "cliques"])
    unused = TreeEnsemble.from_trees([], NAMES, base_score=1.0, provenance=KNOWN)
    assert unused.export(None, "ranklib", features=["another"]).contents.count(b"<output>") == 1


def test_numbered_features_are_taken_by_position() -> None:
    data = rf.make_artificial(10, 10, 3)
    model = rf.LambdaMART(n_trees=3, min_documents=3, progress=False).fit(data).model_
    names = ["bm25", "age", "clicks", "more"]
    contents = model.export(None, "solr", features=names).contents
    score = strict_readers.solr(contents)
    rows = [dict(zip(names, row, strict=False)) for row in data.features.tolist()]
    assert np.allclose([score(row) for row in rows], model.predict(data), atol=1e-5)
    with pytest.raises(rf.DataError, match="lack what the model uses: '"):
        model.export(None, "ranklib", features=["bm25"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "empty"),
        (["a", "a"], "'a' is there 2 times"),
        ([1, 2], "a feature is a name"),
        ([{"nom": "a"}], "a feature is a name"),
        ({"names": ["a"]}, "a list of features is expected"),
        ("nowhere.json", "cannot be read: No such file"),
        (Path(__file__), "is no JSON"),
    ],
)
def test_features_that_are_none(given: Any, message: str) -> None:
    with pytest.raises(rf.DataError, match=message):
        trees().export(None, "xgboost", features=given)


def test_names_that_are_misread() -> None:
    model = TreeEnsemble.from_trees(trees().trees, ["f4", *NAMES[1:]], provenance=HOLED)
    with pytest.raises(rf.SettingsError, match=r"eland takes this name for column 4; .* features={'f4': '...'}"):
        model.export(None, "xgboost", engine="elastic-9")
    assert model.export(None, "xgboost", engine="xgboost-3").contents
    renamed = model.export(None, "xgboost", engine="elastic-9", features={"f4": "bm25"})
    assert renamed.contents == trees().export(None, "xgboost").contents
    with pytest.raises(rf.SettingsError, match="XGBoost refuses names"):
        TreeEnsemble.from_trees(model.trees, ["a[0]", *NAMES[1:]], provenance=HOLED).export(None, "xgboost")
    with pytest.raises(rf.DataError, match="no feature 'f5'"):
        model.export(None, "xgboost", features={"f5": "bm25"})
    with pytest.raises(rf.DataError, match="2 features would be named 'age'"):
        model.export(None, "xgboost", features={"f4": "age"})


@pytest.mark.parametrize("name", ["ranklib", "ltr-xgboost", "ltr-xgboost-raw", "solr", "xgboost"])
def test_shifted_scores_are_not_negative_and_in_order(name: str) -> None:
    model = trees(1, base_score=-100.0)
    engine = "opensearch-3.1" if name.startswith("ltr") else None
    made = model.export(None, name, shift=True, missing="zero", check=ROWS, engine=engine)
    assert made.check.passed
    target = format_named(name)
    prepared, _, _ = _prepared(model, target, engine, "zero", None, "m", True)
    scores = target.read(made.contents, prepared, ".json").scores(ROWS)
    assert (scores >= 0).all()
    gap = scores - model.predict(np.nan_to_num(ROWS, nan=0.0))
    assert np.ptp(gap) < 1e-3
    positive = TreeEnsemble.from_trees([], NAMES, base_score=1.0, provenance=KNOWN)
    assert positive.export(None, "ranklib", shift=True).contents == positive.export(None, "ranklib").contents
    with pytest.raises(rf.SettingsError, match="no lowest score"):
        perceptron().export(None, "ranklib", shift=True)


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    path.write_text("before")
    with pytest.raises(rf.SettingsError):
        trees().export(path, "ranklib")
    with pytest.raises(rf.SettingsError, match="there is no folder"):
        trees().export(tmp_path / "nowhere" / "model.txt", "ranklib", missing="zero")
    with pytest.raises(rf.SettingsError, match=r"\.json or \.ubj"):
        trees().export(path, "xgboost")
    assert path.read_text() == "before"
    assert [found.name for found in tmp_path.iterdir()] == ["model.txt"]
    made = trees().export(path, "ranklib", missing="zero")
    assert path.read_bytes() == made.contents
    assert made.path == str(path)


def test_solr_models_have_the_name_of_their_file(tmp_path: Path) -> None:
    made = trees(provenance=KNOWN).export(tmp_path / "my model-3.v2.json", "solr")
    assert json.loads(made.contents)["name"] == "my_model-3"
    assert json.loads(trees(provenance=KNOWN).export(None, "solr", name="x").contents)["name"] == "x"


def test_old_releases_of_solr_get_no_words_that_they_do_not_know() -> None:
    """Before 9.2 a missing value is 0: right where the model sends both alike, and then nothing is to be said."""
    tree = random_tree(1, 9, MILDER)
    alike = dataclasses.replace(tree, missing_left=np.float32(0) <= tree.threshold)
    model = TreeEnsemble.from_trees([alike], NAMES, provenance=HOLED)
    old, new = (model.export(None, "solr", engine=f"solr-{release}", check=ROWS) for release in ("9.1", "9.2"))
    for made, said in ((old, False), (new, True)):
        assert made.missing == "nan"
        assert made.check is not None
        assert made.check.changed_leaves == 0
        assert (b"isNullSameAsZero" in made.contents) == (b'"missing"' in made.contents) == said
        assert any("defaultValue" in note for note in made.notes) == said
    with pytest.raises(rf.SettingsError, match="reads it as 0"):
        TreeEnsemble.from_trees([tree], NAMES, provenance=HOLED).export(None, "solr", engine="solr-9.1")


def test_solr_says_which_thresholds_it_cannot_have() -> None:
    note = "thresholds cannot be written for Solr's slack"
    made = trees(provenance=KNOWN).export(None, "solr", check=True)
    assert note in made.notes[0]
    assert made.check.changed_leaves > 0
    assert not made.check.passed


@pytest.mark.parametrize("given", [None, "model", rf.LambdaMART, 3, np.zeros(3)])
def test_what_is_no_model(given: Any) -> None:
    with pytest.raises(rf.SettingsError, match="a model or a fitted ranker"):
        rf.export_model(given, None, "ranklib")


def test_a_ranker_that_has_not_learned_says_so() -> None:
    with pytest.raises(rf.RankforceError, match="has not learned anything yet"):
        rf.LambdaMART().export("x.json", "xgboost")


@pytest.mark.parametrize(
    ("pattern", "replacement", "leaves"),
    [
        (rb'"split_condition":-?[0-9.e+-]+', rb'"split_condition":0.125', True),
        (rb'"leaf":(-?[0-9.e+-]+)', rb'"leaf":123.0', False),
        (rb'"yes":([0-9]+),"no":([0-9]+),"missing":\1', rb'"yes":\1,"no":\2,"missing":\2', True),
    ],
)
def test_the_check_finds_what_is_wrong(pattern: bytes, replacement: bytes, leaves: bool) -> None:
    """It reads the file, not the model: a file with one wrong number does not pass."""
    model, target = trees(), format_named("ltr-xgboost")
    prepared, _, _ = _prepared(model, target, "opensearch-3.8", None, None, "m", False)
    contents = target.write(prepared, ".json")
    assert check_written(model, target, prepared, contents, ".json", ROWS).passed
    spoilt, count = re.subn(pattern, replacement, contents, count=1)
    assert count == 1
    report = check_written(model, target, prepared, spoilt, ".json", ROWS)
    assert not report.passed
    assert bool(report.changed_leaves) == leaves
    assert report.largest_difference > report.tolerance or leaves


def test_the_check_counts_neighbours_within_queries() -> None:
    data = rf.make_artificial(5, 6, len(NAMES)).replace(feature_names=NAMES)
    report = trees(provenance=KNOWN).export(None, "ranklib", check=data).check
    assert report.given_rows == 30
    assert report.neighbours <= 25
    assert report.reordered == 0
    assert "0 come to another leaf" in str(report)
    assert report.to_dict()["passed"] is True
