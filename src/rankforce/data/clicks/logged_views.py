"""What a log showed of the queries of a data set: every impression with its position, and how often lists were shown.

A view is a list that a session was shown for a query. Where a document stands twice under one query of a session, the
list was shown twice: a session has as many views of a query as its most repeated document has rows. Rows are brought
into an order of their own, so that no sum depends on that of the log.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
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
    """Rows of a log, joined with a data set when all of them were seen.

    A column of keys says only with the last row which queries of the log are one of the data's: until then all rows
    are kept. Without such a column, what the data does not have is let go of at once.
    """

    def __init__(self, data: Dataset, keys: QueryKeys) -> None:
        if data.document_ids is None:
            raise DataError("the data has no document ids, which the log is joined by: ", DOCUMENT_IDS)
        self._keys = keys
        self._data = data
        self._rows: dict[tuple[int, str], int] = {}
        documents = zip(data.row_queries.tolist(), data.document_ids.tolist(), strict=True)
        for row, (query, document) in enumerate(documents):
            if self._rows.setdefault((query, str(document)), row) != row:
                raise DataError(
                    f"the data has document {str(document)!r} of query {str(data.query_ids[query])!r} twice: which of "
                    "them was shown cannot be told"
                )
        self._known = self._query_numbers() if keys.column is None else None
        self._queries: dict[str, int] = {}  # of the log, as sessions and documents
        self._sessions: dict[str, int] = {}
        self._documents: dict[str, int] = {}
        self._parts: list[tuple[np.ndarray, ...]] = []  # query, session, document, position, clicked
        self._other_rows = 0

    def add(self, chunk: LogChunk) -> None:
        self._keys.learn(chunk)
        kept = np.arange(len(chunk))
        if self._known is not None:
            known = np.array([self._keys.of(one) in self._known for one in chunk.query.values], dtype=bool)
            kept = np.flatnonzero(known[chunk.query.codes])
        self._other_rows += len(chunk) - len(kept)
        self._parts.append(
            (
                _numbered(self._queries, chunk.query.values, chunk.query.codes[kept]),
                _numbered(self._sessions, chunk.session.values, chunk.session.codes[kept]),
                _numbered(self._documents, chunk.document.values, chunk.document.codes[kept]),
                positions_of(chunk)[kept],
                chunk.clicked[kept],
            )
        )

    def views(self) -> LoggedViews:
        query, session, row, position, clicked = self._joined()
        if not len(query):
            rows = "no rows" if not self._other_rows else "no row with a query of the data"
            raise DataError(
                f"the log has {rows}: ids are compared as text; ", Argument("query_key"), " can bring queries together"
            )
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

    def _joined(self) -> list[np.ndarray]:
        """Query and row of the data, session, position and clicked of all rows of its queries.

        The row is below −1 for documents that the data does not have, so that they are told apart.
        """
        columns = [np.concatenate(part) for part in zip(*self._parts, strict=True)] or [np.empty(0, np.int64)] * 5
        numbers = self._query_numbers()
        of_log = np.array([numbers.get(self._keys.of(one), -1) for one in self._queries], dtype=np.int64)
        query = of_log[columns[0]]
        kept = np.flatnonzero(query >= 0)
        self._other_rows += len(query) - len(kept)
        query, session, document, position, clicked = (one[kept] for one in (query, *columns[1:]))
        names = list(self._documents)
        pairs, places = np.unique((query << 32) | document, return_inverse=True)
        found = [
            self._rows.get((pair >> 32, names[pair & 0xFFFFFFFF]), -2 - (pair & 0xFFFFFFFF)) for pair in pairs.tolist()
        ]
        return [query, session, np.array(found, dtype=np.int64)[places], position, clicked]

    def _query_numbers(self) -> dict[str, int]:
        return self._keys.numbers_of(self._data.query_ids.tolist())


def _numbered(numbers: dict[str, int], values: Sequence[str], codes: np.ndarray) -> np.ndarray:
    """Places in a list of names as numbers of these names, which are counted as they come."""
    used, places = np.unique(codes, return_inverse=True)
    found = [numbers.setdefault(values[code], len(numbers)) for code in used.tolist()]
    return np.array(found, dtype=np.int64)[places]


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
