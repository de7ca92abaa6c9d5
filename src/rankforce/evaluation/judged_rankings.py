"""What is ranked and what is judged, in the forms that people have: a TREC run and judgments, or scores and labels."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rankforce import dtypes
from rankforce.console.wording import counted
from rankforce.data import frames
from rankforce.data.dataset import Dataset
from rankforce.data.identifiers import as_ids
from rankforce.data.preferences import Preferences
from rankforce.data.spread import SpreadData
from rankforce.data.trec import JudgedRun, judged_run, read_qrels, read_run
from rankforce.errors import DataError
from rankforce.kinds import shown
from rankforce.remedies import Phrase

QUERY_COLUMNS = ("query", "query_id", "qid", "q_id")
DOCUMENT_COLUMNS = ("document", "doc_id", "docid", "docno", "document_id", "did")
GRADE_COLUMNS = ("grade", "relevance", "label", "rel")
SCORE_COLUMNS = ("score", "sim")

WANTED = (
    "the data must be a Dataset, Preferences, labels with qid=... (or group=...), or judgments of a TREC run: a path, "
    "{query: {document: grade}} or a data frame"
)


class JudgedRanking(NamedTuple):
    """What ranks documents, the documents with their labels, and what is worth saying about how the two met."""

    ranking: Any
    data: Dataset | Preferences
    remarks: tuple[str, ...] = ()
    named: bool = True  # whether documents could have ids: labels alone have none


def judged_ranking(ranking: Any, data: Any, qid: Any, group: Any, missing_queries: str) -> JudgedRanking:
    """A ranking and its data as ``evaluate`` works on them."""
    grouped = qid is not None or group is not None
    if isinstance(data, SpreadData):
        ranking, data = data.scored(ranking)
    if isinstance(data, (Dataset, Preferences)):
        if grouped:
            raise DataError("the data knows its queries: leave qid and group out")
        return JudgedRanking(ranking, data)
    if grouped:
        labels = frames.as_numbers(data, "the labels")
        if labels.ndim != 1:
            raise DataError(f"the labels must be a vector, one per document, not of shape {labels.shape}")
        known = Dataset(np.empty((len(labels), 0), dtypes.FEATURE), labels, qid, group=group)
        return JudgedRanking(ranking, known, named=False)
    if isinstance(data, JudgedRun):
        raise DataError(
            "a judged run holds both",
            Phrase(": rf.evaluate(joined.scores, joined.data, measures)", ""),  # no command reads one
        )
    if isinstance(data, (Mapping, str, os.PathLike)) or is_table(data):
        return _judged_run(ranking, data, missing_queries)
    raise DataError(f"{WANTED}, not {type(data).__name__}")


def is_run(given: Any) -> bool:
    """Whether a mapping is a run, {query: {document: score}}, and none of names to rankings."""
    if not isinstance(given, Mapping):
        return False
    entries = [entry for entry in given.values() if not isinstance(entry, Mapping) or entry]
    return all(isinstance(entry, Mapping) for entry in entries) and not any(
        isinstance(value, (Mapping, np.ndarray, list, tuple, str)) or hasattr(value, "predict")
        for entry in entries[:1]
        for value in entry.values()
    )


def _judged_run(ranking: Any, judgments: Any, missing_queries: str) -> JudgedRanking:
    qrels = by_document(judgments, "judgments", GRADE_COLUMNS, read_qrels)
    run = by_document(ranking, "the run", SCORE_COLUMNS)
    joined = judged_run(qrels, run, missing_queries=missing_queries)  # type: ignore[arg-type]
    remarks = []
    if joined.queries_without_run:
        treatment = {"zero": "counted as if nothing was retrieved", "skip": "left out"}[missing_queries]
        remarks.append(f"the run lacks {counted(len(joined.queries_without_run), 'judged query')}: {treatment}")
    if joined.queries_without_judgments:
        remarks.append(
            f"the run has {counted(len(joined.queries_without_judgments), 'query')} without judgments: left out"
        )
    return JudgedRanking(joined.scores, joined.data, tuple(remarks))


def by_document(given: Any, what: str, number_columns: tuple[str, ...], read: Any = read_run) -> Mapping[Any, Any]:
    """{query: {document: number}} of a mapping, a file or a data frame."""
    if isinstance(given, Mapping):
        return given
    if isinstance(given, (str, os.PathLike)):
        return dict(read(given))
    if not is_table(given):
        raise DataError(f"{what} must be {{query: {{document: number}}}}, a path or a data frame, not {shown(given)}")
    columns = {
        role: _column(given, what, role, names)
        for role, names in (("query", QUERY_COLUMNS), ("document", DOCUMENT_COLUMNS), ("number", number_columns))
    }
    _, taken = frames.without_columns(given, columns)
    queries, documents = (as_ids(taken[role], len(given), role).tolist() for role in ("query", "document"))
    numbers = frames.as_numbers(taken["number"], f"column {columns['number']!r}").astype(np.float64).tolist()
    by_query: dict[str, dict[str, float]] = {}
    for row, (query, document, number) in enumerate(zip(queries, documents, numbers, strict=True)):
        of_query = by_query.setdefault(str(query), {})
        if str(document) in of_query:
            raise DataError(f"{what}, row {row} (from 0): document {document!r} stands twice in query {query!r}")
        of_query[str(document)] = number
    return by_query


def is_table(given: Any) -> bool:
    return not isinstance(given, np.ndarray) and not isinstance(given, type) and frames.is_frame(given)


def _column(frame: Any, what: str, role: str, known: tuple[str, ...]) -> str:
    names = frames.column_names(frame)
    for wanted in known:
        if wanted in (lower := [name.lower() for name in names]):
            return names[lower.index(wanted)]
    raise DataError(
        f"{what} need a column of the {role} ({', '.join(known)}); the columns are {', '.join(map(repr, names[:20]))}"
    )
