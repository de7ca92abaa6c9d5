"""Explanations over HTTP are those of ``rf.explain``."""

from __future__ import annotations

import numpy as np
import pytest
from tests.serving.conftest import NAMES
from tests.serving.test_application import MATRIX, QUERY
from tests.serving.test_arrow_queries import stream, table

import rankforce as rf


@pytest.fixture
def explaining(start):
    return start(explaining=True)


def asked_of_rankforce(model, **options):
    data = rf.Dataset(MATRIX, qid=np.ones(len(MATRIX), dtype=int), feature_names=NAMES)
    return rf.explain(model, data, 1, **options).to_dict()


@pytest.mark.compiled_only
@pytest.mark.parametrize(
    ("path", "options"),
    [("/explain", {}), ("/models/trees/explain?document=2", {"document": 2}), ("/explain?pair=2,0", {"pair": (2, 0)})],
)
def test_explanations_are_those_of_rankforce(explaining, model, path, options):
    reply = explaining.post(path, QUERY)
    assert reply.status == 200, reply.body
    found, expected = reply.json(), asked_of_rankforce(model, **options)
    assert (found.pop("model"), len(found.pop("digest"))) == ("trees", 64)
    del expected["query"]
    for document in expected.get("documents", ()):
        del document["query"]
    assert found == expected
    assert explaining.metric("rankforce_requests_total", model="trees", endpoint="explain", status="200") == 1


@pytest.mark.compiled_only
def test_arrow_is_explained_in_json(explaining):
    body = stream(table(MATRIX))
    reply = explaining.post("/explain", body, headers={"content-type": "application/vnd.apache.arrow.stream"})
    assert reply.json()["documents"] == explaining.post("/explain", QUERY).json()["documents"]


@pytest.mark.compiled_only
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/explain?document=x", "'x' is no row"),
        ("/explain?document=-1", "'-1' is no row"),
        ("/explain?document=9", "no document 9"),
        ("/explain?pair=1", "a pair is two rows"),
        ("/explain?pair=1,1", "one document twice"),
        ("/explain?pair=1,2&document=0", "one of them or none"),
        ("/explain?seed=1", "one of them or none"),
    ],
)
def test_what_cannot_be_explained_is_refused(explaining, path, words):
    reply = explaining.post(path, QUERY)
    assert (reply.status, words in reply.json()["detail"]) == (422, True), reply.body


@pytest.mark.compiled_only
def test_queries_that_are_empty_or_too_long_are_refused(explaining):
    assert explaining.post("/explain", {"rows": []}).status == 422
    assert explaining.post("/explain", {"rows": [dict.fromkeys(NAMES, 1)] * 1001}).status == 413
    assert explaining.post("/explain", {"rows": [dict.fromkeys(NAMES, 1e39)]}).status == 422


def test_explanations_must_be_asked_for(client):
    assert client.post("/explain", QUERY).status == 404
    assert "/explain" not in client.get("/openapi.json").json()["paths"]
