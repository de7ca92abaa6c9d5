"""Raw columns as codes of categories, whatever library they come from."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rankforce import DataError
from rankforce.data.category_codes import encoded_matrix, recoded_matrix
from rankforce.data.factorising import as_codes, factorised, found_categories

TEXTS = ["red", None, "blue", "red", "", "green"]
AS = {
    "list": list,
    "object array": lambda values: np.array(values, dtype=object),
    "pandas objects": lambda values: pd.Series(values, dtype=object),
    "pandas text": lambda values: pd.Series(values, dtype="string"),
    "pandas category": lambda values: pd.Series([one or None for one in values], dtype="category"),
    "polars": lambda values: pl.Series(values, dtype=pl.String),
    "polars category": lambda values: pl.Series(values, dtype=pl.Categorical),
    "polars enum": lambda values: pl.Series([one or None for one in values], dtype=pl.Enum(["blue", "green", "red"])),
    "arrow": lambda values: pa.array(values),
    "arrow chunks": lambda values: pa.chunked_array([pa.array(values[:2]), pa.array(values[2:])]),
    "arrow dictionary": lambda values: pa.array(values).dictionary_encode(),
    "arrow dictionary chunks": lambda values: pa.chunked_array(
        [pa.array(values[:3]).dictionary_encode(), pa.array(values[3:]).dictionary_encode()]
    ),
}


def found(values):
    return found_categories(factorised(values))


@pytest.mark.parametrize("form", AS)
def test_every_library_gives_the_same_codes(form):
    column = AS[form](TEXTS)
    assert found(column) == ("blue", "green", "red")
    np.testing.assert_array_equal(as_codes(column, ("blue", "green", "red"), "x"), [2, np.nan, 0, 2, np.nan, 1])
    np.testing.assert_array_equal(as_codes(column, ("green", "red"), "x"), [1, np.nan, -1, 1, np.nan, 0])


def test_codes_equal_a_dictionary_for_any_order_of_rows():
    random = np.random.default_rng(3)
    for _ in range(20):
        pool = [f"c{one}" for one in random.integers(0, 30, size=random.integers(1, 12))]
        column = [None if random.random() < 0.1 else str(one) for one in random.choice(pool, 50)]
        listed = tuple(sorted({one for one in column if one is not None}))
        table = {one: float(code) for code, one in enumerate(listed)}
        assert found(column) == found(column[::-1]) == listed
        expected = [np.nan if one is None else table[one] for one in column]
        codes = as_codes(column, listed, "x")
        assert codes.dtype == np.float32
        np.testing.assert_array_equal(codes, expected)


def test_the_order_of_a_categorical_type_is_kept_with_categories_that_do_not_occur():
    sizes = pd.Series(["M", "S"], dtype=pd.CategoricalDtype(["S", "M", "L"]))
    assert found(sizes) == ("S", "M", "L")
    assert found(pl.Series(["M", "S"], dtype=pl.Enum(["S", "M", "L"]))) == ("S", "M", "L")


@pytest.mark.parametrize(
    ("column", "listed", "codes"),
    [
        ([30, 7, 7], (7, 30), [1, 0, 0]),
        (["30", "7", "9"], (7, 9, 30), [2, 0, 1]),
        (np.array([30.0, np.nan, 7.0]), (7, 30), [1, np.nan, 0]),
        (pd.Series([30, None, 7], dtype="Int64"), (7, 30), [1, np.nan, 0]),
        ([decimal.Decimal("30.0"), 7, 7.0], (7, 30), [1, 0, 0]),
        (np.array(["30", "seven", 7], dtype=object), (7, "30", "seven"), [1, 2, 0]),
        (["007", "7", "8"], ("007", "7", "8"), [0, 1, 2]),
        ([2.5, 1.0, 2.5], (1, "2.5"), [1, 0, 1]),
        ([True, False, None], ("False", "True"), [1, 0, np.nan]),
        ([datetime.date(2024, 1, 2), datetime.date(2023, 1, 2)], ("2023-01-02", "2024-01-02"), [1, 0]),
        ([b"x", b"", b"y"], ("x", "y"), [0, np.nan, 1]),
        (pd.Series(pd.cut([1, 5, 9], [0, 4, 10])), ("(0, 4]", "(4, 10]"), [0, 1, 1]),
    ],
)
def test_numbers_dates_and_texts_as_categories(column, listed, codes):
    assert found(column) == listed
    np.testing.assert_array_equal(as_codes(column, listed, "x"), codes)


def test_what_is_written_alike_is_one_category():
    column = np.array([1, "1", 1.0, True, "1.0"], dtype=object)
    assert found(column) == (1, "1.0", "True")
    np.testing.assert_array_equal(as_codes(["7.0", "7", 7, "x"], (7, 8), "x"), [0, 0, 0, -1])
    np.testing.assert_array_equal(as_codes([7, 8], ("7", "x"), "x"), [0, -1])


@pytest.mark.parametrize(
    "column",
    [
        [[1], [2]],
        [{"a": 1}, None],
        [object(), 1],
        [b"\xff"],
        pa.array([[1], [2]]),
        np.zeros((2, 2)),
        [1j, 2],
    ],
)
def test_what_cannot_be_a_category_is_refused_with_the_column(column):
    with pytest.raises(DataError, match="column 'x'"):
        as_codes(column, ("a",), "column 'x'")


def test_frames_and_arrays_of_objects_become_matrices_with_codes():
    names, categories = ["colour", "price"], {"colour": ("blue", "red")}
    rows = [["red", 1.5], ["pink", None], [None, 2]]
    expected = [[1, 1.5], [-1, np.nan], [np.nan, 2]]
    frame = pd.DataFrame(rows, columns=names)
    for X in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), np.array(rows, dtype=object)):
        matrix = encoded_matrix(X, names, categories)
        assert matrix.dtype == np.float32
        np.testing.assert_array_equal(matrix, np.array(expected, dtype=np.float32))
    with pytest.raises(DataError, match="'price'"):
        encoded_matrix(pd.DataFrame([["red", "dear"]], columns=names), names, categories)
    with pytest.raises(DataError, match="shape"):
        encoded_matrix(np.array([["red"]], dtype=object), names, categories)


def recoded(matrix, own, wanted):
    names = [str(place) for place in range(len(own))]
    return recoded_matrix(np.float32(matrix), own, wanted, names, what="the data", of="the model")


def test_codes_of_one_list_become_codes_of_another():
    matrix = [[0, 0.5], [1, 0.25], [2, 7], [-1, 1], [np.nan, 1]]
    result = recoded(matrix, [("a", "b", "c"), ()], [("c", "a"), ()])
    np.testing.assert_array_equal(result, np.float32([[1, 0.5], [-1, 0.25], [0, 7], [-1, 1], [np.nan, 1]]))
    same = np.float32([[0.0]])
    assert recoded_matrix(same, [("a",)], [("a",)], ["x"], what="", of="") is same


def test_numbers_are_not_taken_for_codes_nor_codes_for_numbers():
    with pytest.raises(DataError, match="numbers in the data and categories in the model"):
        recoded([[1.0]], [()], [("a", "b")])
    with pytest.raises(DataError, match="categories in the data and numbers in the model"):
        recoded([[0.0]], [("a",)], [()])
    assert np.isnan(recoded([[np.nan]], [()], [("a", "b")])).all()
