"""Folds in LETOR folders."""

from __future__ import annotations

import pytest

import rankforce as rf


def write(folder, features=3, seed=1, names=("train.txt", "vali.txt", "test.txt")):
    folder.mkdir(parents=True)
    for place, name in enumerate(names):
        rf.make_artificial(queries=4, documents=5, features=features, seed=seed * 10 + place).write(folder / name)


def test_folds_come_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 2, 1):
        write(tmp_path / f"Fold{number}", seed=number)
    (tmp_path / "readme.txt").write_text("x")
    folds = rf.read_folds(tmp_path)
    assert list(folds.files) == ["Fold1", "Fold2", "Fold10"]
    assert len(folds) == 3
    train, validation, test = folds[1]
    assert train.fingerprint == rf.read(tmp_path / "Fold2" / "train.txt").fingerprint
    assert validation.fingerprint == rf.read(tmp_path / "Fold2" / "vali.txt").fingerprint
    assert test.fingerprint == folds[1].test.fingerprint
    assert [fold.train.n_queries for fold in folds] == [4, 4, 4]
    assert list(folds[:2].files) == ["Fold1", "Fold2"]


def test_one_fold_and_other_endings(tmp_path):
    write(tmp_path / "mine", names=("train.txt.gz", "valid.txt.gz", "test.txt.gz"))
    assert len(rf.read_folds(tmp_path / "mine")) == 1
    write(tmp_path / "other", names=("train.txt", "rest.txt", "test.txt"))
    assert rf.read_folds(tmp_path / "other")[0].validation is None


def test_options_reach_the_reader(tmp_path):
    write(tmp_path / "Fold1")
    assert rf.read_folds(tmp_path, n_features=7)[0].train.n_features == 7


def test_what_is_refused(tmp_path):
    with pytest.raises(rf.DataError, match="cannot be read"):
        rf.read_folds(tmp_path / "absent")
    with pytest.raises(rf.DataError, match="neither folders Fold1"):
        rf.read_folds(tmp_path)
    write(tmp_path / "a" / "Fold1", names=("train.txt", "vali.txt"))
    with pytest.raises(rf.DataError, match=r"Fold1: the fold has no test file: test\.txt"):
        rf.read_folds(tmp_path / "a")
    write(tmp_path / "b" / "Fold1")
    rf.make_artificial(queries=4, documents=5, features=9, seed=1).write(tmp_path / "b" / "Fold1" / "test.txt")
    with pytest.raises(rf.DataError, match="n_features=9"):
        rf.read_folds(tmp_path / "b")[0]
