"""The lists of a click log as data to learn from: every list that was shown is a query of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.console.wording import counted
from rankforce.data.clicks.keys import QueryKey, QueryKeys
from rankforce.data.clicks.session_logs import LogChunk, checked_columns, log_name, read_log
from rankforce.data.dataset import MAIN_LABEL, Dataset, check_dataset
from rankforce.errors import DataError, RankforceWarning, warn
from rankforce.files.limits import within_memory
from rankforce.kinds import OrNone, Switch, Text
from rankforce.memory import check_memory
from rankforce.remedies import DOCUMENT_IDS, Argument

_CHUNK_ROWS = 1 << 20


class UnknownDocumentsWarning(RankforceWarning):
    """Some documents of a log are not in the data."""


def click_sessions(
    log: Any,
    data: Dataset,
    *,
    name: str = "clicks",
    query_key: str | QueryKey | None = None,
    session: str | None = None,
    query: str | None = None,
    document: str | None = None,
    position: str | None = None,
    clicked: str | None = None,
    progress: bool | None = None,
) -> Dataset:
    """The lists of a log that have a click, each as a query of its own, with the features of the data.

    A list is what one session was shown for one query; its id is ``SESSION/QUERY``. A document has the label
    ``"clicks"``, 1 or 0, the label ``"position"``, and the labels and weights of its row in the data. Lists without a
    click tell no document from another and are left out; so are documents that the data does not have, with a warning.

    Parameters
    ----------
    log : path, data frame, simulated log, or an iterable of these
        As for ``click_labels``.
    data : Dataset
        Queries and documents with ids as in the log, and their features.
    name : str
        The label source of the clicks.
    query_key, session, query, document, position, clicked, progress
        As for ``click_labels``.
    """
    check_dataset(data)
    Text("the name of a label source").check("name", name)
    OrNone(Switch()).check("progress", progress)
    keys = QueryKeys(query_key)
    names = checked_columns(
        session=session, query=query, document=document, position=position, clicked=clicked, key=keys.column
    )
    lists = _Lists(data, keys)
    with within_memory(log_name(log)):
        for chunk in read_log(log, names, _CHUNK_ROWS, progress):
            lists.add(chunk)
        return lists.dataset(name)


class _Lists:
    """The rows of a log that the data knows."""

    def __init__(self, data: Dataset, keys: QueryKeys) -> None:
        if data.document_ids is None:
            raise DataError("the data has no document ids, which the log is joined by: ", DOCUMENT_IDS)
        self._data = data
        self._keys = keys
        self._queries: dict[str, int] = {}
        for number, one in enumerate(data.query_ids.tolist()):
            self._queries.setdefault(keys.of(str(one)), number)
        self._documents: dict[str, int] = {}
        codes = [self._documents.setdefault(str(one), len(self._documents)) for one in data.document_ids.tolist()]
        pairs = (data.row_queries.astype(np.int64) << 32) | np.array(codes, dtype=np.int64)
        self._order = np.argsort(pairs, kind="stable")
        self._pairs = pairs[self._order]
        twice = np.flatnonzero(np.diff(self._pairs) == 0)
        if len(twice):
            row = int(self._order[twice[0]])
            raise DataError(
                f"the data has document {str(data.document_ids[row])!r} of query {str(data.qid[row])!r} twice: which "
                "of them was shown cannot be told"
            )
        self._lists: dict[tuple[str, int], int] = {}
        self._parts: list[tuple[np.ndarray, ...]] = []  # list, row, clicked, position
        self._rows = self._unknown = 0

    def add(self, chunk: LogChunk) -> None:
        self._keys.learn(chunk)
        self._rows += len(chunk)
        known_queries = [self._queries.get(self._keys.of(one), -1) for one in chunk.query.values]
        queries = np.array(known_queries, dtype=np.int64)[chunk.query.codes]
        known_documents = [self._documents.get(one, -1) for one in chunk.document.values]
        documents = np.array(known_documents, dtype=np.int64)[chunk.document.codes]
        pairs = np.where((queries < 0) | (documents < 0), -1, (queries << 32) | documents)
        places = np.minimum(np.searchsorted(self._pairs, pairs), len(self._pairs) - 1)
        kept = np.flatnonzero(self._pairs[places] == pairs)
        self._unknown += len(chunk) - len(kept)
        sessions = chunk.session.codes[kept]
        combined, inverse = np.unique((sessions << 32) | queries[kept], return_inverse=True)
        numbers = [
            self._lists.setdefault((chunk.session.values[one >> 32], one & 0xFFFFFFFF), len(self._lists))
            for one in combined.tolist()
        ]
        position = np.full(len(chunk), np.nan) if chunk.position is None else chunk.position
        self._parts.append(
            (
                np.array(numbers, dtype=np.int64)[inverse],
                self._order[places[kept]],
                chunk.clicked[kept],
                position[kept],
            )
        )

    def dataset(self, name: str) -> Dataset:
        if not self._parts or self._rows == self._unknown:
            raise DataError(
                "no document of the log is in the data: ids are compared as text; ",
                Argument("query_key"),
                " can bring queries together",
            )
        lists, rows, clicked, position = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        kept = np.bincount(lists, clicked, len(self._lists))[lists] > 0.0
        if not kept.any():
            raise DataError("no list of the log has a click: there is nothing to learn from")
        if self._unknown:
            warn(
                f"{self._unknown:,} of {counted(self._rows, 'row')} of the log show documents that the data does not "
                "have: they are left out",
                UnknownDocumentsWarning,
            )
        return self._of(lists[kept], rows[kept], clicked[kept], position[kept], name)

    def _of(self, lists: np.ndarray, rows: np.ndarray, clicked: np.ndarray, position: np.ndarray, name: str) -> Dataset:
        data = self._data
        assert data.document_ids is not None
        width = data.n_features
        check_memory(
            4 * len(rows) * width,
            "the lists of the log",
            f"{len(rows):,} documents shown × {width:,} features × 4 bytes",
            "take fewer sessions, or make one label per document of the whole log",
        )
        ids = np.array([f"{session}/{data.query_id(query)}" for session, query in self._lists], dtype=object)
        labels = {one: values[rows] for one, values in data.labels.items()}
        labels |= {name: clicked.astype(dtypes.LABEL), "position": position.astype(dtypes.LABEL)}
        return Dataset(
            data.features[rows],
            labels.pop(MAIN_LABEL, None),
            ids[lists],
            labels=labels,
            weights=None if data.weights is None else data.weights[rows],
            query_weights=None if data.query_weights is None else data.query_weights[data.row_queries[rows]],
            feature_names=data.feature_names,
            document_ids=data.document_ids[rows],
        )
