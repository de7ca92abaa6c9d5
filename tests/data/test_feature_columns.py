"""What columns are as features: truth values, dates, categories, and what is no feature at all."""

from __future__ import annotations

import datetime
import decimal
import fractions
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankforce as rf
from rankforce import DataError, Dataset
from rankforce.data.feature_columns import AS_DATE, AS_TRUTH, FeatureColumn, Unusable, feature_column
from rankforce.data.feature_options import UnusableColumnsError

MOMENTS = [
    datetime.datetime(2024, 1, 31, 12, 30, tzinfo=datetime.UTC),
    None,
    datetime.datetime(1969, 12, 31, 18, tzinfo=datetime.timezone(datetime.timedelta(hours=-6))),
]
DAYS = [19753 + 12.5 / 24, np.nan, 0.0]
NAIVE = [None if one is None else one.astimezone(datetime.UTC).replace(tzinfo=None) for one in MOMENTS]
ZONED = pd.Series(pd.to_datetime(MOMENTS, utc=True))
DATES = {
    "objects": np.array(MOMENTS, dtype=object),
    "datetime64[s]": np.array(NAIVE, dtype="M8[s]"),
    "datetime64[ns]": np.array(NAIVE, dtype="M8[ns]"),
    "pandas": pd.Series(NAIVE),
    "pandas UTC": ZONED,
    "pandas zone": ZONED.dt.tz_convert("Asia/Tokyo"),
    "pandas objects": pd.Series(MOMENTS, dtype=object),
    "pandas arrow": ZONED.astype("timestamp[us, tz=UTC][pyarrow]"),
    "polars": pl.Series(NAIVE),
    "polars ms": pl.Series(NAIVE, dtype=pl.Datetime("ms")),
    "polars zone": pl.Series(NAIVE).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"),
    "arrow": pa.array(NAIVE, type=pa.timestamp("ms")),
    "arrow zone": pa.array(MOMENTS, type=pa.timestamp("ns", tz="America/Lima")),
    "arrow chunks": pa.chunked_array([pa.array(NAIVE[:1], pa.timestamp("s")), pa.array(NAIVE[1:], pa.timestamp("s"))]),
    "text": ["2024-01-31T12:30:00Z", None, "1970-01-01"],
    "text with zones": ["2024-01-31 13:30+01:00", "", "1969-12-31T18:00:00.000-06:00"],
    "text of PostgreSQL": ["2024-01-31 12:30:00+00", None, "1970-01-01 00:00:00 UTC"],
}


@pytest.mark.parametrize("form", DATES)
def test_dates_are_days_since_1970(form):
    found = feature_column(DATES[form])
    assert isinstance(found, FeatureColumn), found
    assert found.role == AS_DATE
    np.testing.assert_allclose(found.values, DAYS, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([datetime.date(2024, 1, 31), None], dtype=object),
        pl.Series([datetime.date(2024, 1, 31), None]),
        pa.array([datetime.date(2024, 1, 31), None]),
        pa.array([datetime.date(2024, 1, 31), None], type=pa.date64()),
        pd.Series([datetime.date(2024, 1, 31), None], dtype="date32[pyarrow]"),
        ["2024-01-31", None],
        # spans of time, in days
        np.array([19753 * 24, "NaT"], dtype="m8[h]"),
        pd.Series([pd.Timedelta(days=19753), None]),
        pl.Series([datetime.timedelta(days=19753), None]),
        pa.array([datetime.timedelta(days=19753), None], type=pa.duration("s")),
    ],
)
def test_days_without_a_time_and_spans(column):
    found = feature_column(column)
    assert isinstance(found, FeatureColumn), found
    np.testing.assert_array_equal(found.values, [19753, np.nan])


def test_float32_tells_dates_of_this_century_apart_to_three_minutes():
    frame = pd.DataFrame({"qid": [1, 1], "added": ["2024-01-31T12:30:00", "2024-01-31T12:33:00"]})
    first, second = Dataset(frame).features[:, 0].tolist()
    assert 0 < second - first <= 2 * 2**-9
    assert abs(first - DAYS[0]) <= 2**-10


@pytest.mark.parametrize(
    "column",
    [
        [True, False, None],
        pd.Series([True, False, None], dtype="boolean"),
        pl.Series([True, False, None]),
        pa.array([True, False, None]),
        ["true", "false", None],
        ["TRUE", "False", ""],
    ],
)
def test_truth_values_are_1_and_0(column):
    found = feature_column(column)
    assert isinstance(found, FeatureColumn), found
    np.testing.assert_array_equal(found.values.astype(float), [1, 0, np.nan])
    assert found.role == AS_TRUTH


@pytest.mark.parametrize(
    "column",
    [
        [1, None, 2.5],
        [decimal.Decimal("1"), None, decimal.Decimal("2.5")],
        [fractions.Fraction(1), None, 2.5],
        pd.Series([1, None, 2.5], dtype="Float64"),
        pl.Series(["1", None, "2.5"]).cast(pl.Decimal(10, 2)),
        pa.array([decimal.Decimal("1.0"), None, decimal.Decimal("2.5")]),
    ],
)
def test_numbers_are_numbers(column):
    found = feature_column(column)
    assert isinstance(found, FeatureColumn), found
    np.testing.assert_array_equal(found.values, [1, np.nan, 2.5])
    assert not found.categories


@pytest.mark.parametrize("kind", [pl.Int128, pl.Int64, pl.UInt8])
def test_whole_numbers_of_polars_are_numbers(kind):
    """Also of 128 bits, which NumPy does not have, and polars makes of sums."""
    column = pl.Series([3, None, 7], dtype=kind)
    np.testing.assert_array_equal(feature_column(column).values, [3, np.nan, 7])
    np.testing.assert_array_equal(
        rf.Dataset(np.zeros((2, 1)), [0, 1], qid=pl.Series([5, 5], dtype=kind)).query_ids, [5]
    )


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (pl.Series([10**30, 1], dtype=pl.Int128), "polars type Int128 cannot be read"),
        ([f"title {one}" for one in range(10)], "10 different texts in 10 rows: ids or free text"),
        (["a", "a", "b"], "2 different texts in 3 rows"),
        (["38", "M", "38", "M"], "numbers, but also 'M'"),
        (["1.5", "2", "1.5", "2"], "numbers as text"),
        (["2024-01-31", "soon", "2024-01-31", "soon"], "dates, but also 'soon'"),
        (["2024-02-30", "2024-02-30"], "dates that no calendar has"),
        ([1, "a", 1, "a"], "entries of the type int and str|numbers, but also 'a'"),
        ([[1], [2]], "several values in each row"),
        (np.array([{}, {}], dtype=object), "cannot be told apart"),
        (pa.array([[1], [2]]), "Arrow type list"),
        ([10**400, 1], "float64"),
        (pl.Series([datetime.time(10), datetime.time(11)]), "type time"),
    ],
)
def test_what_is_no_feature(column, reason):
    found = feature_column(column)
    assert isinstance(found, Unusable), found
    assert re.search(reason, found.reason), found.reason


def test_texts_that_repeat_are_categories():
    found = feature_column(["red", "blue", None, "red", "blue"])
    assert found.categories == ("blue", "red")
    assert found.values.tolist()[:2] == [1, 0]
    assert isinstance(feature_column(["red", "red", "red"], find=False), Unusable)
    assert feature_column(["a", "b", "c"], declared=True).categories == ("a", "b", "c")
    assert feature_column([3, 1, 3], declared=True).categories == (1, 3)
    assert feature_column([None, None], declared=True).categories == ()


def shop(n=12):
    return pd.DataFrame(
        {
            "query": [f"q{row // 4}" for row in range(n)],
            "doc": [f"d{row}" for row in range(n)],
            "grade": [row % 3 for row in range(n)],
            "brand": [["acme", "omni"][row % 2] for row in range(n)],
            "size": [["38", "M"][row % 2] for row in range(n)],
            "title": [f"title {row}" for row in range(n)],
            "tags": [[row] for row in range(n)],
            "price": np.arange(n) * 1.5,
            "shop": [7 + row % 2 for row in range(n)],
            "new": [row % 2 == 0 for row in range(n)],
        }
    )


def test_all_columns_that_are_no_features_are_in_one_message():
    with pytest.raises(UnusableColumnsError) as error:
        Dataset(shop())
    message = str(error.value)
    assert message.startswith("3 columns are no features: 'size' (numbers, but also 'M'), 'title' (12 different")
    assert "leave them out: ignore=['size', 'title', 'tags']; for categories: categorical=['size', 'title']" in message
    data = Dataset(shop(), ignore=["title", "tags"], categorical=["size", "shop"])
    assert dict(data.roles) == {
        "query": "query",
        "doc": "document",
        "grade": "label",
        "title": "left out (as asked)",
        "tags": "left out (as asked)",
        "brand": "category",
        "size": "category",
        "shop": "category",
        "new": "0 and 1",
    }
    assert dict(data.categories) == {"brand": ("acme", "omni"), "size": ("38", "M"), "shop": (7, 8)}
    assert data.feature_names == ("brand", "size", "price", "shop", "new")
    assert dict(data.origins) == {
        "queries": "column 'query'",
        "label": "column 'grade'",
        "documents": "column 'doc'",
    }
    for part in (data.take_queries([0]), data.replace(weights=np.ones(12))):
        assert part.roles == data.roles


def test_features_are_chosen_by_name():
    data = Dataset(shop(), features=["price", "brand"])
    assert data.feature_names == ("price", "brand")
    assert data.roles["title"] == "left out (not among the features)"
    with pytest.raises(DataError, match="no such column"):
        Dataset(shop(), features=["cost"])
    with pytest.raises(DataError, match="no such column to be categorical: 'cost'"):
        Dataset(shop(), ignore=["title", "tags", "size"], categorical=["cost"])
    with pytest.raises(DataError, match="two roles"):
        Dataset(shop(), features=["price"], ignore=["price"])
    for option in ("features", "ignore"):
        with pytest.raises(DataError, match="no named columns"):
            Dataset(np.zeros((2, 1)), qid=[1, 1], **{option: ["a"]})
        with pytest.raises(DataError, match="lists columns"):
            Dataset(shop(), **{option: "price"})


def test_roles_of_a_frame_can_be_refused():
    frame = shop()[["query", "grade", "price"]]
    data = Dataset(frame, y=False)
    assert data.feature_names == ("grade", "price")
    assert not data.labels
    assert Dataset(frame, y=np.zeros(12)).feature_names == ("grade", "price")
    assert Dataset(frame.rename(columns={"query": "q"}), qid="q").label().tolist() == frame["grade"].tolist()
    with pytest.raises(DataError, match=r"(?s)several columns could be the qid.*qid='query'"):
        Dataset(frame.assign(qid=1))
    with pytest.raises(DataError, match=r"(?s)which query a row belongs to.*qid=\.\.\."):
        Dataset(frame.drop(columns="query"))


def test_the_index_of_a_data_frame_is_left_out():
    frame = pd.DataFrame({"q": [1, 1], "grade": [0, 1], "__index_level_0__": [5, 6]})
    data = Dataset(frame, qid="q", y="grade")
    assert data.n_features == 0
    assert data.roles["__index_level_0__"] == "left out (index of a data frame)"


def test_prefixes_say_what_a_column_is():
    frame = pd.DataFrame({"qid": [1, 1], "label:clicks": [0, 1], "feature:label": [2.0, 3.0], "category:shop": [7, 8]})
    data = Dataset(frame)
    assert data.feature_names == ("label", "shop")
    assert data.labels["clicks"].tolist() == [0, 1]
    assert dict(data.categories) == {"shop": (7, 8)}
    with pytest.raises(DataError, match="'clicks' is given"):
        Dataset(frame, labels={"clicks": [1, 2]})


def test_data_is_made_like_other_data():
    data = Dataset(shop(), ignore=["title", "tags"], categorical=["size", "shop"])
    few = shop(2)
    few["brand"] = ["omni", "new brand"]
    like = Dataset(few, like=data)
    assert like.categories == data.categories
    assert like.features[:, 0].tolist() == [1, -1]
    assert like.features[:, 3].tolist() == [0, 1]
    assert like.roles["title"].startswith("left out")
    few["price"] = "dear"
    with pytest.raises(UnusableColumnsError, match=r"'price' .texts, where numbers are wanted"):
        Dataset(few, like=data)
    for junk in (5, "model", rf.Dataset, rf.LambdaMART()):
        with pytest.raises(DataError, match="like takes"):
            Dataset(shop(), like=junk)


def test_matrices_have_declared_categories():
    matrix = np.array([[30, 0.5], [7, 1], [np.nan, 2]])
    for categorical in ([0], ["1"]):
        data = Dataset(matrix, qid=[1, 1, 1], categorical=categorical)
        assert dict(data.categories) == {"1": (7, 30)}
        np.testing.assert_array_equal(data.features[:, 0], [1, 0, np.nan])
    objects = np.array([["red", 1.5], ["blue", None], ["red", 2], ["blue", 1]], dtype=object)
    data = Dataset(objects, qid=[1] * 4, feature_names=["colour", "price"])
    assert dict(data.categories) == {"colour": ("blue", "red")}
    np.testing.assert_array_equal(data.features[:, 1], np.float32([1.5, np.nan, 2, 1]))
    for categorical, message in (
        ([2], "numbered 0 to 1"),
        (["x"], "no feature 'x'"),
        ([1], r"holds 0\.5"),
        (5, "lists"),
    ):
        with pytest.raises(DataError, match=message):
            Dataset(matrix, qid=[1, 1, 1], categorical=categorical)


def test_categories_come_back_from_a_data_frame():
    data = Dataset(shop(), ignore=["title", "tags"], categorical=["size", "shop"])
    frame = data.to_pandas()
    assert frame["brand"].tolist() == shop()["brand"].tolist()
    back = Dataset(frame)
    assert back.categories == data.categories
    assert back.fingerprint == data.fingerprint


def test_many_dates_at_once_equal_one_by_one():
    random = np.random.default_rng(2)
    moments = [
        datetime.datetime(1, 1, 1) + datetime.timedelta(seconds=int(one)) for one in random.integers(0, 3 * 10**11, 50)
    ]
    for written in (
        lambda one: one.isoformat(),
        lambda one: one.isoformat(" ", "minutes") + "Z",
        lambda one: one.date().isoformat(),
        lambda one: one.isoformat() + ",25+00:00",
        lambda one: one.isoformat() + ".123456789",
        lambda one: one.isoformat() + "+05:30",
    ):
        texts = [written(one) for one in moments]
        alone = [feature_column([text, "2024-01-31T12:30:00+01:00"]).values[0] for text in texts]
        np.testing.assert_allclose(feature_column(texts).values, alone, rtol=0, atol=1e-9)
