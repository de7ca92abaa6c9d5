"""Categories of features: in a data set and its parts."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankforce as rf
from rankforce import DataError, Dataset

COLOURS = ("blue", "green", "red")
X = np.array([[0, 1.5], [2, 0], [np.nan, 1], [-1, 2], [1, 3], [0, 4]], dtype=np.float32)


def coloured(**changes):
    parts = {"y": [0, 1, 0, 1, 0, 1], "qid": [1, 1, 2, 2, 3, 3], "feature_names": ["colour", "price"]}
    return Dataset(X, **(parts | {"categories": {"colour": COLOURS}} | changes))


def test_a_data_set_has_the_categories_it_was_given():
    data = coloured()
    assert dict(data.categories) == {"colour": COLOURS}
    assert data.n_categories.tolist() == [3, 0]
    assert data.n_categories.dtype == np.int32
    with pytest.raises(TypeError):
        data.categories["price"] = ("1",)
    plain = coloured(categories=None)
    assert dict(plain.categories) == {}
    assert plain.n_categories.tolist() == [0, 0]


def test_parts_keep_the_categories():
    data = coloured()
    parts = [
        data.take_queries([1]),
        *data.split(0.5, 0.5),
        *next(iter(data.folds(3))),
        data.with_label("clicks", np.zeros(6)),
        data.replace(weights=np.ones(6)),
        data.take_features(["colour"]),
        data.take_features([1, 0]),
        data.replace(features=np.column_stack([X, X[:, 1]]), feature_names=["colour", "price", "again"]),
        pickle.loads(pickle.dumps(data)),
        copy.copy(data),
        copy.deepcopy(data),
    ]
    for part in parts:
        assert dict(part.categories) == {"colour": COLOURS}
        assert part.n_categories[part.feature_place("colour")] == 3
        assert part.n_categories.sum() == 3
    assert dict(data.without_features(["colour"]).categories) == {}


def test_a_renamed_feature_keeps_its_categories():
    assert dict(coloured().replace(feature_names=["price", "colour"]).categories) == {"price": COLOURS}


def test_a_data_set_pickled_before_there_were_categories_has_none():
    state = coloured(categories=None).__getstate__()
    del state["categories"]
    data = Dataset.__new__(Dataset)
    data.__setstate__(state)
    assert dict(data.categories) == {}


def test_the_fingerprint_knows_the_categories():
    data = coloured()
    assert data.fingerprint == coloured().fingerprint
    others = [None, {"colour": ("blue", "green", "yellow")}, {"colour": ("green", "blue", "red")}]
    assert len({coloured(categories=one).fingerprint for one in [*others, {"colour": COLOURS}]}) == 4


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ({"size": ["s"]}, "no feature"),
        ({1: ["s"]}, "no feature"),
        ({"colour": "blue"}, "lists of categories"),
        ({"colour": ["blue", "green"]}, "row 1 .* is 2"),
        ({"price": ["a", "b", "c", "d", "e"]}, r"row 0 .* is 1\.5"),
        ({"colour": ["blue", "blue", "red"]}, "two categories"),
        ({"colour": [1, "1", 2]}, "two categories"),
        ({"colour": [1.5, 2, 3]}, "text or a whole number"),
        ({"colour": [True, 2, 3]}, "text or a whole number"),
        ({"colour": ["", "b", "c"]}, "text or a whole number"),
        ({"colour": ["x" * 100_000, "b", "c"]}, "characters"),
        (["colour"], "maps features"),
    ],
)
def test_impossible_categories(categories, message):
    with pytest.raises(DataError, match=message):
        coloured(categories=categories)


def test_numbers_are_categories_too():
    data = coloured(categories={"colour": [np.int64(7), 30, "red"]})
    assert data.categories["colour"] == (7, 30, "red")
    assert [type(one) for one in data.categories["colour"]] == [int, int, str]


def test_features_that_are_no_codes_any_more_are_refused():
    with pytest.raises(DataError, match="categories"):
        coloured().replace(features=X + 0.25)
    assert isinstance(rf.Dataset(X + 0.25, qid=[1] * 6), Dataset)
