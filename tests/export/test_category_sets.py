from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.models.random_trees import categorical_ensemble

from rankforce.errors import SettingsError
from rankforce.export.checking import check_written
from rankforce.export.emulation import truncated_codes, whole_codes
from rankforce.export.exporting import _prepared
from rankforce.export.format import format_classes, format_named
from rankforce.models.bagged import Bagged
from rankforce.models.expected_grade import ExpectedGrade, GradeLink
from rankforce.models.tree_ensemble import TreeEnsemble

COUNTS = {1: 5, 4: 70}
MODEL = categorical_ensemble(1, [15] * 5 + [2, 1], COUNTS)
WITH_SETS = ("lightgbm", "lightgbm-json", "xgboost", "onnx")


def test_formats_that_only_compare_refuse_sets_and_say_which_do_not() -> None:
    holding = [name for name, kind in format_classes().items() if kind.SETS]
    assert sorted(holding) == sorted(WITH_SETS)
    for name, kind in format_classes().items():
        if name not in WITH_SETS and name != "ltr-linear":
            assert not kind.SETS
            with pytest.raises(SettingsError, match=r"only compare numbers: write it as 'lightgbm', .*'xgboost'"):
                MODEL.export(None, name, missing="nan")


@pytest.mark.parametrize(
    ("form", "engine"), [("xgboost", "elastic-8.13"), ("onnx", "onnxruntime-1.15"), ("lightgbm", "opensearch-3.8")]
)
def test_engines_that_cannot_ask_for_sets_are_refused(form: str, engine: str) -> None:
    with pytest.raises(SettingsError, match=r"categories are in sets|does not read"):
        MODEL.export(None, form, missing="nan", engine=engine)


@pytest.mark.parametrize("missing", ["zero", "nan"])
@pytest.mark.parametrize("form", WITH_SETS)
def test_the_check_passes(form: str, missing: str) -> None:
    check = MODEL.export(None, form, missing=missing, check=True).check
    assert check is not None
    assert check.passed, check
    assert check.changed_leaves == 0
    assert check.made_rows > 1000


def changed_set(written: bytes, form: str) -> bytes:
    """A file with one category more, or less, in one set."""
    if form == "lightgbm":
        head, _, rest = written.partition(b"cat_threshold=")
        word, _, rest = rest.partition(b"\n")
        first, *others = word.split(b" ")
        return head + b"cat_threshold=" + b" ".join([str(int(first) ^ 4).encode(), *others]) + b"\n" + rest
    document = json.loads(written)
    tree = next(t for t in document["learner"]["gradient_booster"]["model"]["trees"] if t["categories"])
    tree["categories"][0] = 3 if tree["categories"][0] != 3 else 4
    return json.dumps(document).encode()


@pytest.mark.parametrize("form", ["lightgbm", "xgboost"])
def test_the_check_finds_a_wrong_category(form: str) -> None:
    target = format_named(form)
    prepared, _, _ = _prepared(MODEL, target, None, "nan", None, "model", False)
    written = target.write(prepared, target.SUFFIX)
    assert check_written(MODEL, target, prepared, written, target.SUFFIX).passed
    spoilt = changed_set(written, form)
    if form == "lightgbm":  # sizes of trees are checked, too
        sizes = [len(one) for one in (written, spoilt)]
        if sizes[0] != sizes[1]:
            pytest.skip("the other word is longer")
    assert not check_written(MODEL, target, prepared, spoilt, target.SUFFIX).passed


def test_missing_categories_that_go_left_are_asked_for_in_lightgbm() -> None:
    asking = MODEL.subset >= 0
    to_right = TreeEnsemble.from_trees(MODEL.trees, MODEL.feature_names)
    object.__setattr__(to_right, "missing_left", MODEL.missing_left & ~asking)
    assert not any(
        "asks" in note or "ask for them" in note for note in to_right.export(None, "lightgbm", missing="nan").notes
    )
    notes = MODEL.export(None, "lightgbm", missing="nan").notes
    assert any("sends every missing category right" in note for note in notes)
    assert any("2 features with categories (f1, f4)" in note for note in notes)


def test_models_of_models_with_sets() -> None:
    link = GradeLink("ordinal", np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    grades = ExpectedGrade(feature_names=MODEL.feature_names, link=link, members=(MODEL,))
    forms: list[tuple[Any, str]] = [(Bagged.of(MODEL, MODEL), form) for form in WITH_SETS]
    for model, form in [*forms, (grades, "onnx")]:
        check = model.export(None, form, missing="nan", check=True).check
        assert check.passed, check


def test_engines_cut_fractions_off_where_the_model_knows_no_such_category() -> None:
    values = np.array([0.0, -0.0, 1.5, -0.5, -1.0, 3e9, 1e30, -1e30, 7.0])
    assert truncated_codes(values).tolist() == [0, 0, 1, 0, -1, -1, -1, -1, 7]
    assert whole_codes(values).tolist() == [0, 0, -1, -1, -1, -1, -1, -1, 7]
