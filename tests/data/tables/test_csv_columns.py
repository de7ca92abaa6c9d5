"""CSV without pyarrow: the same data, bit for bit, and the same complaints."""

from __future__ import annotations

import csv
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.data.tables.test_tables import CSV, assert_same, random_data

import rankforce as rf
from rankforce import DataError, Dataset, FileFormatError, RankforceError
from rankforce.data.tables import table_files as tables
from rankforce.data.tables.csv_columns import nearest_single
from rankforce.errors import MissingDependencyError

ENDINGS = ["csv", "tsv", "csv.gz"]


@pytest.fixture
def no_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert not tables.has_arrow()


@pytest.mark.usefixtures("no_arrow")
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("seed", range(6))
def test_everything_comes_back(tmp_path: Path, ending: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankforce.data.tables.csv_columns._ROWS", 7)  # several blocks
    data, path = random_data(seed), tmp_path / f"data.{ending}"
    tables.write_table(data, path)
    assert_same(data, tables.read_table(path))
    before = path.read_bytes()
    tables.write_table(data, path)
    assert path.read_bytes() == before
    monkeypatch.delitem(sys.modules, "pyarrow")
    if tables.has_arrow():
        assert_same(data, tables.read_table(path))
        tables.write_table(data, path)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        assert_same(data, tables.read_table(path))


@pytest.mark.usefixtures("no_arrow")
@pytest.mark.parametrize(
    "data",
    [
        Dataset(np.zeros((2, 1)), qid=[1, 1]),
        Dataset(np.empty((3, 0)), [1, 2, np.nan], [2, 1, 2]),
        Dataset(np.zeros((2, 1)), [1, 2], ["7", "8"], document_ids=["1", "2"]),
        Dataset(np.zeros((2, 1)), [1, 2], ["1.0", "2.0"], document_ids=["", " 5"]),
        Dataset(np.zeros((2, 1)), [1, 2], ["007", "NULL"], document_ids=["nan", "NA"]),
        Dataset(np.zeros((2, 1)), [1, 2], ["9" * 30, "8" * 30]),
        Dataset(np.zeros((2, 1)), [1, 2], [-(2**63), 2**63 - 1]),
        Dataset(np.full((2, 1), np.nan), [np.nan, np.nan], [1, 2], feature_names=[""]),
    ],
    ids=str,
)
def test_odd_data_comes_back(tmp_path: Path, data: Dataset) -> None:
    rf.Dataset.write(data, tmp_path / "data.csv")
    assert_same(data, rf.read(tmp_path / "data.csv"))


def both_ways(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Dataset | str]:
    """What is read with pyarrow and without: data, or the complaint."""
    found: list[Dataset | str] = []
    for arrow in (True, False):
        monkeypatch.setattr(tables, "has_arrow", lambda arrow=arrow: arrow)
        try:
            found.append(tables.read_table(path))
        except RankforceError as error:
            found.append(str(error))
    return found


@pytest.mark.filterwarnings("ignore::rankforce.data.tables.columns.ColumnWarning")  # an edit may name a weight
@pytest.mark.parametrize("seed", range(150))
def test_edited_files_are_read_or_refused_alike(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    random = np.random.default_rng(seed)
    odd = [
        "+",
        "-",
        ".",
        "e",
        "nan",
        "inf",
        "NA",
        ",",
        "\n",
        "\r\n",
        " ",
        "_",
        "٣",
        "1e39",
        "0x1",
        "1.",
        "16777217",
        "7",
    ]
    text = CSV
    for _ in range(random.integers(1, 4)):
        place = int(random.integers(len(text)))
        text = text[:place] + str(random.choice(odd)) + text[place + int(random.integers(3)) :]
    path = tmp_path / "edited.csv"
    path.write_bytes(text.encode())
    one, other = both_ways(path, monkeypatch)
    if isinstance(one, Dataset) and isinstance(other, Dataset):
        assert_same(one, other)
    else:
        assert isinstance(one, str) == isinstance(other, str), (one, other, text)


@pytest.mark.usefixtures("no_arrow")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("qid,label,x\n1,2,3\n1,2\n", "line 3: 2 cells in a row, the header has 3"),
        ("qid,label,x\n1,2,a\n1,2,5\n", "line 2, column 3: column 'x': not a number: 'a'"),
        ("qid,label,x\n1,2,1_0\n1,2,1\n", "line 2, column 3: column 'x': not a number: '1_0'"),
        ("\n\nqid,label,x\n1,2,3\n1,b,3\n", "line 5, column 2: column 'label': not a number: 'b'"),
        ("qid,label,x\n", "a header and no rows"),
        ("qid,label,x\n,2,3\n", "line 2, column 1: column 'qid': the query id is missing"),
        ("qid,label,x\n1,2,1e39\n", "beyond float32"),
        ('qid,label,x\n1,2,"3\n', "is a quotation mark not closed"),
    ],
)
def test_what_is_broken_is_named_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises((FileFormatError, DataError), match=message):
        tables.read_table(tmp_path / "a.csv")


@pytest.mark.usefixtures("no_arrow")
def test_parquet_says_which_extra_to_install(tmp_path: Path) -> None:
    for action in (
        lambda: tables.read_table(tmp_path / "a.parquet"),
        lambda: tables.write_table(random_data(1), tmp_path / "a.parquet"),
        lambda: rf.click_labels(tmp_path / "log.csv"),
    ):
        with pytest.raises(MissingDependencyError, match=r"pip install '\.\[frames\]'"):
            action()


def test_digits_are_rounded_once() -> None:
    """1 + 2^-24 lies in the middle of two float32 numbers: more digits decide, also beyond those of float64."""
    middle = Fraction(1) + Fraction(1, 2**24)
    digits = f"{float(middle):.30f}"
    texts = [digits, digits + "1", digits[:-8] + "0" * 8, "16777217", "16777217.0000000000000000001", "-16777217.1"]
    texts += ["1e-46", "7.006492321624085e-46", "7.0064923216240854e-46"]
    values = np.array([float(text) for text in texts])
    for text, found in zip(texts, nearest_single(values, texts).tolist(), strict=True):
        if np.isinf(found):
            assert abs(Fraction(text)) >= Fraction(2**128 - 2**103)
            continue
        near = np.float32(found)
        for other in (np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))):
            if np.isfinite(other):
                ours, theirs = (abs(Fraction(float(one)) - Fraction(text)) for one in (near, other))
                assert ours < theirs or (ours == theirs and int(near.view(np.int32)) % 2 == 0), (text, found)


@pytest.mark.usefixtures("no_arrow")
def test_it_is_csv_that_others_read(tmp_path: Path) -> None:
    data = Dataset([[0.1, np.nan]], [2], ['a "b", c'], feature_names=["x", "y,z"])
    data.write(tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["qid", "label", "x", "y,z"], ['a "b", c', "2.0", "0.1", ""]]


def test_reading_imports_neither_pyarrow_nor_pandas(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    code = (
        "import sys\n"
        "sys.modules['pyarrow'] = sys.modules['pandas'] = None\n"
        "import rankforce as rf\n"
        f"data = rf.read({str(tmp_path / 'a.csv')!r})\n"
        f"data.write({str(tmp_path / 'b.csv')!r})\n"
        f"assert rf.read({str(tmp_path / 'b.csv')!r}).fingerprint == data.fingerprint\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
