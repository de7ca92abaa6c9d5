"""What a log showed of the queries of a data set: every impression with its position, and how often lists were shown.

A view is a list that a session was shown for a query. Where a document stands twice under one query of a session, the
list was shown twice: a session has as many views of a query as its most repeated document has rows. Rows are brought
into an order of their own, so that no sum depends on that of the log.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.data.clicks.keys import QueryKeys
from rankforce.data.clicks.session_logs import LogChunk, log_name, positions_of, read_log
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError
from rankforce.files.limits import within_memory
from rankforce.remedies import DOCUMENT_IDS, Argument

_CHUNK_ROWS = 1 << 20


@dataclasses.dataclass(frozen=True)
class LoggedViews:
    """The impressions of a log that belong to queries of a data set, by session, query and position.

    query, session : int64 (impressions): numbers from 0; sessions in the order of their names
    row : int64 (impressions): the row of the document in the data; −1: the data does not have it
    position : int64 (impressions), from 1
    clicked : bool (impressions)
    view_query, view_session, view_count : int64, of every session and query: how often its list was shown
    other_rows : rows of the log with queries that the data does not have
    """

    query: np.ndarray
    session: np.ndarray
    row: np.ndarray
    position: np.ndarray
    clicked: np.ndarray
    view_query: np.ndarray
    view_session: np.ndarray
    view_count: np.ndarray
    n_sessions: int
    other_rows: int


def read_views(
    log: Any, data: Dataset, keys: QueryKeys, names: Mapping[str, str | None], progress: bool | None = None
) -> LoggedViews:
    """The views of a log (as for ``click_labels``) of the queries of a data set, joined by ids."""
    viewing = _Viewing(data, keys)
    with within_memory(log_name(log)):
        for chunk in read_log(log, names, _CHUNK_ROWS, progress):
            viewing.add(chunk)
        return viewing.views()


class _Viewing:
    """Rows of a log, joined with a data set chunk by chunk."""

    def __init__(self, data: Dataset, keys: QueryKeys) -> None:
        if data.document_ids is None:
            raise DataError("the data has no document ids, which the log is joined by: ", DOCUMENT_IDS)
        self._keys = keys
        self._data = data
        self._queries: dict[str, int] = {}
        self._rows: dict[tuple[int, str], int] = {}
        self._sessions: dict[str, int] = {}
        self._strangers: dict[str, int] = {}  # documents that the data does not have under their query
        self._parts: list[tuple[np.ndarray, ...]] = []  # query, session, row, position, clicked
        self._other_rows = 0

    def add(self, chunk: LogChunk) -> None:
        self._keys.learn(chunk)
        self._number_queries()  # a column of keys may have told some
        codes = np.array([self._queries.get(self._keys.of(one), -1) for one in chunk.query.values], dtype=np.int64)
        query = codes[chunk.query.codes]
        kept = np.flatnonzero(query >= 0)
        self._other_rows += len(chunk) - len(kept)
        query = query[kept]
        sessions = [self._sessions.setdefault(one, len(self._sessions)) for one in chunk.session.values]
        session = np.array(sessions, dtype=np.int64)[chunk.session.codes[kept]]
        pairs, places = np.unique((query << 32) | chunk.document.codes[kept], return_inverse=True)
        rows = [self._row(pair >> 32, chunk.document.values[pair & 0xFFFFFFFF]) for pair in pairs.tolist()]
        row = np.array(rows, dtype=np.int64)[places]
        self._parts.append((query, session, row, positions_of(chunk)[kept], chunk.clicked[kept]))

    def views(self) -> LoggedViews:
        if not sum(len(part[0]) for part in self._parts):
            rows = "no rows" if not self._other_rows else "no row with a query of the data"
            raise DataError(
                f"the log has {rows}: ids are compared as text; ", Argument("query_key"), " can bring queries together"
            )
        query, session, row, position, clicked = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        if clicked.all():
            raise DataError("every row of the log is a click: what was shown and not clicked must be in it, too")
        names = list(self._sessions)
        ranks = np.empty(len(names), dtype=np.int64)
        ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
        used, session = np.unique(ranks[session], return_inverse=True)
        order = np.lexsort((clicked, row, position, query, session))
        query, session, row, position, clicked = (one[order] for one in (query, session, row, position, clicked))
        view_query, view_session, view_count = _view_counts(query, session, row)
        return LoggedViews(
            query, session, np.maximum(row, -1), position, clicked, view_query, view_session, view_count, len(used),
            self._other_rows,
        )  # fmt: skip

    def _number_queries(self) -> None:
        if self._queries and self._keys.column is None:
            return
        data = self._data
        self._queries, self._rows = self._keys.numbers_of(data.query_ids.tolist()), {}
        assert data.document_ids is not None
        documents = zip(data.row_queries.tolist(), data.document_ids.tolist(), strict=True)
        for row, (query, document) in enumerate(documents):
            if self._rows.setdefault((query, str(document)), row) != row:
                raise DataError(
                    f"the data has document {str(document)!r} of query {str(data.query_ids[query])!r} twice: which of "
                    "them was shown cannot be told"
                )

    def _row(self, query: int, document: str) -> int:
        """The row of a document; below −1 for those that the data does not have, so that they are told apart."""
        found = self._rows.get((query, document))
        return -2 - self._strangers.setdefault(document, len(self._strangers)) if found is None else found


def _view_counts(query: np.ndarray, session: np.ndarray, row: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, session and number of views; rows are ordered by session and query."""
    order = np.lexsort((row, query, session))
    query, session, row = query[order], session[order], row[order]
    new_list = np.ones(len(query), dtype=bool)
    new_list[1:] = (np.diff(session) != 0) | (np.diff(query) != 0)
    new_document = new_list.copy()
    new_document[1:] |= np.diff(row) != 0
    documents = np.flatnonzero(new_document)
    repeats = np.diff(np.append(documents, len(row)))
    lists = np.flatnonzero(new_list[documents])
    return query[documents][lists], session[documents][lists], np.maximum.reduceat(repeats, lists)
