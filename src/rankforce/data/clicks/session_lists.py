"""The lists of a click log as data to learn from: every list that was shown is a query of its own."""

from __future__ import annotations

from collections import Counter
from typing import Any, NoReturn

import numpy as np

from rankforce import dtypes
from rankforce.console.wording import counted
from rankforce.data.clicks.keys import QueryKey, QueryKeys
from rankforce.data.clicks.session_logs import LogChunk, checked_columns, log_name, read_log
from rankforce.data.concatenation import told_apart
from rankforce.data.dataset import MAIN_LABEL, Dataset, check_dataset
from rankforce.data.query_groups import Numbered
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
    label: str = "clicks",
    query_key: str | QueryKey | None = None,
    session: str | None = None,
    query: str | None = None,
    document: str | None = None,
    position: str | None = None,
    clicked: str | None = None,
    progress: bool | None = None,
) -> Dataset:
    """The lists of a log that have a click, each as a query of its own, with the features of the data.

    A list is what one session was shown for one query; its id is ``SESSION/QUERY`` (of two that
    are written alike, the second ends in ``:2``). A document has the label
    ``"clicks"``, 1 or 0, the label ``"position"``, and the labels and weights of its row in the data. Lists without a
    click tell no document from another and are left out; so are documents that the data does not have, with a warning.

    Parameters
    ----------
    log : path, data frame, simulated log, or an iterable of these
        As for ``click_labels``.
    data : Dataset
        Queries and documents with ids as in the log, and their features.
    label : str
        The label source of the clicks.
    query_key, session, query, document, position, clicked, progress
        As for ``click_labels``.
    """
    check_dataset(data)
    Text("the name of a label source").check("label", label)
    OrNone(Switch()).check("progress", progress)
    keys = QueryKeys(query_key)
    names = checked_columns(
        session=session, query=query, document=document, position=position, clicked=clicked, key=keys.column
    )
    lists = _Lists(data, keys)
    with within_memory(log_name(log)):
        for chunk in read_log(log, names, _CHUNK_ROWS, progress):
            lists.add(chunk)
        return lists.dataset(label)


class _Lists:
    """The rows of a log that the data knows."""

    def __init__(self, data: Dataset, keys: QueryKeys) -> None:
        if data.document_ids is None:
            raise DataError("the data has no document ids, which the log is joined by: ", DOCUMENT_IDS)
        self._data = data
        self._keys = keys
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
        self._sessions: dict[str, int] = {}
        self._queries: dict[str, int] = {}  # of the log
        self._parts: list[tuple[np.ndarray, ...]] = []  # session, query, document, clicked, position
        self._rows = 0

    def add(self, chunk: LogChunk) -> None:
        self._keys.learn(chunk)
        self._rows += len(chunk)
        known_documents = [self._documents.get(one, -1) for one in chunk.document.values]
        documents = np.array(known_documents, dtype=np.int64)[chunk.document.codes]
        kept = np.flatnonzero(documents >= 0)
        sessions = [self._sessions.setdefault(one, len(self._sessions)) for one in chunk.session.values]
        queries = [self._queries.setdefault(one, len(self._queries)) for one in chunk.query.values]
        position = np.full(len(chunk), np.nan) if chunk.position is None else chunk.position
        self._parts.append(
            (
                np.array(sessions, dtype=np.int64)[chunk.session.codes[kept]],
                np.array(queries, dtype=np.int64)[chunk.query.codes[kept]],
                documents[kept],
                chunk.clicked[kept],
                position[kept],
            )
        )

    def dataset(self, label: str) -> Dataset:
        if not self._parts:
            self._refuse()
        session, query, document, clicked, position = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        query = self._numbers()[query]
        pairs = np.where(query < 0, -1, (query << 32) | document)
        places = np.minimum(np.searchsorted(self._pairs, pairs), len(self._pairs) - 1)
        known = np.flatnonzero(self._pairs[places] == pairs)
        if not len(known):
            self._refuse()
        lists = (session[known] << 32) | query[known]
        _, number = np.unique(lists, return_inverse=True)
        kept = np.bincount(number, clicked[known])[number] > 0.0
        if not kept.any():
            raise DataError("no list of the log has a click: there is nothing to learn from")
        if len(known) < self._rows:
            warn(
                f"{self._rows - len(known):,} of {counted(self._rows, 'row')} of the log show documents that the data "
                "does not have: they are left out",
                UnknownDocumentsWarning,
            )
        shown = known[kept]
        return self._of(lists[kept], self._order[places[shown]], clicked[shown], position[shown], label)

    def _numbers(self) -> np.ndarray:
        """The number in the data of every query of the log, −1 for others; when all keys of a column are known."""
        numbers = self._keys.numbers_of(self._data.query_ids.tolist())
        return np.array([numbers.get(self._keys.of(one), -1) for one in self._queries], dtype=np.int64)

    def _refuse(self) -> NoReturn:
        raise DataError(
            "no document of the log is in the data: ids are compared as text; ",
            Argument("query_key"),
            " can bring queries together",
        )

    def _of(
        self, lists: np.ndarray, rows: np.ndarray, clicked: np.ndarray, position: np.ndarray, label: str
    ) -> Dataset:
        """The data set of documents shown; ``lists`` is the session × 2³² + the query of each."""
        data = self._data
        assert data.document_ids is not None
        width = data.n_features
        check_memory(
            4 * len(rows) * width,
            "the lists of the log",
            f"{len(rows):,} documents shown × {width:,} features × 4 bytes",
            "take fewer sessions, or make one label per document of the whole log",
        )
        used, numbers = np.unique(lists, return_inverse=True)
        labels = {one: values[rows] for one, values in data.labels.items()}
        labels |= {label: clicked.astype(dtypes.LABEL), "position": position.astype(dtypes.LABEL)}
        return Dataset(
            data.features[rows],
            labels.pop(MAIN_LABEL, None),
            Numbered(numbers, self._ids(used)),
            labels=labels,
            weights=None if data.weights is None else data.weights[rows],
            query_weights=None if data.query_weights is None else data.query_weights[data.row_queries[rows]],
            feature_names=data.feature_names,
            document_ids=data.document_ids[rows],
            categories=data.categories,
        ).with_origins(data.origins, data.roles)

    def _ids(self, used: np.ndarray) -> np.ndarray:
        """The ids of some lists; where a session or a query has a slash in its name, two could be written alike."""
        sessions, query_id = list(self._sessions), self._data.query_id
        names = [f"{sessions[one >> 32]}/{query_id(one & 0xFFFFFFFF)}" for one in used.tolist()]
        times: Counter[str] = Counter()
        again = {}
        for place, name in enumerate(names):
            times[name] += 1
            if times[name] > 1:
                again[place] = times[name]
        return told_apart(names, again)
