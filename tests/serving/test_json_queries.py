"""JSON: every form gives what ``predict`` gives, and everything else is refused with a reason."""

from __future__ import annotations

import json

import numpy as np
import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.serving.conftest import NAMES, make_model

import rankforce as rf
from rankforce.serving.answers import scores_and_order
from rankforce.serving.json_queries import matrix_from_json, refuse_repeated_names_slowly
from rankforce.serving.refusals import RequestRefusal

MODEL = make_model()


def read(body, features=NAMES, most_rows=1000, ignore_unknown=False):
    text = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return matrix_from_json(text, features, most_rows, ignore_unknown, {})


def forms(rows):
    """The three ways to write the same documents (rows of numbers and None)."""
    columns = [[row[place] for row in rows] for place in range(len(NAMES))]
    backwards = [list(reversed(row)) for row in rows]
    return [
        {"columns": dict(zip(NAMES, columns, strict=True))},
        {"rows": [dict(zip(NAMES, row, strict=True)) for row in rows]},
        {"features": list(NAMES), "rows": rows},
        {"features": list(reversed(NAMES)), "rows": backwards},
    ]


VALUES = st.none() | st.floats(-3e38, 3e38) | st.integers(-(2**63), 2**64 - 1) | st.sampled_from([0, -0.0, 1e-320, 0.1])
ROWS = st.lists(st.lists(VALUES, min_size=len(NAMES), max_size=len(NAMES)), max_size=9)


@settings(max_examples=60, deadline=None)
@given(ROWS)
@example([])
@example([[16777217, 0.1, None, 1e-46]])
def test_scores_are_those_of_predict_bit_for_bit(rows):
    plain = np.array(rows, dtype=object).reshape(len(rows), len(NAMES))
    matrix = np.array([[np.nan if v is None else float(v) for v in row] for row in plain]).reshape(plain.shape)
    expected = MODEL.predict(matrix)
    for form in forms(rows):
        for text in (orjson.dumps(form), json.dumps(form).encode()):  # the second escapes what is not ASCII
            scores, order = scores_and_order(MODEL, read(text))
            assert scores.tobytes() == expected.tobytes()
            assert order.tolist() == MODEL.rank(matrix).row.tolist()


def test_one_feature_and_none():
    np.testing.assert_array_equal(read({"rows": [{"a": 1}, {"a": None}]}, ["a"]), [[1], [np.nan]])
    assert read({"columns": {}}, []).shape == (0, 0)
    assert read({"rows": [{}, {}]}, []).shape == (2, 0)


def test_features_that_the_model_does_not_read_can_be_ignored():
    rows = [[1, 2, 3, 4], [5, 6, 7, 8]]
    more = [*NAMES, "more"]
    columns = dict(zip(more, [[1, 5], [2, 6], [3, 7], [4, 8], ["x", None]], strict=True))
    objects = [dict(zip(more, [*row, "x"], strict=True)) for row in rows]
    for form in ({"columns": columns}, {"rows": objects}):
        np.testing.assert_array_equal(read(form, ignore_unknown=True), rows)
        with pytest.raises(RequestRefusal, match="the feature 'more', which the model does not read"):
            read(form)


FOUR = {name: [1.0] for name in NAMES}
HOSTILE = {
    b"": (400, "zero-length"),
    b"{": (400, "no JSON"),
    b"NaN": (400, "no JSON"),
    b'{"columns": NaN}': (400, "no JSON"),
    b'{"rows": [[1e400]]}': (400, "infinity"),
    b"[" * 100_000: (400, "no JSON"),
    b"\xff\xfe{}": (400, "no JSON"),
    b"\xef\xbb\xbf{}": (400, "no JSON"),
    b'{"rows": []} more': (400, "no JSON"),
    b"[1, 2]": (422, "the body is a list"),
    b"null": (422, "the body is null"),
    b"3": (422, "the body is a number"),
    b"{}": (422, "the fields none"),
    b'{"rows": [], "columns": {}}': (422, "'rows', 'columns'"),
    b'{"rows": [], "k": 3}': (422, "'k'"),
    b'{"rows": {"a": 1}}': (422, "'rows' is an object"),
    b'{"columns": [1]}': (422, "'columns' is a list"),
    b'{"rows": [3]}': (422, "row 0 (from 0) is a number"),
    b'{"rows": [[1, 2, 3, 4]]}': (422, "row 0 (from 0) is a list"),
    b'{"rows": [{}]}': (422, "row 0 lacks the features 'bm25', 'age', 'clicks: all', 'l\xc3\xa4nge' of the model"),
    b'{"features": ["a"], "rows": []}': (422, "lacks"),
    b'{"features": "abcd", "rows": []}': (422, "no list of names"),
    b'{"features": [1], "rows": []}': (422, "no list of names"),
    orjson.dumps({"features": [*NAMES, "age"], "rows": []}): (422, "has the feature 'age' more than once"),
    orjson.dumps({"features": NAMES, "rows": [[1, 2, 3]]}): (422, "row 0 (from 0) has 3 values for 4 features"),
    orjson.dumps({"features": NAMES, "rows": [{"bm25": 1}]}): (422, "row 0 (from 0) is an object"),
    orjson.dumps({"columns": FOUR | {"age": [1.0, 2.0]}}): (422, "'bm25' has 1 values, 'age' has 2"),
    orjson.dumps({"columns": FOUR | {"age": 1.0}}): (422, "the column 'age' is a number"),
    orjson.dumps({"columns": FOUR | {"age": ["NaN"]}}): (422, "feature 'age' of row 0 (from 0) is text ('NaN')"),
    orjson.dumps({"columns": FOUR | {"age": ["1"]}}): (422, "is text"),
    orjson.dumps({"columns": FOUR | {"age": ["true"]}}): (422, "is text ("),
    orjson.dumps({"columns": FOUR | {"age": [[1]]}}): (422, "is a list ([1])"),
    orjson.dumps({"columns": FOUR | {"age": [{}]}}): (422, "is an object"),
    orjson.dumps({"columns": FOUR | {"\x1b[31m": [1]}}): (422, "'\\\\x1b[31m', which the model does not read"),
    orjson.dumps({"rows": [dict.fromkeys(NAMES, 1), dict.fromkeys(NAMES, 1) | {"age": "x"}]}): (422, "of row 1"),
    orjson.dumps({"rows": [dict.fromkeys(NAMES, 1), {"age": 1}]}): (422, "row 1 (from 0) lacks the features 'bm25'"),
    orjson.dumps({"rows": [dict.fromkeys(NAMES, 1)] * 1001}): (413, "1,001 rows, the limit is 1,000"),
    b'{"rows": [], "rows": []}': (422, "more than once"),
    b'{"columns": {"bm25": [1], "age": [1], "age": [2], "clicks: all": [1], "l\xc3\xa4nge": [1]}}': (422, "'age' more"),
    b'{"columns": {"bm25": [1], "age": [1], "\\u0061ge": [2]}}': (422, "'age' more than once"),
    b'{"rows": [{"bm25": 1, "bm25": "x"}]}': (422, "'bm25' more than once"),
}  # fmt: skip


@pytest.mark.parametrize("body", HOSTILE, ids=lambda body: repr(body[:40]))
def test_what_is_no_query_is_refused_with_the_reason(body):
    status, words = HOSTILE[body]
    with pytest.raises(RequestRefusal) as refused:
        read(body)
    assert refused.value.status == status
    assert words.encode("latin-1").decode() in str(refused.value) or words in str(refused.value)


def test_the_largest_float32_is_taken():
    largest = float(np.finfo(np.float32).max)
    scores, _ = scores_and_order(MODEL, read({"columns": FOUR | {"age": [largest]}}))
    assert scores.tobytes() == MODEL.predict(np.array([[1.0, largest, 1.0, 1.0]])).tobytes()


@pytest.mark.parametrize("value", [1e39, -1e39, 10**39, 1.7e308, 3.4028236e38])
def test_what_float32_cannot_hold_is_refused_as_predict_refuses_it(value):
    with pytest.raises(rf.DataError, match="beyond float32"):
        MODEL.predict(np.array([[1.0, value, 1.0, 1.0]], dtype=np.float64))
    with pytest.raises(RequestRefusal, match=r"feature 'age' of row 0 .* beyond float32"):
        scores_and_order(MODEL, read({"columns": FOUR | {"age": [value]}}))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_repeated_names_are_found_as_the_slow_reader_finds_them(data):
    names = st.sampled_from(["a", "b", "\\u0061", "a:", "", "\\\\", "c,"])
    values = st.sampled_from(["1", "null", '"a"', '"\\""', "[]", "{}", '{"a":1}'])
    pairs = data.draw(st.lists(st.tuples(names, values), max_size=4))
    inner = "{" + ",".join(f'"{name}":{value}' for name, value in pairs) + "}"
    body = data.draw(st.sampled_from(['{"columns":%s}', '{"rows":[%s]}', '{"features":["a"],"rows":[%s]}'])) % inner

    def repeated(read):
        try:
            read()
        except RequestRefusal as refusal:
            return refusal.kind == "duplicated-features"
        return False

    assert repeated(lambda: read(body.encode())) == repeated(lambda: refuse_repeated_names_slowly(body.encode()))
