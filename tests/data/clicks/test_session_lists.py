"""The lists of a log as data: joined by ids, row by row."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.data.clicks import session_lists
from rankforce.data.clicks.session_lists import UnknownDocumentsWarning

pandas = pytest.importorskip("pandas")


@pytest.fixture
def data():
    return rf.Dataset(
        [[1.0], [2.0], [3.0], [4.0]], [0, 1, 2, 0], ["q", "q", "r", "r"], document_ids=["a", "b", "a", "c"]
    )


def frame(*rows):
    return pandas.DataFrame(rows, columns=["session", "query", "document", "position", "clicked"])


def test_every_list_with_a_click_is_a_query(data):
    log = frame(
        (1, "q", "a", 1, 0), (2, "r", "c", 1, 1), (1, "q", "b", 2, 1), (2, "r", "a", 2, 0), (3, "q", "b", 1, 0),
        (1, "r", "a", 1, 1),
    )  # fmt: skip
    lists = rf.click_sessions(log, data)
    rows = list(
        zip(
            lists.qid, lists.document_ids, lists.features[:, 0], lists.label("clicks"), lists.label("position"),
            lists.label(), strict=True,
        )
    )  # fmt: skip
    assert rows == [
        ("1/q", "a", 1.0, 0.0, 1.0, 0.0),
        ("2/r", "c", 4.0, 1.0, 1.0, 0.0),
        ("1/q", "b", 2.0, 1.0, 2.0, 1.0),
        ("2/r", "a", 3.0, 0.0, 2.0, 2.0),
        ("1/r", "a", 3.0, 1.0, 1.0, 2.0),
    ]


def test_a_simulated_log_comes_back_row_by_row():
    data = rf.make_artificial(queries=30, documents=7, features=4, seed=1)
    data = data.replace(query_weights=np.arange(30) + 1.0, weights=np.arange(210) / 100.0)
    log = rf.simulate_clicks(data, "1", 5, positions=4, exchange="shuffle", seed=2)
    lists = rf.click_sessions(log, log.data, label="opened")
    clicked = np.bincount(log.session, log.clicked) > 0
    kept = clicked[log.session]
    assert lists.n_queries == clicked.sum()
    assert lists.features.tolist() == data.features[log.row[kept]].tolist()
    assert lists.label("opened").tolist() == log.clicked[kept].tolist()
    assert lists.label("position").tolist() == log.position[kept].tolist()
    assert lists.weights.tolist() == data.weights[log.row[kept]].tolist()
    assert (
        lists.query_weights.sum()
        == (np.bincount(log.session, data.query_weights[data.row_queries[log.row]]) / 4)[clicked].sum()
    )


def test_documents_that_the_data_lacks_are_left_out_aloud(data):
    log = frame((1, "q", "a", 1, 1), (1, "q", "zz", 2, 0), (1, "q", "b", 3, 0))
    with pytest.warns(UnknownDocumentsWarning, match="1 of 3 rows"):
        lists = rf.click_sessions(log, data)
    assert lists.document_ids.tolist() == ["a", "b"]
    assert lists.label("position").tolist() == [1.0, 3.0]


def test_queries_are_brought_together_by_keys(data):
    log = frame((1, "Q", "a", 1, 1), (1, "Q", "b", 2, 0))
    assert rf.click_sessions(log, data, query_key=str.lower).qid.tolist() == ["1/q", "1/q"]
    with pytest.raises(rf.DataError, match="no document of the log is in the data"):
        rf.click_sessions(log, data)


def test_what_cannot_be_joined_is_refused(data):
    log = frame((1, "q", "a", 1, 0), (1, "q", "b", 2, 0))
    with pytest.raises(rf.DataError, match="no list of the log has a click"):
        rf.click_sessions(log, data)
    with pytest.raises(rf.DataError, match="no document ids"):
        rf.click_sessions(log, rf.Dataset([[1.0]], [1], ["q"]))
    with pytest.raises(rf.DataError, match="twice"):
        rf.click_sessions(log, rf.Dataset([[1.0], [2.0]], [1, 0], ["q", "q"], document_ids=["a", "a"]))
    with pytest.raises(rf.SettingsError):
        rf.click_sessions(log, data, label="")


def test_chunks_do_not_matter(monkeypatch):
    data = rf.make_artificial(queries=10, documents=7, features=4, seed=1)
    log = rf.simulate_clicks(data, "1", 5, seed=2)
    whole = rf.click_sessions(log, log.data)
    monkeypatch.setattr(session_lists, "_CHUNK_ROWS", 7)
    parts = rf.click_sessions(log, log.data)
    assert parts.fingerprint == whole.fingerprint


def test_categories_go_along(data):
    features = np.column_stack([data.features, [0, 1, 2, 0]])
    coloured = rf.Dataset(
        features, data.label(), data.qid, document_ids=data.document_ids,
        feature_names=["size", "colour"], categories={"colour": ["red", "blue", "green"]},
    ).with_origins({"colour": "paint"}, {"label": "grade"})  # fmt: skip
    lists = rf.click_sessions(frame((1, "q", "a", 1, 0), (1, "q", "b", 2, 1)), coloured)
    assert lists.categories == coloured.categories
    assert lists.features.tolist() == [[1.0, 0.0], [2.0, 1.0]]
    assert (lists.origins, lists.roles) == (coloured.origins, coloured.roles)


@pytest.mark.parametrize("chunk", [1, 1000])
def test_a_column_of_keys_joins_the_queries_it_names(data, monkeypatch, chunk):
    monkeypatch.setattr(session_lists, "_CHUNK_ROWS", chunk)
    log = frame((1, "q", "a", 1, 1), (1, "q", "b", 2, 0), (2, "r", "c", 1, 1)).assign(key=["k", "k", "r"])
    lists = rf.click_sessions(log, data, query_key="key")
    assert lists.qid.tolist() == ["1/q", "1/q", "2/r"]
    assert lists.features[:, 0].tolist() == [1.0, 2.0, 4.0]
    crossed = log.assign(key=["r", "r", "q"])  # each the name of the other
    assert rf.click_sessions(crossed, data, query_key="key").features[:, 0].tolist() == [1.0, 2.0, 4.0]


def test_two_queries_of_the_data_under_one_key_are_refused(data):
    log = frame((1, "R", "a", 1, 1), (1, "R", "c", 2, 0))
    two = rf.Dataset(data.features, qid=["r", "r", "R", "R"], document_ids=["a", "c", "a", "c"])
    with pytest.raises(rf.DataError, match="several queries that count as one, 'r'"):
        rf.click_sessions(log, two, query_key=str.lower)
    with pytest.raises(rf.DataError, match="several queries that count as one, 'k'"):
        rf.click_sessions(frame((1, "r", "a", 1, 1), (1, "R", "c", 2, 0)).assign(key="k"), two, query_key="key")


def test_slashes_in_names_mix_up_no_lists():
    data = rf.Dataset([[1.0], [2.0], [3.0], [4.0]], qid=["c", "c", "b/c", "b/c"], document_ids=["x", "y", "x", "y"])
    log = frame(("a/b", "c", "x", 1, 1), ("a/b", "c", "y", 2, 0), ("a", "b/c", "x", 1, 1), ("a", "b/c", "y", 2, 0))
    lists = rf.click_sessions(log, data)
    assert lists.qid.tolist() == ["a/b/c", "a/b/c", "a/b/c:2", "a/b/c:2"]
    assert lists.features[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0]
