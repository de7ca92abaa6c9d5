"""Feature logs of every engine as data sets: shapes, ids, orders, and what did not match."""

from __future__ import annotations

import gzip
import json
from typing import Any

import numpy as np
import pytest
from tests.data.feature_logs.engine_responses import (
    old_plugin_response,
    plugin_response,
    solr_response,
    vespa_response,
)

import rankforce as rf

DOCUMENTS: dict[str, Any] = {"a": {"title": 3.5, "price": 9.0}, "b": {"title": None, "price": 4.0}}
JUDGMENTS = {"q": {"a": 2, "b": 0}}
NAN = float("nan")


@pytest.mark.parametrize(
    ("response", "absent"),
    [
        (plugin_response(DOCUMENTS), NAN),
        (old_plugin_response(DOCUMENTS), NAN),
        (solr_response(DOCUMENTS), 0.0),
        (solr_response(DOCUMENTS, sparse=True), 0.0),
        (vespa_response(DOCUMENTS), NAN),
        (vespa_response(DOCUMENTS, "summaryfeatures"), NAN),
    ],
    ids=["plugin", "plugin-old", "solr-dense", "solr-sparse", "vespa", "vespa-summary"],
)
def test_every_shape_gives_the_same_data(response, absent):
    log = rf.read_feature_log({"q": response}, JUDGMENTS, features=["title", "price"])
    assert np.array_equal(log.data.features, np.float32([[3.5, 9.0], [absent, 4.0]]), equal_nan=True)
    assert log.data.labels["grades"].tolist() == [2.0, 0.0]
    assert log.data.document_ids.tolist() == ["a", "b"]
    assert log.data.query_ids.tolist() == ["q"]
    assert log.data.feature_names == ("title", "price")
    assert log.matched == 2


@pytest.mark.parametrize(("absent", "filled"), [("missing", NAN), ("zero", 0.0)])
@pytest.mark.parametrize("response", [plugin_response(DOCUMENTS), solr_response(DOCUMENTS, sparse=True)])
def test_what_an_absent_feature_is_can_be_said(response, absent, filled):
    data = rf.read_feature_log({"q": response}, JUDGMENTS, features=["title", "price"], absent=absent).data
    assert np.array_equal(data.features[1], np.float32([filled, 4.0]), equal_nan=True)


def test_features_stand_as_the_log_lists_them_if_it_lists_them_alike():
    log = rf.read_feature_log({"q": plugin_response(DOCUMENTS)}, JUDGMENTS)
    assert log.data.feature_names == ("title", "price")
    sparse = rf.read_feature_log({"q": solr_response(DOCUMENTS, sparse=True)}, JUDGMENTS)
    assert sparse.data.feature_names == ("price", "title")  # lists differ: sorted


def test_extra_logging_of_scripts_is_no_feature():
    response = plugin_response(DOCUMENTS)
    response["hits"]["hits"][0]["fields"]["_ltrlog"][0]["main"].append({"name": "extra_logging", "value": {"x": 1}})
    assert rf.read_feature_log({"q": response}, JUDGMENTS).data.feature_names == ("title", "price")


def test_the_report_names_what_has_no_partner():
    documents = {**DOCUMENTS, "c": {"title": None, "price": 1.0}}
    source = {"q": plugin_response(documents), "r": plugin_response({"z": DOCUMENTS["b"]})}
    judgments = {"q": {"a": 2, "x": 1}, "s": {"y": 0}, "r": {"z": -1}}
    log = rf.read_feature_log(source, judgments, features=["price", "age", "title"])
    assert log.matched == 1
    assert log.judgments_without_features == (("q", "x"), ("s", "y"))
    assert log.documents_without_judgment == (("q", "b"), ("q", "c"), ("r", "z"))  # −1 of qrels is no judgment
    assert log.features_never_logged == ("age",)
    assert log.data.n_documents == 1
    text = str(log)
    for words in ("1 document of 1 query", "q/x, s/y", "left out: 3 (q/b, q/c, r/z)", "without any value: age"):
        assert words in text
    assert json.loads(json.dumps(log.to_dict()))["judgments_without_features"] == [["q", "x"], ["s", "y"]]


def test_unjudged_documents_can_be_kept():
    log = rf.read_feature_log({"q": plugin_response(DOCUMENTS)}, {"q": {"b": 1}}, unjudged="keep")
    assert np.array_equal(log.data.labels["grades"], [NAN, 1.0], equal_nan=True)
    assert "kept without a label: 1 (q/a)" in str(log)


def test_without_judgments_there_are_no_labels():
    log = rf.read_feature_log({"q": plugin_response(DOCUMENTS)})
    assert not log.data.labels
    assert log.data.n_documents == 2
    assert log.documents_without_judgment == ()


def test_features_that_the_set_lacks_are_named():
    log = rf.read_feature_log({"q": plugin_response(DOCUMENTS)}, JUDGMENTS, features=["price"])
    assert log.features_left_out == ("title",)
    assert log.data.feature_names == ("price",)
    with pytest.raises(rf.DataError, match="no feature of the feature set: it has price, title, the set Price"):
        rf.read_feature_log({"q": plugin_response(DOCUMENTS)}, JUDGMENTS, features=["Price"])


# ------------------------------------------------------------------------------------------------------ files and ids


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


RESPONSE = plugin_response(DOCUMENTS, named="qid=q")


@pytest.mark.parametrize(
    ("name", "content", "query"),
    [
        ("log.jsonl", lines({"qid": "q", "response": RESPONSE}), None),
        ("log.jsonl", lines({"request": {"query": {"match_all": {}}, "query_id": "q"}, "response": RESPONSE}), None),
        ("log.jsonl", "\n\n" + lines({"meta": {"query.id": "q"}, "response": RESPONSE}), "meta.query.id"),
        ("log.json", json.dumps({"qid": "q", "response": RESPONSE}, indent=2), None),
        ("log.json", json.dumps([{"qid": "q", "response": RESPONSE}], indent=2), None),
        ("q.2026-01-01.json", json.dumps(RESPONSE, indent=1), "file"),
        ("log.json", json.dumps({"took": 7, "responses": [RESPONSE]}, indent=1), "named:qid="),
        ("log.jsonl", lines(plugin_response(DOCUMENTS, entry="q")), "entry"),
        ("log.jsonl", lines(solr_response(DOCUMENTS, query="q")), "responseHeader.params.q"),
        ("log.jsonl.gz", lines({"qid": "q", "response": RESPONSE}), None),
    ],
)  # fmt: skip
def test_files_and_the_places_of_query_ids(tmp_path, name, content, query):
    path = tmp_path / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    log = rf.read_feature_log(path, JUDGMENTS, query=query)
    assert log.data.query_ids.tolist() == ["q"]
    assert log.matched == 2
    again = rf.read_feature_log([path], JUDGMENTS, query=query)
    assert again.data.fingerprint == log.data.fingerprint


@pytest.mark.parametrize(("document", "name"), [(None, "a"), ("fields.documentid", "id:shop:product::a"), ("sku", "7")])
def test_document_ids_of_vespa(document, name):
    response = vespa_response({"a": DOCUMENTS["a"]})
    response["root"]["children"][0]["fields"]["sku"] = 7
    log = rf.read_feature_log({"q": response}, {"q": {name: 1}}, document=document)
    assert log.data.document_ids.tolist() == [name]


def test_grouped_hits_of_vespa_are_found():
    response = vespa_response(DOCUMENTS)
    inner = response["root"]["children"]
    response["root"]["children"] = [
        {"id": "group:root:0", "children": [{"id": "grouplist:brand", "children": [{"id": "g", "children": inner}]}]},
        {"id": "grouplist:empty"},
    ]
    assert rf.read_feature_log({"q": response}, JUDGMENTS).matched == 2


@pytest.mark.parametrize("field", ["fv", '{"a":1}'])
def test_the_field_of_solr_may_have_another_name_and_hold_json(field):
    response = solr_response({"a": {}})
    response["response"]["docs"][0] = {"id": "a", field: '{"title": 3.5, "price": NaN}'}
    log = rf.read_feature_log({"q": response}, {"q": {"a": 1}}, entry=field)
    assert np.array_equal(log.data.features, np.float32([[3.5, NAN]]), equal_nan=True)


def test_names_of_solr_may_hold_signs_of_equality():
    response = solr_response({"a": {}})
    response["response"]["docs"][0]["[features]"] = "tf=idf=2.5,x=-1e-3"
    log = rf.read_feature_log({"q": response}, {"q": {"a": 1}})
    assert dict(zip(log.data.feature_names, log.data.features[0].tolist(), strict=True)) == {
        "tf=idf": 2.5,
        "x": pytest.approx(-1e-3),
    }


def test_documents_without_a_log_and_partial_responses_are_counted():
    response = plugin_response(DOCUMENTS) | {"timed_out": True}
    del response["hits"]["hits"][1]["fields"]
    log = rf.read_feature_log({"q": response}, JUDGMENTS)
    assert (log.counts.documents_without_features, log.counts.partial_responses, log.counts.responses) == (1, 1, 1)
    assert "documents without features, left out: 1" in str(log)
    assert "partial, says the engine" in str(log)


def test_a_client_wraps_responses():
    class Answer:
        body = plugin_response(DOCUMENTS)

    assert rf.read_feature_log({"q": Answer()}, JUDGMENTS).matched == 2
    assert rf.read_feature_log([{"qid": "q", "response": Answer.body}], JUDGMENTS).matched == 2


def test_repeated_documents_must_agree_unless_it_is_said_which_count():
    later = plugin_response({"a": {"title": 1.0, "price": 9.0}})
    source = [{"qid": "q", "response": plugin_response(DOCUMENTS)}, {"qid": "q", "response": later}]
    with pytest.raises(
        rf.DataError, match=r"record 1\.response\.hits\.hits\[0\]: document 'a' of query 'q' came before"
    ):
        rf.read_feature_log(source, JUDGMENTS)
    for repeated, title in (("first", 3.5), ("last", 1.0)):
        log = rf.read_feature_log(source, JUDGMENTS, repeated=repeated)
        assert log.data.features[0, 0] == title
        assert log.counts.repeated_documents == 1
    same = rf.read_feature_log([source[0], source[0]], JUDGMENTS)
    assert same.counts.repeated_documents == 2
    assert same.data.n_documents == 2


# -------------------------------------------------------------------------------------------------------- feature sets

FEATURE_SET = [{"name": "price", "params": [], "template": {}}, {"name": "title", "params": ["keywords"]}]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"featureset": {"name": "shop", "features": FEATURE_SET}}),
        json.dumps({"_index": ".ltrstore", "_source": {"featureset": {"features": FEATURE_SET}}}, indent=1),
        json.dumps({"name": "shop", "features": FEATURE_SET}),
        json.dumps([{"name": "price", "class": "x", "store": "s"}, {"name": "title"}], indent=1),
        json.dumps(["price", "title"]),
        "price\ntitle\n\n",
    ],
)
def test_feature_sets_of_files(tmp_path, content):
    path = tmp_path / "features.json"
    path.write_text(content)
    log = rf.read_feature_log({"q": plugin_response(DOCUMENTS)}, JUDGMENTS, features=path)
    assert log.data.feature_names == ("price", "title")
    same = rf.read_feature_log({"q": plugin_response(DOCUMENTS)}, JUDGMENTS, features=log.data)
    assert same.data.fingerprint == log.data.fingerprint


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "at least one feature"),
        (["a", "a"], "two features of the feature set are named 'a'"),
        ([1], "the name of a feature is text, not 1"),
        ({"x": 1}, "there are no 'features'"),
        ({"features": [{"nam": "a"}]}, r"feature set\.features\[0\]: there is no 'name'"),
        (5, "a feature set is a list of names"),
    ],
)
def test_what_is_no_feature_set_is_refused(given, words):
    with pytest.raises(rf.DataError, match=words):
        rf.read_feature_log({"q": plugin_response(DOCUMENTS)}, JUDGMENTS, features=given)


# ------------------------------------------------------------------------------------------------------------ mistakes


def broken(change) -> dict[str, Any]:
    response = json.loads(json.dumps(plugin_response(DOCUMENTS)))
    change(response["hits"]["hits"][1])
    return response


def log_of(hit: dict[str, Any]) -> list[Any]:
    return hit["fields"]["_ltrlog"][0]["main"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda hit: hit.pop("_id"), r"hits\.hits\[1\]: there is no '_id'"),
        (lambda hit: hit.update(_id=1.5), r"hits\.hits\[1\]\._id: an id is text or a whole number, not 1\.5"),
        (lambda hit: hit.update(_id=""), "an id is text or a whole number"),
        (lambda hit: hit.update(_id="x\0"), "NUL"),
        (lambda hit: hit.update(_id="x" * 5000), "5,000 characters"),
        (lambda hit: hit.update(fields=[1]), r"hits\.hits\[1\]\.fields: an object is needed, not a list"),
        (lambda hit: log_of(hit).append(7), r"main\[2\]: an object is needed, not a number"),
        (lambda hit: log_of(hit).append({"value": 1.0}), r"main\[2\]: there is no 'name'"),
        (lambda hit: log_of(hit).append({"name": "price"}), "feature 'price' is logged twice"),
        (lambda hit: log_of(hit)[1].update(value="4"), r"main\[1\]\.value: the value .* is a number, not '4'"),
        (lambda hit: log_of(hit)[1].update(value=True), "a number, not True"),
        (lambda hit: log_of(hit)[1].update(value=1e39), "beyond float32"),
        (lambda hit: log_of(hit)[1].update(value=10**400), "beyond float32"),
        (lambda hit: log_of(hit)[1].update(value=float("inf")), "infinite"),
        (lambda hit: hit["fields"]["_ltrlog"].append({"other": []}), "several log entries: 'main', 'other'"),
    ],
)  # fmt: skip
def test_mistakes_in_a_response_are_told_with_their_place(tmp_path, change, words):
    path = tmp_path / "log.jsonl"
    path.write_text(lines({"qid": "x", "response": RESPONSE}) + lines({"qid": "q", "response": broken(change)}))
    with pytest.raises(rf.FileFormatError, match=words) as raised:
        rf.read_feature_log(path, JUDGMENTS)
    assert raised.value.line == 2
    assert "log.jsonl, line 2: response.hits.hits" in str(raised.value)


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("", None, "the file holds no response"),
        ("\n \n", None, "the file holds no response"),
        ("[]", None, "the file holds no response"),
        ('{"qid": "q",\n "response": {"hits": }\n}', 2, "not JSON: Expecting value"),
        (lines({"qid": "q", "response": RESPONSE}) + '{"qid": ', 2, "not JSON"),
        ("[" * 100_000, 1, "nested too deeply"),
        ('"text"', 1, "an object is needed, not text"),
        ('{"took": 3}', 1, "this is no search response"),
        ('{"error": {"type": "parsing_exception"}, "status": 400}', 1, "the engine answered with an error"),
        ('{"root": {"errors": [{"code": 8, "message": "No such rank profile"}]}}', 1, "No such rank profile"),
        (lines(RESPONSE), 1, "the query id of the response is not known"),
        (b"\xff\xfe{", 1, "not UTF-8"),
        (b"\x1f\x8b\x08\x00broken", None, "damaged or cut off"),
    ],
)
def test_files_that_are_no_logs_are_refused(tmp_path, content, line, words):
    path = tmp_path / "log.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(rf.FileFormatError, match=words) as raised:
        rf.read_feature_log(path, JUDGMENTS)
    assert raised.value.line == line


def test_files_that_cannot_be_opened(tmp_path):
    for path, words in ((tmp_path, "directory"), (tmp_path / "nothing.json", "no such file")):
        with pytest.raises(rf.FileFormatError, match=words):
            rf.read_feature_log(path)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("title=3.5,price", "not name=value: 'price'"),
        ("=1.0", "not name=value"),
        ("title=x", "a number, not 'x'"),
        ("title=1_0", "infinite or beyond|a number"),
        ("title=Infinity", "infinite"),
        ("title=1.0,title=2.0", "feature 'title' is logged twice"),
        ('{"title": 1', "begin like JSON"),
        ([1], "an object is needed"),
    ],
)
def test_mistakes_in_features_of_solr(field, words):
    response = solr_response(DOCUMENTS)
    response["response"]["docs"][1]["[features]"] = field
    with pytest.raises(rf.DataError, match=rf"response\.docs\[1\]\.\[features\].*({words})"):
        rf.read_feature_log({"q": response}, JUDGMENTS)


def test_a_tensor_of_vespa_is_no_feature():
    response = vespa_response({"a": {"closeness": {"type": "tensor(x[2])", "values": [1, 2]}}})  # type: ignore[dict-item]
    with pytest.raises(rf.DataError, match=r"matchfeatures\.closeness: a tensor is no feature"):
        rf.read_feature_log({"q": response}, JUDGMENTS)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("file", "not read from a file"),
        ("meta.id", "there is no 'meta.id'"),
        (
            "named:id=",
            r"one named query with an id behind 'id=' is needed; matched_queries: 'logged_featureset', 'qid=q'",
        ),
    ],
)
def test_query_ids_that_are_not_there(query, words):
    with pytest.raises(rf.DataError, match=words):
        rf.read_feature_log({"q": RESPONSE}, JUDGMENTS, query=query)


def test_ids_that_have_nothing_in_common_are_shown():
    with pytest.raises(
        rf.DataError, match="log has query 'q' with document 'a', the judgments query '1' with document"
    ):
        rf.read_feature_log({"q": RESPONSE}, {1: {"a": 1}})
    with pytest.raises(rf.DataError, match="the judgments are empty"):
        rf.read_feature_log({"q": RESPONSE}, {})
    with pytest.raises(rf.DataError, match="no document of the log has features"):
        rf.read_feature_log({"q": plugin_response({})}, JUDGMENTS)
