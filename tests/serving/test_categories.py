"""Queries with categories: by their names in JSON and Arrow, as ``predict`` has them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.models.random_trees import categorical_ensemble

from rankforce.data.factorising import as_codes
from rankforce.serving.category_values import codes_of_values, tables_of

NAMES = ["bm25", "brand", "shop"]
CATEGORIES = {"brand": ("acme", "zeta", "ö"), "shop": (10, 20)}
MODEL = categorical_ensemble(1, [16] * 4, {1: 3, 2: 2}, features=3, feature_names=NAMES, categories=CATEGORIES)
ROWS = [[0.5, "acme", 10], [None, "nobody", 20.0], [-1.0, None, "20"], [2.0, "ö", 30], [0.1, "", None]]
FRAME = pd.DataFrame(
    {"bm25": [0.5, None, -1.0, 2.0, 0.1], "brand": [r[1] or None for r in ROWS], "shop": [10, 20, 20, 30, None]}
)
EXPECTED = MODEL.predict(FRAME).tolist()
FORMS = {
    "columns": {"columns": {name: [row[k] for row in ROWS] for k, name in enumerate(NAMES)}},
    "objects": {"rows": [dict(zip(NAMES, row, strict=True)) for row in ROWS]},
    "lists": {"features": ["shop", "bm25", "brand"], "rows": [[row[2], row[0], row[1]] for row in ROWS]},
}


@pytest.fixture
def categorical(start, tmp_path):
    MODEL.save(tmp_path / "categories.json")
    return start({"categories": tmp_path / "categories.json"}, explaining=True)


@pytest.mark.parametrize("form", FORMS)
def test_categories_are_sent_by_their_names(categorical, form):
    reply = categorical.post("/score", json.dumps(FORMS[form]).encode())
    assert reply.status == 200, reply.body
    assert reply.json()["scores"] == EXPECTED


def test_numbers_in_texts_are_read_as_predict_reads_them():
    """One rule: what a frame would have as an unknown category is none in a query, either."""
    listed = (7, 12, 100, -3, "x")
    texts = ["007", "+7", "7", "7.0", "7.00", "12 ", " 12", "0012", "1e2", "100.5", "-3", "-03", "-3.0", "x", " x", "٧"]
    texts += ["1" + "0" * 18, "7." + "0" * 40, 7, 7.0, -3, 100.5]
    found = codes_of_values(texts, tables_of({"shop": listed})["shop"])
    assert found == as_codes(np.array(texts, dtype=object), listed, "shop").tolist()
    assert found[:5] == [-1, -1, 0, 0, 0]


def test_arrow(categorical):
    shop = pa.array([10, 20, 20, 30, None])
    table = pa.table(
        {
            "shop": shop,
            "brand": pa.array([row[1] or None for row in ROWS]),
            "bm25": pa.array(FRAME["bm25"], from_pandas=True),
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    headers = {"content-type": "application/vnd.apache.arrow.stream"}
    reply = categorical.post("/score", sink.getvalue().to_pybytes(), headers=headers)
    assert reply.status == 200, reply.body
    assert pa.ipc.open_stream(reply.body).read_all()["scores"].to_pylist() == EXPECTED


@pytest.mark.parametrize("value", [True, [1], {"a": 1}])
def test_what_is_no_category_is_refused(categorical, value):
    body = {"rows": [{"bm25": 1, "brand": "acme", "shop": 10}, {"bm25": 1, "brand": value, "shop": 10}]}
    reply = categorical.post("/score", json.dumps(body).encode())
    assert reply.status == 422
    assert "not-a-category" in reply.body.decode()
    assert "row 1" in reply.body.decode()


def test_text_elsewhere_is_refused_as_before(categorical):
    reply = categorical.post("/score", json.dumps({"rows": [{"bm25": "1", "brand": "acme", "shop": 10}]}).encode())
    assert (reply.status, "not-a-number" in reply.body.decode()) == (422, True)


def test_categories_that_nobody_listed_are_whole_numbers(start, tmp_path):
    model = categorical_ensemble(1, [16] * 4, {1: 3, 2: 2}, features=3, feature_names=NAMES)
    model.save(tmp_path / "unlisted.json")
    client = start({"unlisted": tmp_path / "unlisted.json"})
    good = {"features": NAMES, "rows": [[0.5, 2, 1], [None, None, 7]]}
    expected = model.predict(np.array([[0.5, 2, 1], [np.nan, np.nan, 7]])).tolist()
    assert client.post("/score", json.dumps(good).encode()).json()["scores"] == expected
    bad = {"features": NAMES, "rows": [[0.5, 2.5, 1]]}
    reply = client.post("/score", json.dumps(bad).encode())
    assert (reply.status, "not-a-category" in reply.body.decode()) == (422, True)


@pytest.mark.compiled_only
def test_explanations_name_categories(categorical):
    reply = categorical.post("/explain?document=0", json.dumps(FORMS["columns"]).encode())
    assert reply.status == 200, reply.body
    values = {one["feature"]: one["value"] for one in reply.json()["features"]}
    assert values == {"bm25": 0.5, "brand": "acme", "shop": 10}
