"""Columns of files that are no numbers: the same from CSV, from Parquet, and without pyarrow."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rankforce as rf
from rankforce import DataError, FileFormatError
from rankforce.data.tables import csv_reading
from rankforce.data.tables.table_files import read_table

COLUMNS = {
    "qid": [1, 1, 1, 2, 2, 2],
    "label": [0, 1, 2, 0, 1, 2],
    "brand": ["omni", "acme", None, "acme", "omni", "acme"],
    "shop": [30, 7, 30, 7, 30, None],
    "stock": [True, False, True, None, False, True],
    "added": ["2024-01-31", "2024-02-01T12:00:00Z", None, "2024-01-31", "1970-01-02", "1970-01-01"],
    "price": [1.5, 2.5, None, 4.0, 5.0, 6.0],
}
EXPECTED = np.array(
    [
        [1, 1, 1, 19753, 1.5],
        [0, 0, 0, 19754.5, 2.5],
        [np.nan, 1, 1, np.nan, np.nan],
        [0, 0, np.nan, 19753, 4],
        [1, 1, 0, 1, 5],
        [0, np.nan, 1, 0, 6],
    ],
    dtype=np.float32,
)
CATEGORIES = {"brand": ("acme", "omni"), "shop": (7, 30)}


def csv_text(columns=COLUMNS):
    cells = [["" if one is None else str(one) for one in values] for values in columns.values()]
    return "\n".join([",".join(columns), *map(",".join, zip(*cells, strict=True))]) + "\n"


def written(tmp_path, form, columns=COLUMNS):
    path = tmp_path / f"shop.{form}"
    if form == "parquet":
        pq.write_table(pa.table(columns), path)
    else:
        path.write_text(csv_text(columns))
    return path


@pytest.fixture(params=["csv", "csv without pyarrow", "parquet"])
def form(request, monkeypatch):
    if "without" in request.param:
        monkeypatch.setattr(csv_reading, "has_arrow", lambda: False)
    return request.param.partition(" ")[0]


def test_every_kind_of_column(form, tmp_path):
    data = rf.read(written(tmp_path, form), categorical=["shop"])
    np.testing.assert_array_equal(data.features, EXPECTED)
    assert dict(data.categories) == CATEGORIES
    assert data.feature_names == ("brand", "shop", "stock", "added", "price")
    assert dict(data.roles) == {
        "qid": "query",
        "label": "label",
        "brand": "category",
        "shop": "category",
        "stock": "0 and 1",
        "added": "days since 1970-01-01",
    }
    frame = rf.Dataset(pd.DataFrame(COLUMNS), categorical=["shop"])
    assert frame.fingerprint == data.fingerprint
    assert dict(frame.roles) == dict(data.roles)


def test_integers_are_categories_only_if_declared(form, tmp_path):
    data = rf.read(written(tmp_path, form))
    assert dict(data.categories) == {"brand": CATEGORIES["brand"]}
    np.testing.assert_array_equal(data.features[:, 1], np.float32([30, 7, 30, 7, 30, np.nan]))


def test_codes_do_not_depend_on_the_order_of_rows(form, tmp_path):
    turned = {name: values[::-1] for name, values in COLUMNS.items()}
    data = rf.read(written(tmp_path, form, turned), categorical=["shop"])
    assert dict(data.categories) == CATEGORIES
    np.testing.assert_array_equal(data.features, EXPECTED[::-1])


def test_a_file_is_read_like_another(form, tmp_path):
    train = rf.read(written(tmp_path, form), categorical=["shop"])
    few = {name: values[:2] for name, values in COLUMNS.items()}
    few |= {"brand": ["omni", "unheard of"], "shop": [7, 99], "title": ["one", "two"]}
    data = rf.read(written(tmp_path, form, few), like=train)
    assert data.categories == train.categories
    np.testing.assert_array_equal(data.features[:, :2], [[1, 0], [-1, -1]])
    assert data.roles["title"] == "left out (not asked for, and no numbers)"
    few["price"] = ["dear", "cheap"]
    with pytest.raises(FileFormatError, match=r"(?s)'price'.*(numbers are wanted|not a number: 'dear')"):
        rf.read(written(tmp_path, form, few), like=train)


def test_all_unusable_columns_are_told_at_once(form, tmp_path):
    broken = COLUMNS | {
        "title": [f"title {row}" for row in range(6)],
        "size": ["38", "M", "40", "M", "38", "L"],
        "url": [f"https://shop/{row}" for row in range(6)],
    }
    with pytest.raises(FileFormatError) as error:
        rf.read(written(tmp_path, form, broken))
    message = str(error.value)
    assert "3 columns are no features: 'title' (6 different texts in 6 rows: ids or free text), 'size'" in message
    assert "ignore=['title', 'size', 'url']" in message
    data = rf.read(written(tmp_path, form, broken), ignore=["title", "url"], categorical=["size"])
    assert data.categories["size"] == ("38", "40", "L", "M")


def test_one_broken_cell_is_told_with_its_place(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("qid,a,b\n1,1,red\n1,2,red\n1,x,red\n")
    for arrow in (True, False):
        if not arrow:
            monkeypatch.setattr(csv_reading, "has_arrow", lambda: False)
        with pytest.raises(FileFormatError, match=r"line 4, column 2: column 'a': not a number: 'x'"):
            read_table(path)
    assert dict(read_table(path, categorical=["a"]).categories) == {"a": ("1", "2", "x"), "b": ("red",)}


def test_labels_may_be_true_and_false(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("qid,label,a\n1,true,1\n1,False,2\n1,,2\n")
    for arrow in (True, False):
        if not arrow:
            monkeypatch.setattr(csv_reading, "has_arrow", lambda: False)
        np.testing.assert_array_equal(read_table(path).label(), [1, 0, np.nan])
    path.write_text("qid,label,a\n1,yes,1\n1,no,2\n")
    with pytest.raises(FileFormatError, match="column 'label': not a number: 'yes'"):
        read_table(path)


@pytest.mark.parametrize("name", ["data.csv", "data.tsv.gz", "data.parquet"])
def test_written_categories_come_back(name, tmp_path, monkeypatch):
    frame = pd.DataFrame(COLUMNS).assign(size=pd.Categorical(list("SMSMLL"), ["S", "M", "L", "XL"]))
    data = rf.Dataset(frame, categorical=["shop"], feature_names=["brand", "label", "stock", "added", "price", "size"])
    for arrow in (True, False) if "parquet" not in name else (True,):
        if not arrow:
            monkeypatch.setattr(csv_reading, "has_arrow", lambda: False)
            monkeypatch.setattr("rankforce.data.tables.table_files.has_arrow", lambda: False)
        data.write(tmp_path / name)
        back = rf.read(tmp_path / name)
        assert back.feature_names == data.feature_names
        assert back.categories["label"] == (7, 30)
        assert back.to_pandas().astype(object).equals(data.to_pandas().astype(object))
        assert (back.fingerprint == data.fingerprint) == ("parquet" in name)  # text keeps no order, no unused category


def test_what_a_file_cannot_hold_is_refused(tmp_path):
    data = rf.Dataset(np.array([[-1.0], [0.0]]), [0, 1], [1, 1], categories={"1": ("a",)})
    for name in ("a.csv", "a.parquet", "a.txt"):
        with pytest.raises(DataError, match="none"):
            data.write(tmp_path / name)
        assert not (tmp_path / name).exists()
    data = rf.Dataset(np.array([[0.0], [0.0]]), [0, 1], [1, 1], categories={"1": ("NA",)})
    with pytest.raises(DataError, match="would be"):
        data.write(tmp_path / "a.csv")
    data.write(tmp_path / "a.parquet")
    assert dict(rf.read(tmp_path / "a.parquet").categories) == {"1": ("NA",)}
    with pytest.raises(DataError, match="LETOR files hold numbers"):
        data.write(tmp_path / "a.txt")


def test_features_of_letor_text_are_declared_by_their_numbers(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("1 qid:1 1:30 2:0.5\n0 qid:1 1:7 2:1\n0 qid:2 1:30 2:2\n")
    data = rf.read(path, categorical=["1"])
    assert dict(data.categories) == {"1": (7, 30)}
    assert data.features[:, 0].tolist() == [1, 0, 1]
    assert rf.read(path, categorical=[1]).fingerprint == data.fingerprint
    data.write(tmp_path / "b.txt")
    assert rf.read(tmp_path / "b.txt", like=data).fingerprint == data.fingerprint
    path.write_text("1 qid:1 1:99 2:0.5\n0 qid:1 1:7 2:1\n")
    assert rf.read(path, like=data).features[:, 0].tolist() == [-1, 0]
    with pytest.raises(DataError, match=r"'2' is declared categorical, but holds 0\.5"):
        rf.read(path, categorical=["2"])
    with pytest.raises(DataError, match="no feature '9'"):
        rf.read(path, categorical=["9"])


def test_tables_are_read_where_pyarrow_is_not_installed(tmp_path):
    path = written(tmp_path, "csv")
    program = f"""
        import sys
        sys.modules["pyarrow"] = None
        import numpy as np
        import rankforce as rf
        data = rf.read({str(path)!r}, categorical=["shop"])
        assert dict(data.categories) == {CATEGORIES!r}, data.categories
        data.write({str(tmp_path / "again.csv")!r})
        assert rf.read({str(tmp_path / "again.csv")!r}).fingerprint == data.fingerprint
        print(repr(data.features.tolist()))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    found = np.array(eval(done.stdout, {"nan": np.nan}), dtype=np.float32)
    np.testing.assert_array_equal(found, EXPECTED)
