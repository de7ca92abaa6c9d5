"""The endpoints: what is answered, what is refused with which status, and what is counted."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from http import HTTPStatus

import numpy as np
import pyarrow as pa
import pytest
from tests.models.random_trees import random_features
from tests.serving.asgi_client import ask
from tests.serving.conftest import NAMES, make_model
from tests.serving.test_arrow_queries import stream, table

import rankforce as rf
from rankforce.models.dag import RankingGraph
from rankforce.models.net import Net
from rankforce.models.net_scaling import Scaling
from rankforce.serving.limits import ServingLimits

ARROW = {"content-type": "application/vnd.apache.arrow.stream"}
QUERY = {"rows": [dict.fromkeys(NAMES, value) for value in (0.5, None, -1, 0.5)]}
MATRIX = np.array([[0.5] * 4, [np.nan] * 4, [-1] * 4, [0.5] * 4])


def test_scores_and_order_with_equal_scores_in_the_order_of_the_rows(client, model):
    reply = client.post("/score", QUERY)
    found = reply.json()
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert found["scores"] == model.predict(MATRIX).tolist()
    assert found["order"] == model.rank(MATRIX).row.tolist()
    assert found["order"].index(0) < found["order"].index(3)
    assert (found["ties"], found["model"]) == ("stable", "trees")
    assert client.post("/score", {"rows": []}).json()["scores"] == []


def test_arrow_is_answered_in_arrow(client, model):
    matrix = random_features(1, 300, len(NAMES))
    reply = client.post("/score", stream(table(matrix)), headers=ARROW)
    assert (reply.status, reply.headers["content-type"]) == (200, ARROW["content-type"])
    found = pa.ipc.open_stream(reply.body).read_all()
    assert found["scores"].to_numpy().tobytes() == model.predict(matrix).tobytes()
    assert found["order"].to_pylist() == model.rank(matrix).row.tolist()
    assert found.schema.metadata[b"ties"] == b"stable"
    in_json = client.post("/score", {"features": NAMES, "rows": np.where(np.isnan(matrix), None, matrix).tolist()})
    assert in_json.json()["scores"] == found["scores"].to_pylist()
    assert in_json.json()["digest"].encode() == found.schema.metadata[b"digest"]


def test_a_query_of_many_documents(start, model):
    matrix = random_features(2, 5000, len(NAMES), missing=0)
    body = {"columns": {name: matrix[:, place].tolist() for place, name in enumerate(NAMES)}}
    assert start(threads=1).post("/score", body).json()["scores"] == model.predict(matrix).tolist()


def test_models_that_need_whole_queries(start, tmp_path):
    data = rf.make_artificial(queries=3, documents=8, features=2, seed=0)
    scaling = Scaling("query", np.zeros(2), np.ones(2))
    net = Net(feature_names=("1", "2"), scaling=scaling, hidden=0, weights=np.array([1.0, -0.3, 0.1]), sigma=1.0)
    one_test = {"feature": [0], "threshold": [0.5], "missing_left": [True], "left": [~1], "right": [~0], "gain": [1.0]}
    graph = RankingGraph(
        feature_names=("1", "2"),
        documents=np.array([3, 5]),
        **{name: np.array(values) for name, values in one_test.items()},
    )
    assert net.needs_queries
    files = {"net": tmp_path / "net.json", "graph": tmp_path / "graph.json.gz"}
    for name, model in (("net", net), ("graph", graph)):
        model.save(files[name])
    client = start(files)
    of_query = data.qid == data.query_ids[1]
    body = {"features": ["1", "2"], "rows": data.features[of_query].tolist()}
    for name, model in (("net", net), ("graph", graph)):
        found = client.post(f"/models/{name}/score", body).json()
        assert found["scores"] == model.predict(data)[of_query].tolist()
        assert len(set(found["scores"])) > 1


def test_several_models_by_name(start, file, tmp_path):
    other = make_model(7)
    other.save(tmp_path / "other.json")
    client = start({"trees": file, "b": tmp_path / "other.json"})
    assert client.post("/score", QUERY).json()["model"] == "trees"
    found = client.post("/models/b/score", QUERY).json()
    assert (found["model"], found["scores"]) == ("b", other.predict(MATRIX).tolist())
    about = client.get("/models").json()
    assert (about["default"], [one["name"] for one in about["models"]]) == ("trees", ["trees", "b"])
    assert client.get("/models/b").json()["features"] == list(NAMES)
    assert about["models"][1]["digest"] == found["digest"]
    reply = client.post("/models/c/score", QUERY)
    assert (reply.status, reply.json()["models"]) == (404, ["trees", "b"])


def test_refusals_have_one_form(client):
    reply = client.post("/score", {"rows": [{"bm25": 1}]})
    assert (reply.status, reply.headers["content-type"]) == (422, "application/problem+json")
    found = reply.json()
    assert found["type"] == "urn:rankforce:missing-features"
    assert (found["status"], found["title"], found["features"]) == (422, HTTPStatus(422).phrase, list(NAMES[1:]))
    assert "with null where a value is unknown" in found["detail"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "text/plain"}, 415),
        ({"content-type": ""}, 415),
        ({"content-type": "application/json; charset=latin-1"}, 415),
        ({"content-type": "application/json", "content-encoding": "gzip"}, 415),
        ({"content-type": "Application/JSON; charset=UTF-8", "content-encoding": "identity"}, 200),
    ],
)
def test_content_types(client, headers, status):
    assert client.post("/score", QUERY, headers=headers).status == status


def test_paths_and_methods_that_there_are_not(client):
    for method, path, status in (
        ("GET", "/score", 405), ("POST", "/models", 405), ("GET", "/", 404), ("GET", "/models/", 404),
        ("POST", "/score/", 404), ("GET", "/../etc/passwd", 404), ("GET", "/redoc", 404),
    ):  # fmt: skip
        reply = client.ask(method, path)
        assert (reply.status, reply.json()["status"]) == (status, status), path
    assert client.ask("GET", "/score").headers["allow"] == "POST"


def test_limits_of_bytes_and_rows(start):
    client = start(limits=ServingLimits(megabytes=0.001, rows=3))
    assert client.post("/score", QUERY).status == 413
    assert client.post("/score", {"rows": QUERY["rows"][:3]}).status == 200
    long = b'{"rows": [' + b" " * 1000 + b"]}"
    announced = client.post("/score", b"", headers={"content-length": str(len(long))})
    streamed = client.post("/score", b"", parts=[long[:600], long[600:]])  # not announced: counted
    for reply in (announced, streamed):
        assert (reply.status, reply.headers["connection"]) == (413, "close")
        assert reply.json()["limit"] == 1000


def test_a_slow_body_is_not_waited_for(start):
    client = start(limits=ServingLimits(seconds=0.05))
    reply = client.post("/score", b"", parts=[b"{", b"}"], pause=0.2)
    assert (reply.status, reply.json()["type"]) == (408, "urn:rankforce:slow-body")


class Blocked:
    """A model that scores when it is allowed to."""

    def __init__(self, model):
        self.model = model
        self.go, self.entered = threading.Event(), threading.Event()

    def __getattr__(self, name):
        return getattr(self.model, name)

    def predict(self, data):
        self.entered.set()
        assert self.go.wait(120)
        return self.model.predict(data)


@pytest.fixture
def blocked(monkeypatch):
    """Make the model of a client's service wait."""

    def block(client):
        served = client.service.shelf.get("trees")
        waiting = Blocked(served.model)
        client.service.shelf._served["trees"] = type(served)(**{**vars(served), "model": waiting})
        return waiting

    return block


def test_too_many_requests_are_told_to_try_again_while_the_service_stays_alive(start, blocked):
    client = start(limits=ServingLimits(requests=2), threads=1)
    waiting = blocked(client)

    async def crowd():
        post = json.dumps(QUERY).encode(), {"content-type": "application/json"}
        running = [asyncio.create_task(ask(client.app, "POST", "/score", *post)) for _ in range(2)]
        await asyncio.to_thread(waiting.entered.wait, 20)
        third = await ask(client.app, "POST", "/score", *post)
        health = await ask(client.app, "GET", "/health")
        admitted = client.metric("rankforce_requests_running")
        waiting.go.set()
        return third, health, admitted, [await one for one in running]

    third, health, admitted, answered = asyncio.run(crowd())
    assert (third.status, third.headers["retry-after"], health.status, admitted) == (503, "1", 200, 2)
    assert [reply.status for reply in answered] == [200, 200]
    assert client.metric("rankforce_requests_running") == 0


def test_an_answer_that_takes_too_long_is_given_up(start, blocked):
    client = start(limits=ServingLimits(seconds=0.1), threads=1)
    waiting = blocked(client)
    begin = time.monotonic()
    reply = client.post("/score", QUERY)
    assert (reply.status, reply.json()["type"]) == (503, "urn:rankforce:unavailable")
    assert time.monotonic() - begin < 120
    waiting.go.set()
    assert client.post("/score", QUERY).status == 200  # the place is free again


def test_not_ready_before_the_kernels_are_warm(start):
    client = start(warm=False)
    assert (client.get("/health").status, client.get("/ready").status) == (200, 503)
    assert client.get("/ready").json() == {"ready": False, "problems": {}}
    reply = client.post("/score", QUERY)
    assert (reply.status, reply.headers["retry-after"]) == (503, "1")
    client.service.shelf.warm_all()
    assert (client.get("/ready").status, client.post("/score", QUERY).status) == (200, 200)


def test_metrics_have_bounded_labels(client):
    for path in ("/score", "/models/nonsense/score", "/models/../../x/score", "/whatever"):
        client.post(path, QUERY)
    client.post("/score", b"{")
    reply = client.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=")
    text = reply.body.decode()
    assert "nonsense" not in text
    assert "whatever" not in text
    assert client.metric("rankforce_requests_total", model="trees", endpoint="score", status="200") == 1
    assert client.metric("rankforce_requests_total", model="trees", endpoint="score", status="400") == 1
    assert client.metric("rankforce_requests_total", model="", endpoint="score", status="404") == 1
    assert client.metric("rankforce_request_rows_sum", model="trees") == len(QUERY["rows"])
    assert client.metric("rankforce_scoring_seconds_count", model="trees") == 1
    assert client.metric("rankforce_request_seconds_count", model="trees", endpoint="score") == 2
    assert client.metric("rankforce_model_loads_total", model="trees", outcome="loaded") == 1
    assert client.metric("rankforce_model_stale", model="trees") == 0


def test_defects_say_nothing_of_the_inside(client, monkeypatch):
    monkeypatch.setattr("rankforce.serving.application.answer", lambda *_: 1 / 0)
    reply = client.post("/score", QUERY)
    assert (reply.status, reply.json()["type"]) == (500, "urn:rankforce:defect")
    assert b"division" not in reply.body
    assert client.metric("rankforce_requests_total", model="trees", endpoint="score", status="500") == 1


def test_a_score_that_is_no_number_is_not_sent(client, monkeypatch):
    monkeypatch.setattr(type(client.service.shelf.get("trees").model), "predict", lambda self, data: np.array([np.nan]))
    reply = client.post("/score", {"rows": QUERY["rows"][:1]})
    assert (reply.status, reply.json()["type"]) == (500, "urn:rankforce:no-score")


def test_the_description_is_complete_and_loads_nothing_from_elsewhere(client):
    openapi = client.get("/openapi.json").json()
    assert set(openapi["paths"]) == {
        "/score", "/models/{name}/score", "/models", "/models/{name}", "/health", "/ready", "/metrics"
    }  # fmt: skip
    content = openapi["paths"]["/score"]["post"]["requestBody"]["content"]
    assert set(content) == {"application/json", ARROW["content-type"]}
    page = client.get("/docs")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    text = page.body.decode()
    assert "://" not in text
    assert "<script" not in text
    assert all(path in text for path in openapi["paths"])


def test_the_examples_of_the_description_are_queries(client, tmp_path, start):
    from tests.models.random_trees import random_ensemble

    random_ensemble(0, [3], features=2, feature_names=["bm25", "age"]).save(tmp_path / "two.json")
    two = start({"two": tmp_path / "two.json"})
    schema = client.get("/openapi.json").json()["paths"]["/score"]["post"]["requestBody"]["content"]["application/json"]
    forms = schema["schema"]["oneOf"]
    assert len(forms) == 3
    for form in forms:
        assert two.post("/score", form["example"]).status == 200
