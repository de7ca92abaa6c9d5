"""Views of a log do not depend on the chunks in which it is read."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.data.clicks import logged_views
from rankforce.data.clicks.keys import QueryKeys
from rankforce.data.clicks.logged_views import LoggedViews, read_views
from rankforce.data.clicks.session_logs import checked_columns

pd = pytest.importorskip("pandas")

DATA = rf.Dataset(
    np.zeros((5, 1)), [0] * 5, ["shoes", "shoes", "red shoes", "hats", "hats"], document_ids=list("abcde")
)
# The key of "shoes" is told by its first row, which is the seventh: rows of "Shoes" before it are its rows, too. "caps"
# has the key "hats", which is a query of the data until that has a key of its own.
LOG = [
    ("s1", "Shoes", "footwear", "a", 1, 1),
    ("s1", "Shoes", "footwear", "b", 2, 0),
    ("s1", "caps", "hats", "d", 1, 1),
    ("s1", "red shoes", "red", "c", 1, 0),
    ("s2", "Shoes", "footwear", "b", 1, 0),
    ("s2", "Shoes", "footwear", "x", 2, 0),
    ("s3", "shoes", "footwear", "a", 1, 0),
    ("s3", "shoes", "footwear", "y", 2, 1),
    ("s4", "hats", "headwear", "e", 1, 0),
]


def views(monkeypatch: pytest.MonkeyPatch, rows: int, key: Any) -> LoggedViews:
    log = pd.DataFrame(LOG, columns=["session", "query", "key", "document", "position", "clicked"])
    monkeypatch.setattr(logged_views, "_CHUNK_ROWS", rows)
    keys = QueryKeys(key)
    roles = ("session", "query", "document", "position", "clicked")
    return read_views(log, DATA, keys, checked_columns(**dict.fromkeys(roles), key=keys.column))


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 100])
def test_a_column_of_keys_counts_from_the_first_row(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = views(monkeypatch, rows, "key")
    assert found.query.tolist() == [0, 0, 1, 0, 0, 0, 0, 2]
    assert found.session.tolist() == [0, 0, 0, 1, 1, 2, 2, 3]
    assert found.row.tolist() == [0, 1, 2, 1, -1, 0, -1, 4]
    assert found.view_query.tolist() == [0, 1, 0, 0, 2]
    assert found.view_count.tolist() == [1, 1, 1, 1, 1]
    assert (found.n_sessions, found.other_rows) == (4, 1)


@pytest.mark.parametrize("key", [None, str.lower, {"Shoes": "shoes", "caps": "hats"}])
def test_chunks_change_nothing(key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = views(monkeypatch, 100, key)
    for rows in (1, 2, 4):
        found = views(monkeypatch, rows, key)
        for field in dataclasses.fields(LoggedViews):
            np.testing.assert_array_equal(getattr(found, field.name), getattr(expected, field.name))
