from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.models.random_trees import categorical_ensemble, random_ensemble, random_features, with_codes

import rankforce as rf
from rankforce.errors import DataError
from rankforce.models.bagged import Bagged
from rankforce.models.combination import Combination
from rankforce.models.expected_grade import ExpectedGrade, GradeLink
from rankforce.models.model import Model
from rankforce.models.storage import from_bytes, to_bytes
from rankforce.models.tree_ensemble import TreeEnsemble

CATEGORIES = {"f1": ("acme", "zeta", "ö"), "f4": (10, 20, 7)}
COUNTS = {1: 3, 4: 3}
MODEL = categorical_ensemble(1, [31] * 5, COUNTS, categories=CATEGORIES)
CODES = with_codes(3, random_features(2, 40), COUNTS)


def raw(matrix: np.ndarray) -> pd.DataFrame:
    """What the codes of a matrix stand for."""
    frame = pd.DataFrame(matrix.astype(object), columns=[f"f{k}" for k in range(matrix.shape[1])])
    for name, values in CATEGORIES.items():
        column = frame[name].astype(float)
        unknown = "none of them" if name == "f1" else 999
        frame[name] = [None if np.isnan(c) else unknown if c < 0 else values[int(c)] for c in column]
    return frame.astype({f"f{k}": np.float32 for k in range(matrix.shape[1]) if f"f{k}" not in CATEGORIES})


def test_frames_and_arrays_of_categories_are_scored_as_their_codes() -> None:
    expected = MODEL.predict(CODES)
    frame = raw(CODES)
    typed = frame.assign(f1=frame["f1"].astype("category"), f4=frame["f4"].astype("Int64"), other="x")
    arrow = pa.Table.from_pandas(typed)
    polar = pl.from_pandas(typed)
    shuffled = typed[["f4", "other", "f6", "f0", "f1", "f2", "f3", "f5"]]
    for form in (frame, typed, shuffled, arrow, polar, frame.to_numpy(dtype=object), CODES.tolist(), CODES):
        np.testing.assert_array_equal(MODEL.predict(form), expected)
    data = rf.Dataset(CODES, qid=[1] * len(CODES), feature_names=MODEL.feature_names, categories=CATEGORIES)
    np.testing.assert_array_equal(MODEL.predict(data), expected)


def test_a_data_set_with_other_lists_is_coded_anew() -> None:
    other = {"f1": ("zeta", "new", "acme"), "f4": (7, 10)}
    coded = {"f1": {0: 1, 1: -1, 2: 0, -1: -1}, "f4": {0: 2, 1: 0, -1: -1}}
    matrix = with_codes(3, random_features(2, 40), {1: 3, 4: 2})
    expected = matrix.copy()
    for name, code_of in coded.items():
        place = int(name[1:])
        expected[:, place] = [code_of.get(int(c), 0) if c == c else c for c in matrix[:, place]]
    data = rf.Dataset(matrix, qid=[1] * len(matrix), feature_names=MODEL.feature_names, categories=other)
    np.testing.assert_array_equal(MODEL.matrix(data), expected)


@pytest.mark.parametrize(("code", "says"), [(0.5, "0.5"), (3.0, "3 categories"), (-2.0, "-2")])
@pytest.mark.parametrize("documents", [1, 70])
def test_what_is_no_code_is_refused(code: float, says: str, documents: int) -> None:
    matrix = np.zeros((documents, 7), dtype=np.float32)
    matrix[-1, 4] = code
    for form in (matrix, matrix.astype(np.float64)):
        with pytest.raises(DataError, match=f"'f4'.*{says}"):
            MODEL.predict(form)


def test_categories_that_nobody_listed_are_whole_numbers() -> None:
    model = categorical_ensemble(1, [31] * 5, COUNTS)
    np.testing.assert_array_equal(model.predict(CODES), MODEL.predict(CODES))
    assert model.unnamed_categories == {1, 4}
    matrix = np.zeros((1, 7), dtype=np.float32)
    matrix[0, 1] = 1e6  # one that no tree asks for
    model.predict(matrix)
    matrix[0, 1] = 1.5
    for one in (model, Bagged.of(model), random_ensemble(1, [3], base_model=model)):
        with pytest.raises(DataError, match=r"'f1' is a category.*1\.5"):
            one.predict(matrix)


def test_models_of_models_hand_categories_on() -> None:
    plain = random_ensemble(5, [4], features=2, feature_names=["f0", "f6"])
    link = GradeLink("ordinal", np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    around: list[Model] = [
        Bagged.of(plain, MODEL),
        Combination.of([plain, MODEL], [1.0, 2.0]),
        ExpectedGrade(feature_names=MODEL.feature_names, link=link, members=(MODEL,), categories=CATEGORIES),
        TreeEnsemble.from_trees([], MODEL.feature_names, base_model=MODEL, categories=CATEGORIES),
    ]
    for model in around:
        assert model.categories == CATEGORIES
        frame = raw(CODES)
        np.testing.assert_array_equal(model.predict(frame), model.predict(CODES[:, model_order(model)]))
        again = from_bytes(to_bytes(model))
        assert again.categories == CATEGORIES
        np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
        assert pickle.loads(pickle.dumps(model)).categories == CATEGORIES


def model_order(model: Model) -> list[int]:
    return [int(name[1:]) for name in model.feature_names]


def test_members_with_other_categories_are_refused() -> None:
    other = categorical_ensemble(1, [31], {1: 3}, categories={"f1": ("zeta", "acme", "ö")})
    with pytest.raises(DataError, match="other categories of the feature 'f1'"):
        Bagged.of(MODEL, other)
    with pytest.raises(DataError, match="other categories of the feature 'f1'"):
        TreeEnsemble.from_trees([], MODEL.feature_names, base_model=MODEL)


@pytest.mark.parametrize(
    ("categories", "says"),
    [
        ({"f1": ("a",)}, "a category that its feature does not have"),
        ({"f9": ("a",)}, "no feature"),
        ({"f1": ("a", "a")}, "two categories"),
        ({"f1": ()}, "empty"),
        ([("f1", "a")], "maps features"),
    ],
)
def test_impossible_categories(categories: Any, says: str) -> None:
    with pytest.raises(DataError.__mro__[1], match=says):
        categorical_ensemble(1, [31] * 5, COUNTS, categories=categories)
