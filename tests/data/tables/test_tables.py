"""Parquet and CSV: everything comes back exactly; what is broken is named with its place."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankforce as rf
from rankforce import DataError, Dataset, FileFormatError, RankforceError
from rankforce.data.tables.columns import ColumnWarning
from rankforce.data.tables.table_files import read_table, write_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pa_csv = pytest.importorskip("pyarrow.csv")
pd = pytest.importorskip("pandas")

ENDINGS = ["parquet", "csv", "tsv", "csv.gz"]
CSV = "qid,label,label:clicks,document,weight:document,a,b\n1,2,0.5,x,1,0.25,3\n1,,,y,2,,4\n2,0,1,z,1,1e-3,5\n"


def assert_same(one: Dataset, other: Dataset) -> None:
    assert one.feature_names == other.feature_names
    assert list(one.labels) == list(other.labels)
    for name in ("features", "query_ids", "rows", "query_starts", "weights", "query_weights", "document_ids"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        if a is not None:
            assert a.dtype.kind == b.dtype.kind, name
            np.testing.assert_array_equal(a, b, err_msg=name)
            if a.dtype.kind == "f":
                assert (np.signbit(a) == np.signbit(b))[~np.isnan(a)].all(), name
    for name in one.labels:
        np.testing.assert_array_equal(one.labels[name], other.labels[name], err_msg=name)


def random_data(seed: int, rows: int = 50) -> Dataset:
    random = np.random.default_rng(seed)
    words = random.integers(0, 2**32, (rows, 5), dtype=np.uint64).astype(np.uint32)
    features = words.view(np.float32)  # any float32 there is, also tiny ones
    features[~np.isfinite(features)] = np.nan
    features[0, :3] = [-0.0, 1e-45, 3.4028235e38]
    clicks = random.random(rows)
    clicks[::3] = np.nan
    text = seed % 2
    qid = random.integers(0, 9, rows)
    queries = len(np.unique(qid))
    return Dataset(
        features,
        random.integers(0, 5, rows) if seed % 3 else random.standard_normal(rows) * 1e-300,
        [f'q "{one}", é\n' for one in qid] if text else qid,
        labels={"clicks": clicks, "dwell:time": random.integers(0, 3, rows)},
        weights=random.random(rows) if seed % 4 else None,
        query_weights=random.random(queries) if seed % 5 else None,
        feature_names=["bm25", "qid", "Label", " x,y ", 'feature:"z"\n'],
        document_ids=None if seed % 6 == 0 else random.integers(0, 2**60, rows) if text else [f"d{i}" for i in qid],
    )


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("seed", range(6))
def test_everything_comes_back(tmp_path, ending, seed):
    data = random_data(seed)
    write_table(data, tmp_path / f"data.{ending}")
    assert_same(data, read_table(tmp_path / f"data.{ending}"))
    assert [file.name for file in tmp_path.iterdir()] == [f"data.{ending}"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_plain_data_comes_back(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    for data in (
        Dataset(np.zeros((2, 1)), qid=[1, 1]),
        Dataset(np.empty((3, 0)), [1, 2, np.nan], [2, 1, 2]),
        Dataset(np.zeros((2, 2)), [1, 2], group=[1, 1]),
        Dataset(np.zeros((2, 1)), [1, 2], ["7", "8"], document_ids=["1", "2"]),
        Dataset(np.zeros((2, 1)), [1, 2], ["1.0", "2.0"], document_ids=["", " 5"]),
        Dataset(np.zeros((2, 1)), [1, 2], ["007", "NULL"], document_ids=["nan", "NA"]),
        Dataset(np.zeros((2, 1)), [1, 2], ["9" * 30, "8" * 30]),
        Dataset(np.zeros((2, 1)), [1, 2], [-(2**63), 2**63 - 1]),
        Dataset(np.full((2, 1), np.nan), [np.nan, np.nan], [1, 2], feature_names=[""]),
        Dataset(np.zeros((2, 1)), [1, 2], [1, 2], feature_names=["__index_level_0__"]),
        Dataset(np.zeros((2, 1)), qid=[1, 2], labels={"clicks": [0, 1]}),
    ):
        write_table(data, path)
        assert_same(data, read_table(path))


@pytest.mark.parametrize("ending", ENDINGS)
def test_several_batches_come_back(tmp_path, ending, monkeypatch):
    monkeypatch.setattr("rankforce.data.tables.arrow._ROWS_AT_A_TIME", 7)
    monkeypatch.setattr("rankforce.data.tables.parquet._ROWS_AT_A_TIME", 4)
    write_table(random_data(1), tmp_path / f"data.{ending}")
    assert_same(random_data(1), read_table(tmp_path / f"data.{ending}"))


def test_same_data_same_bytes(tmp_path):
    for ending in ENDINGS:
        files = [tmp_path / f"{name}.{ending}" for name in "ab"]
        for file in files:
            write_table(random_data(1), file)
        assert files[0].read_bytes() == files[1].read_bytes()


def write(tmp_path, text: str, name: str = "data.csv"):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def test_csv_as_people_write_it(tmp_path):
    data = read_table(write(tmp_path, CSV))
    assert data.feature_names == ("a", "b")
    assert data.query_ids.tolist() == [1, 2]
    np.testing.assert_array_equal(data.features, np.array([[0.25, 3], [np.nan, 4], [1e-3, 5]], dtype=np.float32))
    np.testing.assert_array_equal(data.labels["grades"], [2, np.nan, 0])
    np.testing.assert_array_equal(data.labels["clicks"], [0.5, np.nan, 1])
    assert data.document_ids.tolist() == ["x", "y", "z"]
    assert data.weights.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.rstrip("\n"),
        lambda text: "\ufeff" + text,
        lambda text: text + "\n\n",
        lambda text: text.replace("qid", "Query_ID").replace("label,", "Relevance,").replace(",document", ",DocID"),
        lambda text: text.replace("qid", '"qid"'),
        lambda text: text.replace("1,2,0.5", "1.0,2.0,+0.5"),
        lambda text: text.replace(",,,y", ",NaN,null,y").replace("2,,4", "2,NULL,4"),
        lambda text: text.replace("0.25", " 0.25"),
    ],
)
def test_csv_in_other_dress(tmp_path, change):
    assert_same(read_table(write(tmp_path, CSV)), read_table(write(tmp_path, change(CSV), "other.csv")))


def test_delimiters(tmp_path):
    plain = read_table(write(tmp_path, CSV))
    assert_same(plain, read_table(write(tmp_path, CSV.replace(",", "\t"), "data.tsv")))
    semicolons = write(tmp_path, CSV.replace(",", ";"), "other.csv")
    assert_same(plain, read_table(semicolons, delimiter=";"))
    with pytest.raises(FileFormatError, match="say delimiter=';'"):
        read_table(semicolons)
    with pytest.raises(DataError, match="delimiter"):
        read_table(semicolons, delimiter="::")


def test_options_name_columns(tmp_path):
    path = write(tmp_path, "session,rank,target,ctr,title,x\n5,1,2,0.5,Hello,7\n5,2,1,0.25,World,8\n")
    data = read_table(path, qid="session", label="target", labels={"clicks": "ctr"}, features=["x", "rank"])
    assert data.feature_names == ("x", "rank")
    assert data.features.tolist() == [[7, 1], [8, 2]]
    assert data.labels["clicks"].tolist() == [0.5, 0.25]
    listed = read_table(path, qid="session", labels=["ctr", "target"], ignore=["title"], document="rank")
    assert list(listed.labels) == ["ctr", "target"]
    assert listed.feature_names == ("x",)
    assert listed.document_ids.tolist() == [1, 2]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "role"), [("weight", "weight"), ("Weight", "weight"), ("query_weight", "query_weight")]
)
def test_a_column_called_weight_is_a_feature_until_it_is_asked_for(tmp_path, ending, column, role):
    path = tmp_path / f"products.{ending}"
    table = pa.table({"qid": [1, 1], "grade": [2, 0], column: [5.5, 5.5], "price": [9.0, 8.0]})
    (pa_csv.write_csv if ending == "csv" else pq.write_table)(table, path)
    hint = rf"{path.name}: the column '{column}' is taken as a feature; .*say {role}='{column}', .*{role}=False"
    with pytest.warns(ColumnWarning, match=hint) as told:
        data = rf.read(path)
    assert told[0].filename == __file__
    assert data.feature_names == (column, "price")
    assert data.weights is data.query_weights is None
    assert dict(data.origins) == {"queries": "column 'qid'", "label": "column 'grade'"}
    assert rf.read(path, **{role: False}).feature_names == (column, "price")
    asked = rf.read(path, **{role: column})
    assert asked.feature_names == ("price",)
    if role == "weight":
        assert asked.weights.tolist() == [5.5, 5.5]
    else:
        assert asked.query_weights.tolist() == [5.5]
    assert asked.origins[role.replace("_", " ") + "s"] == f"column '{column}'"


def test_what_was_taken_from_which_column_is_remembered(tmp_path):
    data = read_table(write(tmp_path, CSV))
    assert dict(data.origins) == {
        "queries": "column 'qid'",
        "label": "column 'label'",
        "label 'clicks'": "column 'label:clicks'",
        "documents": "column 'document'",
        "weights": "column 'weight:document'",
    }
    assert data.take_queries([0]).origins == pickle.loads(pickle.dumps(data)).origins == data.origins
    frame = pd.DataFrame({"qid": [1, 1], "y": [1, 0], "weight": [2.0, 3.0]})
    with pytest.warns(ColumnWarning, match="weights='weight', if it is a feature, weights=False"):
        data = rf.Dataset(frame, "y")
    assert data.weights is None
    assert dict(data.roles) == {"qid": "query", "y": "label"}
    assert dict(data.origins) == {"queries": "column 'qid'", "label": "column 'y'"}
    assert "queries: column 'qid'; label: column 'y'" in str(rf.inspect(data))


def test_a_role_can_be_refused(tmp_path):
    path = write(tmp_path, "qid,weight,relevance\n1,5.5,2\n")
    assert read_table(path, weight="weight").weights.tolist() == [5.5]
    data = read_table(path, weight=False, label=False)
    assert data.feature_names == ("weight", "relevance")
    assert data.weights is None
    assert read_table(path, features=["weight"]).weights is None


@pytest.mark.parametrize(
    ("header", "options", "message"),
    [
        ("a,b", {}, "no column says which query"),
        ("qid,query,a", {}, "several columns could be the qid: 'qid', 'query'"),
        ("qid,label,grade", {}, "several columns could be the label"),
        ("qid,a,a", {}, "two columns have the same name: 'a'"),
        ("qid,,a", {}, "a column has no name"),
        ("qid,a", {"label": "y"}, "no such column: 'y'"),
        ("qid,a", {"features": ["b"]}, "no such column: 'b'"),
        ("qid,a", {"ignore": ["b"]}, "no such column: 'b'"),
        ("qid,a", {"labels": {"clicks": "b"}}, "no such column: 'b'"),
        ("qid,a", {"label": "a", "features": ["a"]}, "two roles: 'a'"),
        ("qid,a", {"label": "qid"}, "no column says which query"),
        ("qid,a", {"qid": "a", "label": "a"}, "two roles: 'a'"),
        ("qid,a", {"features": "a"}, r"features=\['a'\]"),
        ("qid,a", {"ignore": "a"}, r"ignore=\['a'\]"),
        ("qid,a", {"labels": "a"}, "labels maps names"),
        ("qid,a", {"weight": True}, "weight= takes the name"),
        ("qid,label,label:grades", {}, "two columns are the main label"),
        ("qid,label:x,Label:x", {}, "the same label source"),
        ("qid,a,feature:a", {}, "two features are named 'a'"),
        ("qid, label,a", {}, "white space around it: ' label'\n.*write 'label'"),
        ("qid,label,\ta", {}, "white space around it: '.ta'"),
        ("qid ,label,a", {}, "white space around it: 'qid '"),
        ("qid, label,a", {"features": ["a"]}, "white space around it: ' label'"),
        ("qid, label:clicks,a", {"features": ["a"]}, "white space around it"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_that_cannot_be_told_apart(tmp_path, header, options, message, ending):
    names = header.split(",")
    path = tmp_path / f"data.{ending}"
    if ending == "csv":
        write(tmp_path, header + "\n" + ",".join("1" * len(names)) + "\n")
    else:
        pq.write_table(pa.Table.from_arrays([pa.array([1])] * len(names), names=names), path)
    with pytest.raises(DataError, match=message) as caught:
        read_table(path, **options)
    if "no column says" in message:
        assert repr(names[-1]) in str(caught.value)


def test_white_space_around_a_name_that_an_option_names_is_meant(tmp_path):
    path = write(tmp_path, "qid, label, a, b, c\n1,2,3,4,5\n")
    data = read_table(path, label=" label", features=[" a"], ignore=[" b"])
    assert data.labels["grades"].tolist() == [2.0]
    assert data.feature_names == (" a",)


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("line", [1, 2, 5000])
def test_text_that_is_not_utf_8_is_named_with_its_line(tmp_path, line, end, name):
    lines = [b"qid,label,a"] + [b"1,2,3"] * 6000
    lines[line - 1] += "é".encode("latin-1")
    content = end.encode().join(lines)
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(FileFormatError, match="not UTF-8") as caught:
        read_table(path)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "line", "column", "shown", "remedy"),
    [
        ("qid,a\n1,2\n1\n", 3, None, "1", "delimiter must be there"),
        ("qid,a\n1,2\n\n1,2,3\n", 4, None, "1,2,3", "delimiter must be there"),
        ("qid,a\n1,2\n1,x1\n", 3, 2, "x1", "ignore=\\['a'\\]"),
        ("qid,a\n1,0x10\n1,5", 2, 2, "0x10", "write a number"),
        ("qid,a\n1,1_000\n1,5", 2, 2, "1_000", "write a number"),
        ("qid,a\n1,5\n1,true\n", 3, 2, "true", "write a number"),
        ("qid,label,a\n1,good,2\n", 2, 2, "good", "write a number"),
        ('document,qid,a\n"x\ny",1,2\n"z",1,oops\n', 4, 3, "oops", "write a number"),
        ("qid,a\n1,2\n1,inf\n", 3, 2, "inf", "leave the cell empty"),
        ("qid,a\n1,1e39\n", 2, 2, None, "leave the cell empty"),
        ("qid,label,a\n1,1,2\n1,-inf,2\n", 3, 2, "-inf", "unlabelled"),
        ("qid,weight:document,a\n1,1,2\n1,-1,2\n", 3, 2, "-1", "not negative"),
        ("qid,weight:document,a\n1,1,2\n1,,2\n", 3, 2, "nan", "not negative"),
        ("qid,a\n1,2\n,3\n", 3, 1, "", "every row needs a query id"),
    ],
)
def test_broken_cells_are_named_with_their_place(tmp_path, text, line, column, shown, remedy):
    for name in ("data.csv", "data.csv.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        with pytest.raises(FileFormatError, match=remedy) as caught:
            read_table(path)
        assert (caught.value.line, caught.value.column) == (line, column)
        assert str(path) in str(caught.value)
        if shown is not None:
            assert caught.value.text == shown


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"qid,a\n", "no rows"),
        (b"qid,a\n1,\xff\n", "UTF-8"),
        (b"\xff\xfe", "UTF-8"),
        (b'qid,a\n1,"2\n', "quotation mark"),
        (b"qid,a\n1,2\n1,\x002\n", "not a"),
        (b"qid,a,weight:query\n1,2,1\n1,2,2\n", "differ within query"),
    ],
)
def test_broken_files(tmp_path, content, message):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        read_table(path)


def test_truncated_gzip(tmp_path):
    write_table(random_data(1, 500), tmp_path / "data.csv.gz")
    whole = (tmp_path / "data.csv.gz").read_bytes()
    for cut in (5, 100, len(whole) // 2, len(whole) - 4):
        (tmp_path / "cut.csv.gz").write_bytes(whole[:cut])
        with pytest.raises(FileFormatError, match=r"cut\.csv\.gz"):
            read_table(tmp_path / "cut.csv.gz")


def test_truncated_parquet(tmp_path):
    write_table(random_data(1), tmp_path / "data.parquet")
    whole = (tmp_path / "data.parquet").read_bytes()
    for cut in (0, 3, 100, len(whole) - 1):
        (tmp_path / "cut.parquet").write_bytes(whole[:cut])
        with pytest.raises(FileFormatError, match="cannot be read as Parquet"):
            read_table(tmp_path / "cut.parquet")


def test_files_that_are_not_there(tmp_path):
    for name in ("no.csv", "no.parquet"):
        with pytest.raises(FileFormatError, match="no such file"):
            read_table(tmp_path / name)
        with pytest.raises(DataError, match="cannot be written"):
            write_table(random_data(1), tmp_path / "no folder" / name)
    for name in ("folder.csv", "folder.parquet"):
        (tmp_path / name).mkdir()
        with pytest.raises(FileFormatError):
            read_table(tmp_path / name)
        with pytest.raises(DataError, match="cannot be written"):
            write_table(random_data(1), tmp_path / name)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"qid": [1, None], "a": [1.0, 2.0]}, "'qid', row 2: the query id is missing"),
        ({"qid": ["x", None], "a": [1.0, 2.0]}, "'qid', row 2: the query id is missing"),
        ({"qid": ["x", ""], "a": [1.0, 2.0]}, "'qid', row 2: the query id is missing"),
        ({"qid": [1, 1], "document": ["d", None]}, "'document', row 2: the document id is missing"),
        ({"qid": [1, 1], "a": [1.0, np.inf]}, "'a', row 2: an infinite feature"),
        ({"qid": [1, 1], "a": [1.0, 1e39]}, "'a', row 2: an infinite feature"),
        ({"qid": [1, 1], "label": [1.0, np.inf]}, "'label', row 2: impossible label"),
        ({"qid": [1, 1], "weight:document": [1.0, -2.0]}, "'weight:document', row 2: impossible weight"),
        ({"qid": [1, 1], "weight:document": [1.0, None]}, "'weight:document', row 2: impossible weight"),
        ({"qid": [1, 1], "a": ["1", "2"]}, "'a' \\(numbers as text"),
        ({"qid": [1, 1], "label": [[1], [2]]}, "'label' is taken as label but holds list"),
        ({"qid": [1.5, 1.0], "a": [1, 2]}, "whole numbers or text"),
        ({"qid": [[1], [2]], "a": [1, 2]}, "qid must hold|whole numbers or text"),
        ({"qid": pa.array([], pa.int64()), "a": pa.array([], pa.float32())}, "no rows"),
    ],
)
def test_broken_parquet(tmp_path, columns, message):
    pq.write_table(pa.table(columns), tmp_path / "data.parquet")
    with pytest.raises(FileFormatError, match=message):
        read_table(tmp_path / "data.parquet")


def test_parquet_with_other_types(tmp_path):
    columns = {
        "query": pa.array(["x", "x", "y"]).dictionary_encode(),
        "grade": pa.array([1, None, 3], pa.int8()),
        "docid": pa.array([2**60 + 1, 2, 3], pa.uint64()),
        "small": pa.array([1, None, 3], pa.uint8()),
        "flag": pa.array([True, None, False]),
        "price": pa.array([1, 2, None], pa.int64()).cast(pa.decimal128(30, 2)),
        "half": pa.array(np.array([1, 2, 3], dtype=np.float16)),
        "nothing": pa.nulls(3),
        "__index_level_0__": pa.array(["i", "j", "k"]),
    }
    pq.write_table(pa.table(columns), tmp_path / "data.parquet")
    data = read_table(tmp_path / "data.parquet")
    nan = np.nan
    assert data.feature_names == ("small", "flag", "price", "half", "nothing")
    np.testing.assert_array_equal(data.features, [[1, 1, 1, 1, nan], [nan, nan, 2, 2, nan], [3, 0, nan, 3, nan]])
    np.testing.assert_array_equal(data.labels["grades"], [1, nan, 3])
    assert data.document_ids.tolist() == [2**60 + 1, 2, 3]
    assert data.query_ids.tolist() == ["x", "y"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_failed_write_leaves_the_old_file(tmp_path, ending, monkeypatch):
    path = tmp_path / f"data.{ending}"
    write_table(random_data(1), path)
    before = path.read_bytes()

    def fail(*_):
        yield from ()
        raise RuntimeError("full")

    for module in ("parquet", "table_files"):
        monkeypatch.setattr(f"rankforce.data.tables.{module}.record_batches", fail)
    with pytest.raises(RuntimeError, match="full"):
        write_table(random_data(2), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=3), st.integers(0, 4)), min_size=1, max_size=4))
def test_mutated_csv_is_read_or_refused(tmp_path, edits):
    content = CSV.encode()
    for place, inserted, removed in edits:
        content = content[:place] + inserted + content[place + removed :]
    path = tmp_path / "mutated.csv"
    path.write_bytes(content)
    try:
        data = read_table(path)
    except RankforceError:
        return  # any other exception fails the test
    assert not np.isinf(data.features).any()


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.lists(st.tuples(st.integers(0, 5000), st.binary(max_size=3), st.integers(0, 4)), min_size=1, max_size=4)
)
def test_mutated_parquet_is_read_or_refused(tmp_path, edits):
    original = tmp_path / "original.parquet"
    if not original.exists():
        write_table(random_data(1, 10), original)
    content = original.read_bytes()
    for place, inserted, removed in edits:
        content = content[: place % len(content)] + inserted + content[place % len(content) + removed :]
    path = tmp_path / "mutated.parquet"
    path.write_bytes(content)
    try:
        data = read_table(path)
    except RankforceError:
        return  # any other exception fails the test
    assert len(data) == len(data.qid) > 0
