"""Vespa: models of trees right in containers (double) and content nodes (float32), profiles of everything else."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from tests.export.models_of_every_form import NAMES, OTHERS, TREES, between, data, hard_trees, model, rows

import rankforce as rf
from rankforce.errors import ModelFileError
from rankforce.export.vespa_expressions import read_profile, reference_at


def walked(node, names, row, dtype):
    """What Vespa does with a tree: ``if (x < t, ...)``, or ``if (!(x >= t), ...)`` where missing values go left."""
    while "leaf_value" not in node:
        value, threshold = dtype(row[names[node["split_feature"]]]), dtype(node["threshold"])
        left = not value >= threshold if node["default_left"] else value < threshold
        node = node["left_child"] if left else node["right_child"]
    return node["leaf_value"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["container", "content node"])
@pytest.mark.parametrize("kind", ["hard", "tiny", "based", "leafwise"])
@pytest.mark.parametrize("holes", [True, False], ids=["nan", "zero"])
def test_a_model_is_right_in_double_and_in_float32(kind, holes, dtype):
    document = json.loads(rf.export_model(model(kind, holes), None, "vespa", engine="vespa-8").contents)
    given = rows(kind, holes, 60)
    for fed in (given.astype(np.float64), between(given)):
        expected = model(kind, holes).predict(fed.astype(np.float32))
        with np.errstate(over="ignore"):
            found = [
                sum(
                    walked(tree["tree_structure"], document["feature_names"], dict(zip(NAMES, row, strict=True)), dtype)
                    for tree in document["tree_info"]
                )
                for row in fed
            ]
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("holes", [True, False], ids=["nan", "zero"])
@pytest.mark.parametrize("kind", TREES)
def test_the_check_of_models_finds_no_difference(kind, holes):
    checked = rf.export_model(model(kind, holes), None, "vespa", check=data(holes)).check
    assert checked is not None
    assert (checked.changed_leaves, checked.reordered) == (0, 0)
    rounded = kind in ("weighted", "mart")  # leaves or a base that are not float32: content nodes round them
    assert checked.largest_difference <= (1e-6 if rounded else 0.0)


@pytest.mark.parametrize("holes", [True, False], ids=["nan", "zero"])
@pytest.mark.parametrize("kind", [*OTHERS, "leafwise", "based"])
def test_profiles_score_as_the_model(kind, holes, tmp_path):
    mine, path = model(kind, holes), tmp_path / "shop.profile"
    checked = rf.export_model(mine, path, "vespa", check=data(holes), missing="nan" if holes else "zero").check
    assert checked is not None
    assert checked.reordered == 0
    emulated = read_profile(path.read_text(), {name: place for place, name in enumerate(NAMES)})
    given = rows(kind, holes)
    expected = mine.predict(given)
    assert np.abs(emulated.scores(given) - expected).max() <= 1e-6 * max(1.0, np.abs(expected).max())
    assert path.read_text().startswith("rank-profile shop inherits default {\n")


def in_python(text):
    """The functions of a profile as Python's own expressions, one row at a time: shares nothing with the reader."""
    calls = {
        "if_": lambda condition, yes, no: yes if condition else no,
        "isNan": math.isnan,
        "tanh": math.tanh,
        "exp": math.exp,
        "log": lambda value: math.log(value) if value > 0 else math.nan,
        "sigmoid": lambda value: 1.0 / (1.0 + math.exp(-value)),
        "max": max,
    }
    for name, expression in re.findall(
        r"function (\w+)\(\) \{\n        expression \{\n(.*?)\n        \}", text, re.DOTALL
    ):
        written = expression.replace("!(", "not (").replace("if (", "if_(")
        for place, feature in enumerate(NAMES):
            written = written.replace(feature, f"x[{place}]")
        code = compile(f"({written.strip()})", name, "eval")
        calls[name] = lambda code=code: eval(code, calls)
    last = re.search(r"first-phase \{\n        expression: (\w+)\(\)", text)[1]

    def score(row):
        calls["x"] = row.tolist()
        return calls[last]()

    return score


@pytest.mark.parametrize("kind", [*OTHERS, "leafwise", "based"])
def test_profiles_mean_what_they_say(kind, tmp_path):
    rf.export_model(model(kind), tmp_path / "shop.profile", "vespa", missing="nan")
    score = in_python((tmp_path / "shop.profile").read_text())
    given = data(True).features[:40]
    expected = model(kind).predict(given)
    found = [score(row.astype(np.float64)) for row in given]
    assert np.abs(found - expected).max() <= 1e-6 * max(1.0, np.abs(expected).max())


def test_missing_values_in_a_profile_are_what_they_were_in_training(tmp_path):
    for kind in ("linear", "net", "log net", "quadratic"):
        given = rows(kind, False, 50)
        holed = np.where(given == 0, np.nan, given)
        text = rf.export_model(model(kind, False), None, "vespa", missing="zero").contents.decode()
        emulated = read_profile(text, {name: place for place, name in enumerate(NAMES)})
        assert np.array_equal(emulated.scores(holed), emulated.scores(given))


def test_the_ending_says_what_is_written(tmp_path):
    with pytest.raises(rf.SettingsError, match=r"\.json \(trees\) or \.profile \(anything\)"):
        rf.export_model(model("hard"), tmp_path / "model.txt", "vespa")
    with pytest.raises(rf.SettingsError, match=r"a net, which Vespa reads as a rank profile: .* end in \.profile"):
        rf.export_model(model("net"), tmp_path / "model.json", "vespa")


@pytest.mark.parametrize("name", ["1", "a b", "a-b", "bm25(title", "2x", "if", "max(a,b)", "größe!", "rf_score", "a)"])
def test_names_that_vespa_would_misread_are_refused(name):
    with pytest.raises(rf.SettingsError, match=r"no feature: names are rank features|the model's own functions"):
        rf.export_model(hard_trees(True, names=(name, *NAMES[1:])), None, "vespa")


@pytest.mark.parametrize(
    "name", ["bm25(title)", "attribute(price)", "fieldMatch(title).proximity", "age", "nativeRank(a,b)", "x.y"]
)
def test_names_of_rank_features_are_taken(name):
    assert reference_at(f"{name} + 1") == name


def test_functions_that_the_profile_needs_are_named():
    notes = rf.export_model(model("hard"), None, "vespa").notes
    assert notes == ("the rank profile needs a function for each of: age",)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("first-phase", "second-phase"),
        ("age", "weight"),
        ("if (", "iff ("),
        (") +", ") %"),
        (" < ", " > "),
        ("    function", "    inputs {}\n    function"),
        ("rf_score()", "rf_scores()"),
    ],
)
def test_the_reader_of_profiles_is_strict(before, after):
    mine = model("leafwise")
    text = rf.export_model(mine, None, "vespa").contents.decode()
    assert text.startswith("{")
    from rankforce.export.exporting import _prepared
    from rankforce.export.format import format_named

    target = format_named("vespa")
    prepared = _prepared(mine, target, None, None, None, "name", False)[0]
    profile = target.write(prepared, ".profile").decode()
    columns = {name: place for place, name in enumerate(NAMES)}
    read_profile(profile, columns)
    broken = profile.replace(before, after, 1)
    assert broken != profile
    with pytest.raises(ModelFileError):
        read_profile(broken, columns)
