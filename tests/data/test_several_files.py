"""Several files that are read as one: the data set is that of one file with the rows of all."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.data.tables import csv_reading
from rankforce.errors import DataError, FileFormatError
from rankforce.files import streams

HEADER = "qid,label,price,brand,day,label:clicks,weight:query,document"
ROWS = (
    "q1,2,1.5,acme,2020-01-02,0,2,a",
    "q1,0,,zoom,2020-01-03,1,2,b",
    "q2,1,7.0,acme,,,1,c",  # goes on in the next file
    "q2,0,2,bold,2021-05-06,0,1,d",
    "q2,0,3.25,zoom,2020-01-02,1,1,e",
    "q1,1,4,bold,2020-01-03,0,2,f",  # comes again
    "q3,1,5,acme,2022-12-31,0,0.5,7",
    "q3,0,6,core,2022-12-31,1,0.5,8",
    "q3,2,6,core,2020-01-02,1,0.5,9",
)
CUTS = (0, 3, 3, 5, 9)  # the second file has a header and no rows
LETOR = (
    "2 qid:1 1:0.5 3:1 # docid = a",
    "0 qid:1 2:0.25",
    "1 qid:2 1:nan 4:3.5 # docid = c",
    "0 qid:2 1:-2",
    "1 qid:1 2:7 # docid = e",
    "0 qid:3 1:1 7:2",
    "0 qid:3x 1:1",
)


def same(one: rf.Dataset, other: rf.Dataset) -> None:
    """Whether two data sets agree in everything that can be told of them."""
    assert one.feature_names == other.feature_names
    np.testing.assert_array_equal(one.features, other.features)
    for part in ("query_ids", "rows", "query_starts", "weights", "query_weights", "document_ids"):
        mine, theirs = getattr(one, part), getattr(other, part)
        assert (mine is None) == (theirs is None), part
        if mine is not None:
            assert mine.dtype == theirs.dtype, part
            np.testing.assert_array_equal(mine, theirs, err_msg=part)
    assert list(one.labels) == list(other.labels)
    for name in one.labels:
        np.testing.assert_array_equal(one.labels[name], other.labels[name])
    assert one.categories == other.categories
    assert dict(one.origins) == dict(other.origins)
    assert dict(one.roles) == dict(other.roles)
    assert one.fingerprint == other.fingerprint


def write_csv(path: Path, header: str, rows: Sequence[str]) -> Path:
    path.parent.mkdir(exist_ok=True)
    text = "\n".join([header, *rows]) + "\n"
    if path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text.replace(",", "\t") if ".tsv" in path.name else text)
    return path


def write_parquet(path: Path, header: str, rows: Sequence[str], order: slice = slice(None), **types: Any) -> Path:
    """The same rows, with columns of the types that a program writes which sees only these rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(exist_ok=True)
    columns: dict[str, Any] = {}
    for place, name in list(enumerate(header.split(",")))[order]:
        cells = [row.split(",")[place] or None for row in rows]
        numeric = name in ("label", "price", "label:clicks", "weight:query") and types.get(name) != pa.string()
        values = [float(cell) if numeric and cell is not None else cell for cell in cells]
        columns[name] = pa.array(values, type=types.get(name, pa.float64() if numeric else pa.string()))
    pq.write_table(pa.table(columns), path)
    return path


def write_letor(path: Path, header: str, rows: Sequence[str]) -> Path:
    path.parent.mkdir(exist_ok=True)
    text = "".join(row + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.name.endswith(".gz") else text)
    return path


WRITERS: dict[str, tuple[Callable[..., Path], Sequence[str]]] = {
    ".csv": (write_csv, ROWS),
    ".tsv": (write_csv, ROWS),
    ".csv.gz": (write_csv, ROWS),
    ".parquet": (write_parquet, ROWS),
    ".txt": (write_letor, LETOR),
    ".letor.gz": (write_letor, LETOR),
}


def parts(tmp_path: Path, ending: str) -> tuple[Path, Path]:
    """(A folder with parts of a table, the whole in one file.)"""
    write, rows = WRITERS[ending]
    for number, (first, last) in enumerate(itertools.pairwise(CUTS)):
        write(tmp_path / "parts" / f"part-{number}{ending}", HEADER, rows[first:last])
    (tmp_path / "parts" / "_SUCCESS").write_text("")
    return tmp_path / "parts", write(tmp_path / f"whole{ending}", HEADER, rows)


@pytest.mark.parametrize("ending", WRITERS)
def test_a_folder_a_pattern_and_a_list_are_the_whole(ending: str, tmp_path: Path) -> None:
    folder, whole = parts(tmp_path, ending)
    expected = rf.read(whole)
    assert expected.n_queries == 3 + (ending in (".txt", ".letor.gz"))
    same(rf.read(folder), expected)
    same(rf.read(str(folder)), expected)
    same(rf.read(f"{folder}/part-*"), expected)
    same(rf.read(sorted(folder.glob("part-*"))), expected)
    reader = rf.read_letor if ending in (".txt", ".letor.gz") else rf.read_table
    same(reader(folder), expected)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".txt"])
def test_a_list_is_read_in_its_order(ending: str, tmp_path: Path) -> None:
    write, rows = WRITERS[ending]
    files = [write(tmp_path / f"{name}{ending}", HEADER, part) for name, part in (("b", rows[:4]), ("a", rows[4:]))]
    same(rf.read(files), rf.read(write(tmp_path / f"whole{ending}", HEADER, rows)))


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, whole = parts(tmp_path, ".csv")
    expected = rf.read(whole)
    monkeypatch.setattr(csv_reading, "has_arrow", lambda: False)
    same(rf.read(folder), expected)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_options_are_those_of_one_file(ending: str, tmp_path: Path) -> None:
    folder, whole = parts(tmp_path, ending)
    known = rf.read(write_csv(tmp_path / "known.csv", "qid,label,price,brand", ["1,0,1,zoom", "1,1,1,zoom"]))
    for options in (
        {"ignore": ["day", "price"]},
        {"features": ["day", "price"], "label": "label:clicks"},
        {"categorical": ["day"]},
        {"like": known},
        {"qid": "brand", "query_weight": False, "ignore": ["qid", "weight:query"]},
    ):
        same(rf.read(folder, **options), rf.read(whole, **options))


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_columns_in_another_order_are_found_by_name(ending: str, tmp_path: Path) -> None:
    write = WRITERS[ending][0]

    def turned(line: str) -> str:
        return ",".join(reversed(line.split(",")))

    write(tmp_path / "parts" / f"a{ending}", HEADER, ROWS[:4])
    write(tmp_path / "parts" / f"b{ending}", turned(HEADER), [turned(row) for row in ROWS[4:]])
    expected = rf.read(write(tmp_path / f"whole{ending}", HEADER, ROWS))
    same(rf.read(tmp_path / "parts"), expected)
    assert rf.bin(tmp_path / "parts", tmp_path / "made.bins").fingerprint == expected.fingerprint


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_file_with_other_columns_is_named(ending: str, tmp_path: Path) -> None:
    write = WRITERS[ending][0]
    write(tmp_path / f"a{ending}", "qid,label,price", ["1,0,1"])
    write(tmp_path / f"b{ending}", "qid,label,price", ["1,0,1"])
    write(tmp_path / f"c{ending}", "qid,label", ["2,1"])
    with pytest.raises(
        FileFormatError, match=rf"c\{ending}: there is no column 'price', which .*a\{ending} has"
    ) as less:
        rf.read(tmp_path)
    assert "ignore" in str(less.value)
    assert rf.read(tmp_path, ignore=["price"]).n_documents == 3
    write(tmp_path / f"c{ending}", "qid,label,price,brand", ["2,1,1,acme"])
    with pytest.raises(FileFormatError, match=rf"c\{ending}: there is a column 'brand', which .*a\{ending} does not"):
        rf.read(tmp_path)
    assert rf.read(tmp_path, ignore=["brand"]).feature_names == ("price",)
    assert rf.read(tmp_path, features=["price"]).n_documents == 3


def test_numbers_in_one_file_and_texts_in_another(tmp_path: Path) -> None:
    """Sizes 38 and 40 beside M and L: no numbers, and categories where they are declared, as in one file."""
    first, second = ["1,0,38", "1,1,40"], ["2,0,M", "2,1,L"]
    folder = write_csv(tmp_path / "parts" / "a.csv", "qid,label,size", first).parent
    write_csv(folder / "b.csv", "qid,label,size", second)
    whole = write_csv(tmp_path / "whole.csv", "qid,label,size", first + second)
    with pytest.raises(FileFormatError) as alone:
        rf.read(whole)
    with pytest.raises(FileFormatError) as apart:
        rf.read(folder)
    assert alone.value.problem == apart.value.problem
    assert apart.value.path == str(folder / "b.csv")
    same(rf.read(folder, categorical=["size"]), rf.read(whole, categorical=["size"]))


def test_ids_are_numbers_only_if_all_are(tmp_path: Path) -> None:
    first, second = ["7.0,0,1", "8,1,2"], ["q9,0,1"]
    folder = write_csv(tmp_path / "parts" / "a.csv", "qid,label,x", first).parent
    write_csv(folder / "b.csv", "qid,label,x", second)
    same(rf.read(folder), rf.read(write_csv(tmp_path / "whole.csv", "qid,label,x", first + second)))


def test_types_of_parquet_columns_that_differ(tmp_path: Path) -> None:
    """A file whose cells are all missing has no type, whole numbers may be floats, texts may be categorical."""
    import pyarrow as pa

    header = "qid,label,price,brand"
    folder = tmp_path / "parts"
    brands = pa.dictionary(pa.int8(), pa.string())
    write_parquet(folder / "a.parquet", header, ["1,0,1,", "1,1,2,"], brand=pa.null(), price=pa.int64())
    write_parquet(folder / "b.parquet", header, ["1,2,2.5,zoom", "2,1,,acme"], brand=pa.large_string())
    write_parquet(folder / "c.parquet", header, ["2,0,,zoom", "2,0,,acme"], price=pa.null(), brand=brands)
    whole = ["1,0,1,", "1,1,2,", "1,2,2.5,zoom", "2,1,,acme", "2,0,,zoom", "2,0,,acme"]
    same(rf.read(folder), rf.read(write_parquet(tmp_path / "whole.parquet", header, whole)))
    write_parquet(folder / "d.parquet", header, ["3,0,1,7"], price=pa.string())
    with pytest.raises(
        FileFormatError, match=r"d\.parquet: column 'price' holds string, and double in the files before it"
    ):
        rf.read(folder)


def test_written_categories_keep_their_list(tmp_path: Path) -> None:
    data = rf.read(write_csv(tmp_path / "whole.csv", HEADER, ROWS))
    assert data.categories["brand"] == ("acme", "bold", "core", "zoom")
    for number in range(data.n_queries):
        data.take_queries([number]).write(tmp_path / f"{number}.parquet")
    (tmp_path / "whole.csv").unlink()
    assert rf.read(tmp_path).categories == data.categories


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_bad_cell_is_told_by_its_file_and_row(ending: str, tmp_path: Path) -> None:
    write = WRITERS[ending][0]
    write(tmp_path / f"a{ending}", "qid,label,price", ["1,0,1", "1,0,1", "1,0,1"])
    write(tmp_path / f"b{ending}", "qid,label,price", ["1,0,1", "1,inf,1"])
    with pytest.raises(FileFormatError, match=r"(line 3|row 2).*: impossible label") as told:
        rf.read(tmp_path)
    assert told.value.path == str(tmp_path / f"b{ending}")


def test_a_bad_line_is_told_by_its_file_and_line(tmp_path: Path) -> None:
    write_letor(tmp_path / "a.txt", "", LETOR[:3])
    write_letor(tmp_path / "b.txt", "", [LETOR[3], "0 qid:2 1:x"])
    with pytest.raises(FileFormatError) as told:
        rf.read(tmp_path)
    assert (told.value.path, told.value.line) == (str(tmp_path / "b.txt"), 2)
    write_letor(tmp_path / "b.txt", "", ["1 1:2"])
    with pytest.raises(FileFormatError) as told:
        rf.read(tmp_path)
    assert (told.value.path, told.value.line) == (str(tmp_path / "b.txt"), 1)


@pytest.mark.parametrize("options", [{}, {"absent": "missing"}, {"n_features": 9}, {"categorical": ["3"]}])
def test_letor_text_is_as_wide_as_its_widest_file(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "FIRST_ROUND", 48)  # several rounds in every file
    monkeypatch.setattr(streams, "ROUND", 48)
    folder, whole = parts(tmp_path, ".txt")
    found = rf.read(folder, **options)
    assert found.n_features == options.get("n_features", 7)
    same(found, rf.read(whole, **options))


def test_sizes_of_queries_beside_each_file(tmp_path: Path) -> None:
    lines = [line.replace("qid:1 ", "").replace("qid:2 ", "") for line in LETOR[:5]]
    folder = write_letor(tmp_path / "parts" / "a.txt", "", lines[:3]).parent
    write_letor(folder / "b.txt", "", lines[3:])
    (folder / "a.txt.query").write_text("2\n1\n")
    (folder / "b.txt.query").write_text("2\n")
    whole = write_letor(tmp_path / "whole.txt", "", lines)
    (tmp_path / "whole.txt.query").write_text("2\n1\n2\n")
    found, expected = rf.read(folder), rf.read(whole)
    assert found.query_starts.tolist() == [0, 2, 3, 5]
    assert found.fingerprint == expected.fingerprint
    assert found.origins["queries"].endswith("a.txt.query and 1 more file'")
    with pytest.raises(DataError, match=r"sizes of queries are those of one file.*a\.txt\.query, and leave group"):
        rf.read(folder, group=folder / "a.txt.query")
    (folder / "b.txt.query").unlink()
    with pytest.raises(FileFormatError, match=r"b\.txt.*: no line says which query"):
        rf.read(folder)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".txt"])
def test_nothing_in_all_files(ending: str, tmp_path: Path) -> None:
    write = WRITERS[ending][0]
    write(tmp_path / f"a{ending}", "qid,label,price", [])
    write(tmp_path / f"b{ending}", "qid,label,price", [])
    with pytest.raises(FileFormatError, match=r"and 1 more file: .*(no rows|empty)"):
        rf.read(tmp_path)


def test_empty_files_among_others_add_nothing(tmp_path: Path) -> None:
    (tmp_path / "0.csv").write_text("")
    write_csv(tmp_path / "1.csv", HEADER, ROWS)
    same(rf.read(tmp_path), rf.read(tmp_path / "1.csv"))
    (tmp_path / "1.csv").write_text("")
    with pytest.raises(FileFormatError, match="the file is empty"):
        rf.read(tmp_path)


def test_formats_are_not_mixed(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", HEADER, ROWS)
    write_parquet(tmp_path / "b.parquet", HEADER, ROWS)
    with pytest.raises(DataError, match=r"a\.csv is delimited text and .*b\.parquet is Parquet.*\*\.csv$"):
        rf.read(tmp_path)
    with pytest.raises(DataError, match=r"a\.csv is delimited text and .*b\.parquet is Parquet"):
        rf.read_table(tmp_path)
    write_letor(tmp_path / "b.txt", "", LETOR)
    with pytest.raises(DataError, match=r"b\.txt is LETOR text"):
        rf.read([tmp_path / "a.csv", tmp_path / "b.txt"])
    assert rf.read_letor(tmp_path).n_documents == len(LETOR)  # which looks for its own endings


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".txt"])
def test_stores_of_a_folder(ending: str, tmp_path: Path) -> None:
    folder, whole = parts(tmp_path, ending)
    if ending == ".txt":
        (folder / f"part-1{ending}").unlink()  # a store refuses a file without documents
    assert rf.bin(folder, tmp_path / "made.bins").fingerprint == rf.read(whole).fingerprint
