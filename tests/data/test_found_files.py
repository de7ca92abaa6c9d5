"""Which files a name, a pattern, a folder or a list stands for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import rankforce as rf
from rankforce.data.found_files import ENDINGS, found_files, together
from rankforce.errors import DataError

NAMES = ("b.csv", "a.csv", "c.CSV")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files, and what Spark, Hive and others leave beside them."""
    for name in (*NAMES, "_SUCCESS", "_metadata", "_more.csv", ".hidden.csv", ".a.csv.crc", "README.md", "a.csv.query"):
        (tmp_path / "parts" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "parts" / name).write_text("qid,label,x\n1,0,1\n")
    (tmp_path / "parts" / "deeper").mkdir()
    return tmp_path / "parts"


def in_folder(folder: Path, *names: str) -> list[str]:
    return [str(folder / name) for name in names]


def test_a_folder_has_its_files_in_the_order_of_names(folder: Path) -> None:
    assert found_files(folder) == in_folder(folder, "a.csv", "b.csv", "c.CSV")
    assert found_files(f"{folder}/") == [f"{folder}/{name}" for name in ("a.csv", "b.csv", "c.CSV")]


def test_a_pattern_has_all_that_match(folder: Path) -> None:
    assert found_files(f"{folder}/*.csv") == in_folder(folder, "a.csv", "b.csv")
    assert found_files(f"{folder}/[ab].*") == in_folder(folder, "a.csv", "a.csv.query", "b.csv")
    assert found_files(f"{folder}/_m*.csv") == in_folder(folder, "_more.csv")  # asked for
    assert found_files(f"{folder.parent}/par*") == found_files(folder)  # a folder that matches stands for its files


def test_a_list_keeps_its_order(folder: Path) -> None:
    (folder / "deeper" / "z.csv").write_text("")
    given = [folder / "b.csv", f"{folder}/c*", folder / "deeper", "not there.csv"]
    assert found_files(given) == [*in_folder(folder, "b.csv", "c.CSV", "deeper/z.csv"), "not there.csv"]


def test_a_file_whose_name_is_like_a_pattern(tmp_path: Path) -> None:
    odd = tmp_path / "part[1].csv"
    odd.write_text("qid,label,x\n1,0,1\n")
    (tmp_path / "part1.csv").write_text("")
    assert found_files(odd) == [str(odd)]
    assert rf.read(odd).n_documents == 1


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_is_found(ending: str, tmp_path: Path) -> None:
    (tmp_path / f"part-0{ending}").write_text("")
    (tmp_path / f"_part{ending}").write_text("")
    assert found_files(tmp_path) == [str(tmp_path / f"part-0{ending}")]


def test_nothing_is_found(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        DataError, match=r"(?s)empty: the folder has no file with one of the endings .*\.parquet.*part-\*"
    ):
        found_files(tmp_path / "empty")
    with pytest.raises(DataError, match=r"in folders in it, are named by a pattern, for example .*/\*/\*$"):
        found_files(tmp_path)
    with pytest.raises(DataError, match=r"x\*.csv: there is no such file, and none that matches it"):
        found_files(f"{folder}/x*.csv")
    with pytest.raises(DataError, match="a list of these, not"):
        found_files([])
    with pytest.raises(DataError, match="a list of these, not"):
        found_files({"a.csv"})
    with pytest.raises(DataError, match="named by a path, not by 3"):
        found_files([3])


def test_a_file_that_is_named_twice(folder: Path) -> None:
    with pytest.raises(DataError, match=r"a\.csv is named twice"):
        found_files([folder / "a.csv", f"{folder}/*.csv"])
    with pytest.raises(DataError, match=r"a\.csv is named twice"):
        found_files([folder, os.path.join(folder, "deeper", "..", "a.csv")])


def test_a_folder_that_ends_like_a_file(tmp_path: Path) -> None:
    """As Spark writes them: alone it is a folder of parts, within another one it is not looked into."""
    inner = tmp_path / "train.parquet"
    inner.mkdir()
    (inner / "part-0.parquet").write_text("")
    assert found_files(inner) == [str(inner / "part-0.parquet")]
    assert found_files(f"{tmp_path}/*.parquet") == [str(inner / "part-0.parquet")]
    with pytest.raises(DataError, match=r"train\.parquet is a folder within a folder.*\*\.parquet$"):
        found_files(tmp_path)


def test_stores_are_not_among_files(folder: Path) -> None:
    (folder / "made.bins").mkdir()
    assert len(found_files(folder)) == 3  # it is no file of this folder
    for given in ([folder / "a.csv", folder / "made.bins"], f"{folder}/*.[bc]*", [folder / "made.bins"]):
        with pytest.raises(DataError, match=r"made\.bins is a store, which is opened alone"):
            found_files(given)
        with pytest.raises(DataError, match=r"made\.bins is a store, which is opened alone"):
            rf.read(given)


def test_files_together() -> None:
    assert together(["a"]) == "a"
    assert together(["a", "b"]) == "a and 1 more file"
    assert together(["a"] * 1001) == "a and 1,000 more files"
