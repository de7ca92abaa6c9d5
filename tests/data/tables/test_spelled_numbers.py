"""Numbers with a decimal comma, or a percent sign: never categories that nobody asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.data.spelled_numbers import spelled_number
from rankforce.data.tables import csv_reading


@pytest.fixture(params=["arrow", "python"])
def reader(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "python":
        monkeypatch.setattr(csv_reading, "has_arrow", lambda: False)
    else:
        pytest.importorskip("pyarrow")
    return str(request.param)


def written(path: Path, cells: list[str], times: int = 4) -> Path:
    rows = [f"{query};{place % 2};{cell};{place}" for query in range(times) for place, cell in enumerate(cells)]
    path.write_text("\n".join(["qid;label;rating;age", *rows]) + "\n")
    return path


def test_a_decimal_comma_is_refused_with_the_option_that_reads_it(reader: str, tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", ["4,8", "3,5", "1,25", "7"])
    with pytest.raises(rf.DataError, match=r"'rating' \(numbers with a decimal comma \('1,25'\)\)[\s\S]*decimal=','"):
        rf.read(path, delimiter=";")
    data = rf.read(path, delimiter=";", decimal=",")
    assert data.features[:4, 0].tolist() == np.array([4.8, 3.5, 1.25, 7], dtype=np.float32).tolist()
    assert not data.categories


@pytest.mark.parametrize("cells", [["15%", "20%", "5%"], ["12.99 €", "3.50 €"], ["1.299,00", "1.300,50"]])
def test_other_spellings_are_refused_too(cells: list[str], reader: str, tmp_path: Path) -> None:
    with pytest.raises(rf.DataError, match=r"'rating' .numbers such as .* as text"):
        rf.read(written(tmp_path / "t.csv", cells), delimiter=";")


def test_who_declares_categories_gets_them(reader: str, tmp_path: Path) -> None:
    data = rf.read(written(tmp_path / "t.csv", ["36,5", "37,5"]), delimiter=";", categorical=["rating"])
    assert data.categories["rating"] == ("36,5", "37,5")


def test_a_cell_that_is_no_number_is_named_where_commas_are_decimal(reader: str, tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", ["4,8", "3,5", "4.8x"])
    with pytest.raises(rf.DataError, match=r"line 4.*'rating': not a number"):
        rf.read(path, delimiter=";", decimal=",")


def test_a_label_with_a_decimal_comma_names_the_option(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("qid;label;age\n1;0,5;3\n1;1;4\n")
    with pytest.raises(rf.DataError, match="decimal=','"):
        rf.read(path, delimiter=";")
    assert rf.read(path, delimiter=";", decimal=",").label().tolist() == [0.5, 1.0]


def test_blocks_are_read_with_the_decimal_sign(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = written(tmp_path / "t.csv", ["4,8", "3,5", "1,25", "7"])
    store = rf.bin(path, tmp_path / "t.bins", delimiter=";", decimal=",")
    assert store.n_features == 2
    assert not store.categories


@pytest.mark.parametrize(("given", "problem"), [({"decimal": ","}, "decimal sign"), ({"decimal": "x"}, "'.' or ','")])
def test_signs_that_cannot_be_are_refused(given: dict[str, str], problem: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("qid,label,age\n1,0,3\n")
    with pytest.raises(rf.DataError, match=problem):
        rf.read(path, **given)


def test_a_column_of_a_data_frame_is_refused_too() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": [1] * 4, "label": [0, 1, 0, 1], "off": ["15%", "20%"] * 2, "age": [1, 2, 3, 4]})
    with pytest.raises(rf.DataError, match="numbers such as '15%' as text"):
        rf.Dataset(frame)


@pytest.mark.parametrize("texts", [["red", "blue"], ["1.2.3", "4.5.6"], ["S", "4,8"], ["10-20", "20-30"], ["4,8,9"]])
def test_other_texts_are_no_spelled_numbers(texts: list[str]) -> None:
    assert spelled_number(texts, []) is None


def test_a_few_words_among_them_change_nothing() -> None:
    assert spelled_number([*(f"{n},5" for n in range(19)), "unknown"], []) == "0,5"


def test_one_comma_among_plain_numbers_is_a_cell_to_be_mended() -> None:
    assert spelled_number(["1.5", "2.5", "3,5"], ["1.5", "2.5"]) is None
