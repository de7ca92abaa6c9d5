"""Judgments of every form, and the join, against a slow twin."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.feature_logs.engine_responses import plugin_response, solr_response, vespa_response

import rankforce as rf
from rankforce.data.feature_logs.judgments import read_judgments

EXPECTED = {("1", "a"): 2.0, ("1", "b"): 0.0, ("2", "a"): 1.5}


def test_every_form_gives_the_same_judgments(tmp_path):
    qrels = tmp_path / "judgments.qrels"
    qrels.write_text("1 0 a 2\n1 0 b 0\n1 0 c -1\n2 0 a 1.5\n")
    table = tmp_path / "judgments.csv"
    table.write_text("grade,query,qid,Document\n2,shoes,1,a\n0,shoes,1,b\n,shoes,1,c\n1.5,boots,2,a\n")
    tabbed = tmp_path / "judgments.tsv"
    tabbed.write_text("query_id\tdocid\trelevance\n1\ta\t2\n1\tb\t0\n2\ta\t1.5\n")
    frame = pd.DataFrame({"query": [1, 1, 1, 2], "doc": list("abca"), "label": [2, 0, math.nan, 1.5]})
    mapping = {1: {"a": 2, "b": 0, "c": -1}, "2": {"a": 1.5}}
    for form in (qrels, table, tabbed, frame, mapping):
        assert read_judgments(form) == EXPECTED
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "judgments.parquet")
    assert read_judgments(tmp_path / "judgments.parquet") == EXPECTED


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("", None, "the file is empty"),
        ("query;document;grade\n", 1, "there is no ',' in the header"),
        ("query,document\n1,a\n", 1, r"no column says the grade \(label, grade"),
        ("query,document,grade\n1,a,2\n1,a,1\n", 3, "a second grade for this document and query '1'"),
        ("query,document,grade\n1,a\n", 2, "2 cells in a row, the header has 3"),
        ("query,document,grade\n1,,2\n", 2, "the id is missing"),
        ("query,document,grade\n1,a,high\n", 2, "the grade is not a finite number: 'high'"),
        ("query,document,grade\n1,a,inf\n", 2, "not a finite number"),
        ("query,document,grade\n1,a,1_0\n", 2, "not a finite number"),
        ('query,document,grade\n1,"a,1\n', 2, "quotation mark"),
    ],
)
def test_mistakes_in_a_table_are_told_with_their_line(tmp_path, content, line, words):
    path = tmp_path / "judgments.csv"
    path.write_text(content)
    with pytest.raises(rf.FileFormatError, match=words) as raised:
        read_judgments(path)
    assert raised.value.line == line


@pytest.mark.parametrize(
    ("judgments", "words"),
    [
        (5, "judgments are a table"),
        ({"q": 5}, "query 'q' must map documents to grades"),
        ({"q": {"a": "high"}}, "the grade of document 'a' and query 'q' is 'high'"),
        ({"q": {1: 2, "1": 2}}, "document '1' is judged twice"),
        ({1.5: {}}, "query id: an id is text or a whole number"),
        (pd.DataFrame({"query": [1], "document": ["a"]}), "no column says the grade"),
        (pd.DataFrame({"query": [1], "document": [None], "grade": [1]}), "document of row 0 .* is missing"),
        (pd.DataFrame({"query": [1], "document": ["a"], "grade": ["x"]}), "column 'grade' must hold numbers"),
        (pd.DataFrame({"query": [1], "document": ["a"], "grade": [math.inf]}), "the grade is infinite"),
        (pd.DataFrame({"query": [1, 1], "document": ["a", "a"], "grade": [1, 1]}), "judged twice for query '1'"),
    ],
)
def test_what_is_no_judgment_is_refused(judgments, words):
    with pytest.raises(rf.DataError, match=words):
        read_judgments(judgments)


ids = st.text(alphabet="ab1é ", min_size=1, max_size=2)
values = st.one_of(st.none(), st.floats(width=32, allow_nan=False, allow_infinity=False))
logs = st.dictionaries(
    ids, st.dictionaries(ids, st.fixed_dictionaries({"x": values, "y": values}), max_size=4), max_size=4
)
grades = st.dictionaries(ids, st.dictionaries(ids, st.integers(-1, 3), max_size=4), max_size=4)


@settings(max_examples=150, deadline=None)
@given(
    logs, grades, st.sampled_from(["drop", "keep"]), st.sampled_from([plugin_response, vespa_response, solr_response])
)
def test_the_join_is_what_two_loops_find(log, judgments, unjudged, response):
    source = {query: response(documents) for query, documents in log.items()}
    expected = []
    for query, documents in log.items():
        for document, features in documents.items():
            grade = judgments.get(query, {}).get(document, -1)
            if grade >= 0 or unjudged == "keep":
                expected.append((query, document, grade if grade >= 0 else None, features))
    matched = sum(grade is not None for _, _, grade, _ in expected)
    if not matched:
        with pytest.raises(rf.DataError):
            rf.read_feature_log(source, judgments, unjudged=unjudged)
        return
    found = rf.read_feature_log(source, judgments, unjudged=unjudged, features=["y", "x"])
    data = found.data
    filled = 0.0 if response is solr_response else math.nan
    assert data.n_documents == len(expected)
    for row, (query, document, grade, features) in enumerate(expected):
        assert (data.qid[row], data.document_ids[row]) == (query, document)
        assert data.labels["grades"][row] == grade or (grade is None and math.isnan(data.labels["grades"][row]))
        wanted = [filled if features[name] is None else features[name] for name in "yx"]
        assert np.array_equal(data.features[row], np.float32(wanted), equal_nan=True)
    assert found.matched == matched
    judged = sum(grade >= 0 for of_query in judgments.values() for grade in of_query.values())
    assert len(found.judgments_without_features) == judged - matched
    logged = sum(len(documents) for documents in log.values())
    assert len(found.documents_without_judgment) == logged - matched
