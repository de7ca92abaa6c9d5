"""What people have: every kind of table gives the same data set as the NumPy arrays it holds."""

from __future__ import annotations

import pickle
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp

import rankforce as rf
from rankforce import DataError, Dataset

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pa_csv = pytest.importorskip("pyarrow.csv")
pq = pytest.importorskip("pyarrow.parquet")

COLUMNS = {
    "a": [1.5, float("nan"), 3.0, 4.0],
    "b": [1, 2, 3, 4],
    "flag": [True, False, True, True],
    "query": ["x", "y", "x", "y"],
    "grade": [0, 1, 2, 0],
    "click": [0.5, None, 0.0, 1.0],
    "doc": ["d1", "d2", "d3", "d4"],
    "w": [1.0, 2.0, 3.0, 4.0],
    "qw": [2.0, 3.0, 2.0, 3.0],
}
MATRIX = np.array([[1.5, 1, 1], [np.nan, 2, 0], [3, 3, 1], [4, 4, 1]], dtype=np.float32)
ROLES = {"qid": "query", "y": "grade", "labels": {"clicks": "click"}, "document_ids": "doc"}
ROLES |= {"weights": "w", "query_weights": "qw"}


def arrow_chunks():
    table = pa.table(COLUMNS)
    return pa.concat_tables([table.slice(0, 1), table.slice(1, 3)])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pd.DataFrame(COLUMNS, index=[7, 7, 8, 9]),
        pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
        pd.DataFrame(COLUMNS).astype({"query": "category", "doc": "category"}),
        pd.DataFrame(COLUMNS).astype({"b": pd.SparseDtype("int64", 0)}),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).with_columns(pl.col("query").cast(pl.Categorical)),
        pa.table(COLUMNS),
        pa.record_batch(COLUMNS),
        arrow_chunks(),
        pa.table(COLUMNS | {"query": pa.array(COLUMNS["query"]).dictionary_encode()}),
    ],
    ids=lambda frame: type(frame).__module__ + "." + type(frame).__name__,
)
def test_every_kind_of_frame_with_named_columns(frame):
    data = Dataset(frame, **ROLES)
    np.testing.assert_array_equal(data.features, MATRIX)
    assert data.feature_names == ("a", "b", "flag")
    assert data.features.dtype == np.float32
    assert data.features.flags.c_contiguous
    assert data.query_ids.tolist() == ["x", "y"]
    assert data.qid.tolist() == COLUMNS["query"]
    np.testing.assert_array_equal(data.labels["grades"], [0, 1, 2, 0])
    np.testing.assert_array_equal(data.labels["clicks"], [0.5, np.nan, 0, 1])
    assert data.document_ids.tolist() == COLUMNS["doc"]
    assert data.weights.tolist() == [1, 2, 3, 4]
    assert data.query_weights.tolist() == [2, 3]


@pytest.mark.parametrize(
    "vector",
    [
        [1, None, 3],
        np.ma.masked_array([1, 9, 3], mask=[0, 1, 0]),
        np.array([1, None, 3], dtype=object),
        np.array([Decimal(1), None, 3.0], dtype=object),
        pd.Series([1, None, 3]),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype="Float32"),
        pd.Series([1, None, 3], dtype="int64[pyarrow]"),
        pd.array([1, None, 3], dtype="Int64"),
        pl.Series([1, None, 3]),
        pl.Series([Decimal("1"), None, Decimal("3")]),
        pa.array([1, None, 3]),
        pa.chunked_array([[1], [None, 3]]),
        pa.array([Decimal("1"), None, Decimal("3")]),
    ],
    ids=lambda vector: f"{type(vector).__module__}.{type(vector).__name__}",
)
def test_every_kind_of_column_with_a_missing_number(vector):
    data = Dataset(np.zeros((3, 1)), vector, [1, 1, 1])
    np.testing.assert_array_equal(data.labels["grades"], [1, np.nan, 3])


@pytest.mark.parametrize(
    "qid",
    [
        pd.Series([5, 5, None], dtype="Int64"),
        pd.Series(["a", "a", None]),
        pd.Series(["a", "a", pd.NA], dtype="string"),
        pl.Series([5, 5, None]),
        pl.Series(["a", "a", None]),
        pa.array([5, 5, None]),
        pa.chunked_array([["a", "a"], [None]]),
        np.ma.masked_array([5, 5, 5], mask=[0, 0, 1]),
        np.array([5, 5, pd.NaT], dtype=object),
    ],
    ids=lambda qid: f"{type(qid).__module__}.{type(qid).__name__}",
)
def test_a_missing_query_id_is_an_error(qid):
    with pytest.raises(DataError, match=r"row 2 .*missing|whole numbers or text"):
        Dataset(np.zeros((3, 1)), qid=qid)


def test_large_ids_are_not_rounded():
    large = [2**53 + 1, 2**53 + 2, 2**53 + 1]
    for qid in (pd.Series(large, dtype="Int64"), pl.Series(large), pa.array(large)):
        assert Dataset(np.zeros((3, 1)), qid=qid).query_ids.tolist() == large[:2]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"c": pd.Categorical(["u", "v"]), "q": [1, 1]}),
        pd.DataFrame({"c": pd.Categorical([1, 2]), "q": [1, 1]}),
        pl.DataFrame({"c": pl.Series(["u", "v"], dtype=pl.Categorical), "q": [1, 1]}),
        pl.DataFrame({"c": pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"])), "q": [1, 1]}),
        pa.table({"c": pa.array([1, 2]).dictionary_encode(), "q": [1, 1]}),
    ],
)
def test_categorical_types_are_categories(frame):
    data = Dataset(frame, qid="q")
    assert data.n_categories.tolist() == [2]
    assert data.features.tolist() == [[0], [1]]
    assert dict(data.roles) == {"q": "query", "c": "category"}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"c": ["1", "2"], "q": [1, 1]}),
        pd.DataFrame({"c": [1, "x"], "q": [1, 1]}),
        pl.DataFrame({"c": ["u", "v"], "q": [1, 1]}),
        pl.DataFrame({"c": [[1], [2]], "q": [1, 1]}),
        pa.table({"c": ["u", None], "q": [1, 1]}),
        pa.table({"c": [[1], [2]], "q": [1, 1]}),
    ],
)
def test_other_columns_are_no_features_either(frame):
    with pytest.raises(DataError, match=r"1 column is no feature: 'c' (?s:.*)leave it out: ignore=\['c'\]"):
        Dataset(frame, qid="q")
    assert Dataset(frame, qid="q", ignore=["c"]).n_features == 0


def test_columns_of_nulls_are_missing():
    for frame in (
        pd.DataFrame({"c": [None, None], "q": [1, 1]}),
        pl.DataFrame({"c": [None, None], "q": [1, 1]}),
        pa.table({"c": [None, None], "q": [1, 1]}),
    ):
        assert np.isnan(Dataset(frame, qid="q").features).all()


def test_truth_values_with_nulls():
    for frame in (
        pd.DataFrame({"c": pd.array([True, None], dtype="boolean"), "q": [1, 1]}),
        pl.DataFrame({"c": [True, None], "q": [1, 1]}),
        pa.table({"c": [True, None], "q": [1, 1]}),
    ):
        np.testing.assert_array_equal(Dataset(frame, qid="q").features, [[1], [np.nan]])


def test_columns_that_are_not_there_or_twice():
    frame = pd.DataFrame({"a": [1.0], "q": [1]})
    with pytest.raises(DataError, match=r"y='grade': there is no such column .*a, q"):
        Dataset(frame, "grade", "q")
    with pytest.raises(DataError, match=r"labels\['clicks'\]='c': there is no such column"):
        Dataset(frame, qid="q", labels={"clicks": "c"})
    with pytest.raises(DataError, match="no named columns"):
        Dataset(np.zeros((1, 2)), qid="q")
    for roles in ({"y": "q"}, {"labels": {"clicks": "q"}}, {"query_weights": "q"}):
        with pytest.raises(DataError, match=r"column 'q' is given 2 roles, .*qid"):
            Dataset(frame, qid="q", **roles)
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "q"])
    with pytest.raises(DataError, match="two columns have the same name: 'a'"):
        Dataset(twice, qid="q")
    with pytest.raises(DataError, match="2 columns have this name"):
        Dataset(twice, qid="a")


def test_columns_with_whole_numbers_as_names():
    data = Dataset(pd.DataFrame([[1, 2, 3]], columns=[0, 1, 2]), qid="2", y="0")
    assert data.feature_names == ("1",)
    assert data.features.tolist() == [[2]]


def test_a_lazy_frame_is_told_to_collect():
    with pytest.raises(DataError, match="collect"):
        Dataset(pl.DataFrame(COLUMNS).lazy(), qid="query")


@pytest.mark.parametrize(
    "make", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.csc_array, sp.coo_array]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
def test_sparse(make, dtype):
    dense = np.array([[0, 2, 0], [1, 0, 0]], dtype=dtype)
    data = Dataset(make(dense), [1, 0], [1, 1])
    np.testing.assert_array_equal(data.features, dense.astype(np.float32))
    assert data.features.flags.c_contiguous


def test_sparse_duplicates_add_up_and_nan_is_missing():
    both = sp.coo_matrix(([1.0, 2.0, np.nan], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    np.testing.assert_array_equal(Dataset(both, qid=[1, 1]).features, [[0, 3], [np.nan, 0]])


@pytest.mark.parametrize("dtype", [np.float64, np.int16, np.uint64, bool, object])
def test_arrays_of_any_number_type_and_layout(dtype):
    matrix = np.arange(6).reshape(2, 3).astype(dtype)
    for given in (matrix, np.asfortranarray(matrix), matrix.tolist(), np.ma.masked_array(matrix)):
        np.testing.assert_array_equal(Dataset(given, qid=[1, 1]).features, matrix.astype(np.float32))


def test_masked_entries_of_a_matrix_are_missing():
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    np.testing.assert_array_equal(Dataset(masked, qid=[1, 1]).features, [[1, np.nan], [3, 4]])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([1.0, 2.0], "two dimensions"),
        (5.0, "two dimensions"),
        (np.zeros((2, 2, 2)), "two dimensions"),
        ([[1, 2], [3]], "matrix of numbers"),
        ([["1", "2"], ["3", "4"]], "matrix of numbers"),
        (np.array([["1", 2], [3, 4]], dtype=object), "matrix of numbers"),
        (np.ones((2, 2), dtype=complex), "matrix of numbers"),
        (sp.csr_matrix(np.ones((2, 2), dtype=complex)), "matrix of numbers"),
        (np.array([[10**400, 1], [1, 1]], dtype=object), "matrix of numbers"),
        ([[1, 2], [3, np.inf]], "number 1 .* row 1 .* infinite"),
        ([[1, -np.inf], [np.nan, 1]], "number 1 .* row 0 .* infinite"),
        ([[1, 2], [1e39, np.nan]], "number 0 .* row 1 .* 3.4e38"),
        (sp.csr_matrix([[1, 2], [1e39, 3]]), "number 0 .* row 1"),
        (pd.DataFrame({"a": [1, 2], "b": [1, np.inf]}), "feature 'b' of row 1"),
        (None, "two dimensions|matrix of numbers"),
    ],
)
def test_impossible_matrices(matrix, message):
    with pytest.raises(DataError, match=message):
        Dataset(matrix, qid=[1, 1])


def test_the_first_infinity_is_found_far_down():
    matrix = np.zeros((10_000, 3), dtype=np.float32)
    matrix[9_000, 2] = -np.inf
    matrix[9_500, 0] = np.inf
    with pytest.raises(DataError, match=r"number 2 .* row 9000"):
        Dataset(matrix, qid=np.zeros(10_000, dtype=int))


def test_blocks_of_rows_are_stacked_right():
    columns = {name: np.random.default_rng(place).random(9001) for place, name in enumerate("abc")}
    data = Dataset(pd.DataFrame(columns), qid=np.zeros(9001, dtype=int))
    np.testing.assert_array_equal(data.features, np.column_stack(list(columns.values())).astype(np.float32))


def test_to_pandas_and_back():
    data = Dataset(pd.DataFrame(COLUMNS), **ROLES)
    frame = data.to_pandas()
    assert list(frame) == ["qid", "document", "grades", "clicks", "weight", "query_weight", "a", "b", "flag"]
    again = Dataset(
        frame,
        "grades",
        "qid",
        labels={"clicks": "clicks"},
        weights="weight",
        query_weights="query_weight",
        document_ids="document",
    )
    assert again.fingerprint == data.fingerprint


def test_to_pandas_loses_nothing_silently():
    data = Dataset(np.zeros((1, 1)), [1], [1], feature_names=["qid"])
    with pytest.raises(DataError, match=r"two columns .* 'qid'"):
        data.to_pandas()


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars", "numpy", "read-only"])
def test_a_data_set_does_not_change_with_the_frame_it_was_made_of(library):
    """Labels and weights are copies, also of memory that looks as if nobody could write to it."""
    columns = {name: np.arange(1.0, 5.0) for name in ("x", "y", "clicks", "w", "qw")}
    qid, documents = np.repeat([7, 8], 2), np.arange(4)
    columns |= {"qw": np.repeat([1.0, 2.0], 2), "qid": qid, "document": documents}
    memory = list(columns.values())
    roles = {"labels": {"clicks": "clicks"}, "weights": "w", "query_weights": "qw", "document_ids": "document"}
    if library == "pandas":
        frame = pd.DataFrame(columns, copy=False)
        data = Dataset(frame, "y", **roles)
        memory += [frame[name].to_numpy(copy=False) for name in columns]
    elif library == "pyarrow":
        data = Dataset(pa.table({name: pa.array(values) for name, values in columns.items()}), "y", **roles)
    elif library == "polars":
        data = Dataset(pl.DataFrame({name: pl.Series(values) for name, values in columns.items()}), "y", **roles)
    else:
        given = {name: values.view() for name, values in columns.items()}
        for values in given.values():
            values.setflags(write=library == "numpy")
        data = Dataset(
            given["x"][:, None],
            given["y"],
            given["qid"],
            labels={"clicks": given["clicks"]},
            weights=given["w"],
            query_weights=given["qw"],
            document_ids=given["document"],
        )
    before = pickle.dumps(data)
    kept = [data.features, *data.labels.values(), data.weights, data.query_weights, data.query_ids, data.document_ids]
    for array in memory:
        assert not any(np.shares_memory(array, part) for part in kept)
        if array.flags.writeable:
            array[:] = 77
    assert pickle.dumps(data) == before


@pytest.mark.parametrize(("dtype", "bits"), [(np.float16, 11), (np.float32, 24), (np.float64, 53)])
@pytest.mark.parametrize("role", ["qid", "document_ids"])
def test_float_ids_that_stand_for_several_numbers_are_refused(dtype, bits, role):
    largest = 2**bits - 1
    roles = {"qid": [1, 1]} | {role: np.array([largest, 3], dtype=dtype)}
    data = Dataset(np.zeros((2, 1)), [1, 0], **roles)
    assert (data.query_ids if role == "qid" else data.document_ids)[0] == largest
    with pytest.raises(DataError, match=rf"{role} of row 0 .* beyond 2\^{bits} one such number stands for several"):
        Dataset(np.zeros((2, 1)), [1, 0], **(roles | {role: np.array([2**bits + 1, 3]).astype(dtype)}))
    if dtype is not np.float64:
        with pytest.raises(DataError, match="whole numbers or text"):
            Dataset(np.zeros((2, 1)), [1, 0], **(roles | {role: [dtype(2**bits), "text"]}))


@pytest.mark.parametrize("ids", [["a\0b", "a"], ["a", "a\0"], [b"a\0", b"b"], np.array(["a\0b", "a"])])
def test_ids_with_a_nul_character_are_refused(ids, tmp_path):
    for role in ("qid", "document_ids"):
        with pytest.raises(DataError, match=f"{role} of row . .* NUL character"):
            Dataset(np.zeros((2, 1)), [1, 0], **({"qid": [1, 1]} | {role: ids}))
    for ending in ("csv", "parquet"):
        path = tmp_path / f"ids.{ending}"
        table = pa.table({"qid": ["a\0b", "a\0c"], "label": [1, 0], "x": [1.0, 2.0]})
        (pa_csv.write_csv if ending == "csv" else pq.write_table)(table, path)
        with pytest.raises(DataError, match="NUL character"):
            rf.read(path)


def test_very_long_ids_are_refused_and_the_limit_can_be_set(monkeypatch):
    with pytest.raises(DataError, match=r"qid of row 1 .* has 2,000,000 characters; .*RANKFORCE_LONGEST_ID"):
        Dataset(np.zeros((2, 1)), [1, 0], ["a", "b" * 2_000_000])
    monkeypatch.setenv("RANKFORCE_LONGEST_ID", "3000000")
    assert Dataset(np.zeros((2, 1)), [1, 0], ["a", "b" * 2_000_000]).n_queries == 2
    monkeypatch.setenv("RANKFORCE_LONGEST_ID", "many")
    with pytest.raises(rf.SettingsError, match="positive whole number, not 'many'"):
        Dataset(np.zeros((2, 1)), [1, 0], ["a", "b"])
