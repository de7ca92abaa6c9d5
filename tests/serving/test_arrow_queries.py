"""Arrow: what ``predict`` gives for the same table, and nothing that the sender claims is believed."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest
from tests.models.random_trees import random_features
from tests.serving.conftest import NAMES, make_model

import rankforce as rf
from rankforce.serving.answers import scores_and_order
from rankforce.serving.arrow_queries import batch_description, matrix_from_arrow
from rankforce.serving.refusals import RequestRefusal

MODEL = make_model()


def stream(table, **options):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, **options) as writer:
        writer.write_table(table) if isinstance(table, pa.Table) else writer.write_batch(table)
    return sink.getvalue().to_pybytes()


def table(matrix, names=NAMES, kind=None):
    return pa.table({name: pa.array(column, type=kind) for name, column in zip(names, matrix.T, strict=True)})


def read(body, most_rows=1000, ignore_unknown=False):
    return matrix_from_arrow(body, NAMES, most_rows, ignore_unknown, {})


@pytest.mark.parametrize("kind", ["float32", "float64", "float16"])
def test_scores_are_those_of_predict_for_the_table(kind):
    matrix = random_features(1, 50, len(NAMES)).astype(kind)
    sent = table(matrix)
    assert MODEL.predict(read(stream(sent))).tobytes() == MODEL.predict(sent).tobytes()


def test_columns_of_several_types_nulls_and_any_order():
    columns = {
        "länge": pa.array([decimal.Decimal("1.5"), None, decimal.Decimal("-2.25")]),
        "bm25": pa.array([1, None, 3], pa.int8()),
        "clicks: all": pa.array([None, None, None], pa.null()),
        "age": pa.array([True, False, None]),
    }
    sent = pa.table(columns)
    matrix = read(stream(sent))
    expected = [[1, 1, np.nan, 1.5], [np.nan, 0, np.nan, np.nan], [3, np.nan, np.nan, -2.25]]
    np.testing.assert_array_equal(matrix, np.array(expected, dtype=np.float32))
    assert MODEL.predict(matrix).tobytes() == MODEL.predict(sent).tobytes()


def test_nulls_of_floats_are_missing():
    sent = pa.table({name: pa.array([1.0, None, float("nan")], pa.float32()) for name in NAMES})
    np.testing.assert_array_equal(read(stream(sent)), [[1.0] * 4, [np.nan] * 4, [np.nan] * 4])


def test_several_batches_and_none():
    matrix = random_features(2, 30, len(NAMES))
    many = pa.Table.from_batches(table(matrix).to_batches(max_chunksize=7))
    np.testing.assert_array_equal(read(stream(many)), matrix)
    assert read(stream(table(matrix[:0]))).shape == (0, 4)
    with pytest.raises(RequestRefusal, match="30 rows, the limit is 29"):
        read(stream(table(matrix)), most_rows=29)
    with pytest.raises(RequestRefusal, match="28 rows, the limit is 27"):  # counted over batches, before they are read
        read(stream(many), most_rows=27)


def test_names_are_matched_strictly():
    matrix = random_features(3, 5, len(NAMES))
    for names, kind in (
        ([*NAMES[:3], "other"], "missing-features"),
        ([*NAMES[:3], "bm25"], "duplicated-features"),
        (["1", "2", "3", "4"], "missing-features"),
    ):
        sent = pa.Table.from_arrays([pa.array(column) for column in matrix.T], names=names)
        with pytest.raises(RequestRefusal) as refused:
            read(stream(sent))
        assert (refused.value.status, refused.value.kind) == (422, kind)
    more = table(matrix).append_column("note", pa.array(list("abcde")))
    with pytest.raises(RequestRefusal, match="'note', which the model does not read"):
        read(stream(more))
    np.testing.assert_array_equal(read(stream(more), ignore_unknown=True), matrix)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["NaN", "1"]),
        pa.array([[1.0], [2.0]]),
        pa.array([datetime.date(2020, 1, 1)] * 2),
        pa.array([{"a": 1}] * 2),
        pa.array([b"x", b"y"]),
        pa.array(["a", "b"]).dictionary_encode(),
    ],
    ids=lambda column: str(column.type)[:20],
)
def test_columns_that_are_no_numbers_are_named(column):
    sent = pa.table({name: [1.0, 2.0] for name in NAMES}).set_column(1, "age", column)
    with pytest.raises(RequestRefusal, match="feature 'age' has the Arrow type") as refused:
        read(stream(sent))
    assert refused.value.status == 422


def test_infinite_values_are_refused_as_predict_refuses_them():
    for kind, value in ((pa.float32(), np.inf), (pa.float64(), 1e39)):
        sent = pa.table({name: pa.array([1.0, value], kind) for name in NAMES})
        with pytest.raises(rf.DataError, match=r"of row 1 .* beyond float32"):
            MODEL.predict(sent)
        with pytest.raises(RequestRefusal, match=r"feature 'bm25' of row 1 .* beyond float32"):
            scores_and_order(MODEL, read(stream(sent)))


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_buffers_are_refused_before_they_grow(codec):
    sent = table(np.zeros((500, 4), dtype=np.float32))
    with pytest.raises(RequestRefusal, match="compressed") as refused:
        read(stream(sent, options=pa.ipc.IpcWriteOptions(compression=codec)))
    assert refused.value.status == 415


def test_a_million_rows_of_nothing_are_not_made():
    batch = pa.record_batch({name: pa.nulls(10**9) for name in NAMES})  # no buffers: a body of a few hundred bytes
    body = stream(batch)
    assert len(body) < 2000
    with pytest.raises(RequestRefusal, match="1,000,000,000 rows, the limit"):
        read(body)


def test_the_description_of_a_batch_is_what_arrow_wrote():
    for rows in (0, 1, 77):
        for codec in (None, "zstd"):
            body = stream(table(np.ones((rows, 4))), options=pa.ipc.IpcWriteOptions(compression=codec))
            reader = pa.ipc.MessageReader.open_stream(body)
            messages = [m for m in iter(lambda reader=reader: next(reader, None), None) if m.type == "record batch"]
            assert [batch_description(m.metadata) for m in messages] == [(rows, codec is not None)] * len(messages)


def test_bodies_that_are_no_stream():
    good = stream(table(random_features(4, 6, len(NAMES))))
    file = pa.BufferOutputStream()
    with pa.ipc.new_file(file, table(np.ones((2, 4))).schema) as writer:
        writer.write_table(table(np.ones((2, 4))))
    for body in (
        b"",
        b"\xff\xff\xff\xff",
        b'{"rows": []}',
        good[:-50],
        good[:40],
        good[100:],
        file.getvalue().to_pybytes(),
    ):
        with pytest.raises(RequestRefusal) as refused:
            read(body)
        assert refused.value.status == 400, body[:20]


def test_damaged_streams_are_read_or_refused_and_nothing_else():
    rng = np.random.default_rng(0)
    good = bytearray(stream(table(random_features(5, 6, len(NAMES)))))
    refused = 0
    for _ in range(400):
        body = bytearray(good)
        for place in rng.integers(0, len(body), rng.integers(1, 4)):
            body[place] = rng.integers(0, 256)
        try:
            assert read(bytes(body), most_rows=10**6).shape[1] == len(NAMES)
        except rf.RankforceError:
            refused += 1
    assert 50 < refused < 400
