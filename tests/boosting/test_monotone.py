"""Which feature a direction is for: by name, by the number that the data gives it, or by order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rankforce as rf
from rankforce.boosting.monotone import directions_of


def array(n_features: int = 4, **more) -> rf.Dataset:
    return rf.Dataset(np.arange(8.0 * n_features).reshape(8, n_features), [0, 1] * 4, [1] * 4 + [2] * 4, **more)


def test_columns_of_an_array_are_numbered_from_1():
    assert directions_of({1: 1, 4: -1}, array()).tolist() == [1, 0, 0, -1]
    assert directions_of({np.int64(2): 1}, array()).tolist() == [0, 1, 0, 0]
    assert directions_of({"2": 1}, array()).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("first", [1, 0])
def test_features_of_letor_text_have_the_numbers_of_the_file(tmp_path: Path, first: int):
    path = tmp_path / "data.txt"
    path.write_text("1 qid:1 0:5 1:6 2:7\n0 qid:1 0:1 2:3\n" if first == 0 else "1 qid:1 1:5 2:6\n0 qid:1 1:1 3:3\n")
    data = rf.read(path, first_index=first)
    assert directions_of({2: -1}, data).tolist() == ([0, 0, -1] if first == 0 else [0, -1, 0])


def test_features_taken_out_of_more_keep_their_numbers():
    some = array().take_features(["2", "4"])
    assert directions_of({4: 1}, some).tolist() == [0, 1]
    with pytest.raises(rf.SettingsError, match=r"no feature 1; features are numbered 2 to 4, the nearest: 2, 4"):
        directions_of({1: 1}, some)


def test_a_list_has_a_direction_for_every_feature():
    assert directions_of([0, -1, 0, 1], array()).tolist() == [0, -1, 0, 1]
    with pytest.raises(rf.SettingsError, match=r"one direction per feature \(4\), not 2"):
        directions_of([0, 1], array())


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({0: 1}, "no feature 0; features are numbered 1 to 4, the nearest: 1, 2, 3"),
        ({9: 1}, "no feature 9; features are numbered 1 to 4, the nearest: 2, 3, 4"),
        ({-1: 1}, "no feature -1; features are numbered 1 to 4"),
        ({"price": 1}, "no feature 'price'; features are numbered 1 to 4$"),
        ({"9" * 5000: 1}, "no feature '999.*; features are numbered 1 to 4$"),
        ({True: 1}, "by name or number, and True is neither"),
        ({1.0: 1}, "by name or number, and 1.0 is neither"),
        ({2: 1, "2": -1}, "two directions for feature '2'"),
    ],
)
def test_keys_that_mean_no_feature(wanted, message: str):
    with pytest.raises(rf.SettingsError, match=message):
        directions_of(wanted, array())


def test_features_with_names_are_not_numbered():
    data = array(feature_names=["bm25", "price", "age", "pricing"])
    assert directions_of({"price": -1}, data).tolist() == [0, -1, 0, 0]
    with pytest.raises(rf.SettingsError, match=r"no feature 'prise'; features have names, the nearest: 'price'"):
        directions_of({"prise": 1}, data)
    with pytest.raises(rf.SettingsError, match=r"no feature 1; features have names, the nearest: 'bm25', 'price'"):
        directions_of({1: 1}, data)


def test_a_number_is_learned_with_as_its_name_is_and_kept_so(tmp_path: Path):
    data = rf.make_artificial(queries=30, documents=10, features=4, seed=1)
    small = {"n_trees": 5, "n_leaves": 4, "min_documents": 1, "progress": False}
    by_number = rf.LambdaMART(**small, monotone={3: -1}).fit(data)
    by_name = rf.LambdaMART(**small, monotone={"3": -1}).fit(data)
    assert by_number.predict(data).tolist() == by_name.predict(data).tolist()
    assert by_number.predict(data).tolist() != rf.LambdaMART(**small).fit(data).predict(data).tolist()
    by_number.save(tmp_path / "model.json")
    assert rf.load(tmp_path / "model.json").provenance.settings["monotone"] == {"3": -1}
