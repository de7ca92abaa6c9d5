"""LETOR text that never names the last features, read like data or a model that has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rankforce as rf
from rankforce.data.blocks import BlockSize, blocks_of

NARROW = "0 qid:1 1:0.5\n1 qid:1 2:1\n"


@pytest.fixture
def narrow(tmp_path: Path) -> Path:
    path = tmp_path / "narrow.txt"
    path.write_text(NARROW)
    return path


def wide(first_index: int = 1) -> rf.Dataset:
    names = [str(index) for index in range(first_index, first_index + 4)]
    return rf.Dataset(np.eye(4), [0, 1, 0, 1], [1, 1, 2, 2], feature_names=names)


def test_text_has_as_many_features_as_what_it_is_read_like(narrow: Path) -> None:
    data = rf.read(narrow, like=wide())
    assert data.feature_names == ("1", "2", "3", "4")
    assert data.features.tolist() == [[0.5, 0, 0, 0], [0, 1, 0, 0]]
    assert np.isnan(rf.read(narrow, like=wide(), absent="missing").features[:, 2:]).all()


def test_further_features_stay(tmp_path: Path) -> None:
    path = tmp_path / "wide.txt"
    path.write_text("0 qid:1 1:0.5\n1 qid:1 5:1\n")
    assert rf.read(path, like=wide()).n_features == 5


def test_a_given_number_of_features_decides(narrow: Path) -> None:
    assert rf.read(narrow, like=wide(), n_features=3).n_features == 3


@pytest.mark.parametrize("names", [["bm25", "price", "age"], ["0", "1", "2"], ["3", "2", "1"]])
def test_features_that_are_numbered_otherwise_widen_nothing(narrow: Path, names: list[str]) -> None:
    other = rf.Dataset(np.eye(3), [0, 1, 0], [1, 1, 1], feature_names=names)
    assert rf.read(narrow, like=other).n_features == 2


def test_numbers_from_zero_are_those_of_a_file_that_counts_from_zero(narrow: Path) -> None:
    assert rf.read(narrow, like=wide(0), first_index=0).feature_names == ("0", "1", "2", "3")


def test_blocks_are_as_wide(narrow: Path) -> None:
    (block, _), *_ = blocks_of(str(narrow), BlockSize(100, 10_000), like=wide())
    assert block.n_features == 4


def test_where_it_cannot_be_known_the_error_says_what_to_write(narrow: Path) -> None:
    data = rf.make_artificial(queries=6, documents=6, features=4, seed=0)
    ranker = rf.LambdaMART(n_trees=2, n_leaves=3, min_documents=2, progress=False).fit(data)
    with pytest.raises(rf.DataError, match=r"2 features, the model was trained on 4; .*n_features=4"):
        ranker.predict(rf.read(narrow))
    assert len(ranker.predict(rf.read(narrow, like=ranker))) == 2
