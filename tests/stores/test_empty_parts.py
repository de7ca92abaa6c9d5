"""Parts of data without a document: among others they add nothing, alone they are an error, in memory and in stores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import rankforce as rf

LETOR = "1 qid:1 1:5 2:6\n0 qid:1 1:1 2:3\n1 qid:2 1:5 2:7\n0 qid:2 1:1 2:4\n"
COMMENTS = "# exported on Monday\n\n# nothing to tell\n"
HEADER = "qid,label,price\n"
CSV = HEADER + "1,1,2.5\n1,0,1.5\n"


def written(folder: Path, parts: Sequence[str], ending: str) -> Path:
    folder.mkdir()
    for number, text in enumerate(parts):
        (folder / f"part-{number}{ending}").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("parts", "full", "ending"),
    [
        (["", LETOR, ""], LETOR, ".txt"),
        ([COMMENTS, LETOR], LETOR, ".txt"),
        ([LETOR, "", COMMENTS], LETOR, ".txt"),
        (["", CSV, HEADER], CSV, ".csv"),
    ],
    ids=["no bytes", "comments first", "both last", "CSV"],
)
def test_empty_parts_add_nothing(parts: list[str], full: str, ending: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "parts", parts, ending)
    alone = tmp_path / f"full{ending}"
    alone.write_text(full)
    wanted = rf.read(alone)
    store = rf.bin(folder, tmp_path / "parts.bins")
    for data in (rf.read(folder), store, rf.bin(sorted(map(str, folder.iterdir())), tmp_path / "list.bins")):
        assert (data.n_documents, data.feature_names) == (wanted.n_documents, wanted.feature_names)
        assert data.label().tolist() == wanted.label().tolist()
        assert data.qid.tolist() == wanted.qid.tolist()
    known = rf.bin(alone, tmp_path / "full.bins")
    learned = [rf.LambdaMART(n_trees=2, min_documents=1, progress=False).fit(one) for one in (store, known)]
    assert learned[0].predict(wanted).tolist() == learned[1].predict(wanted).tolist()


@pytest.mark.parametrize(
    ("parts", "ending", "message"),
    [
        (["", ""], ".txt", "part-0.txt and 1 more file: the file is empty"),
        ([""], ".txt", "part-0.txt: the file is empty"),
        ([COMMENTS], ".txt", "part-0.txt: the file holds no document, only comments"),
        ([COMMENTS, COMMENTS], ".txt", "part-0.txt and 1 more file: the file holds no document, only comments"),
        (["", ""], ".csv", "part-0.csv: the file is empty"),
    ],
)
def test_nothing_in_any_part_is_an_error(parts: list[str], ending: str, message: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "parts", parts, ending)
    for read in (lambda: rf.read(folder), lambda: rf.bin(folder, tmp_path / "parts.bins")):
        with pytest.raises(rf.FileFormatError, match=message):
            read()
    assert not (tmp_path / "parts.bins").exists()


def test_a_parquet_file_of_no_bytes_is_damaged(tmp_path: Path) -> None:
    alone = tmp_path / "full.csv"
    alone.write_text(CSV)
    folder = written(tmp_path / "parts", [""], ".parquet")
    rf.read(alone).write(folder / "part-1.parquet")
    for read in (lambda: rf.read(folder), lambda: rf.bin(folder, tmp_path / "parts.bins")):
        with pytest.raises(rf.FileFormatError, match=r"part-0\.parquet: the (table|file) cannot be read"):
            read()
