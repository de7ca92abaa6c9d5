"""Judgments as {query: {document: grade}}: from qrels, tables, data frames and mappings."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.data import frames
from rankforce.data.feature_logs.json_nodes import JsonNode
from rankforce.data.file_formats import TABLES
from rankforce.data.identifiers import as_ids
from rankforce.data.tables.arrow import arrow, first_line
from rankforce.data.tables.columns import ROLE_NAMES
from rankforce.data.tables.csv_reading import delimiter_of
from rankforce.data.tables.csv_rows import NULLS, header_of, rows
from rankforce.data.tables.parquet import is_parquet
from rankforce.data.trec import read_qrels
from rankforce.errors import DataError, FileFormatError
from rankforce.files.limits import longest_id
from rankforce.files.streams import file_name
from rankforce.kinds import Number, shown

Grades = dict[tuple[str, str], float]  # (query, document) → grade, in the order of the judgments

_ROLES = {"query": ("qid", "query_id", "query"), "document": ROLE_NAMES["document"], "grade": ROLE_NAMES["label"]}
_EXAMPLE = "query,document,grade"
_WANTED = (
    "judgments are a table (.csv, .tsv, .parquet) with the columns query, document and grade, TREC qrels, a data frame "
    "with these columns, or {query: {document: grade}}"
)


def read_judgments(given: Any) -> Grades:
    """Every judgment; a document that is judged twice for a query is an error.

    Negative grades of qrels and mappings, and empty cells of tables, mean that nobody has judged.
    """
    if isinstance(given, (str, os.PathLike)):
        path = Path(file_name(given))
        if not path.name.lower().endswith(TABLES):
            return _from_mapping(read_qrels(path))
        return _from_frame(_parquet(path)) if is_parquet(path) else _from_csv(path)
    if frames.is_frame(given):
        return _from_frame(given)
    if isinstance(given, Mapping):
        return _from_mapping(given)
    raise DataError(f"{_WANTED}, not {shown(given)}")


def _from_mapping(given: Mapping[Any, Any]) -> Grades:
    grades: Grades = {}
    for query, of_query in given.items():
        name = JsonNode(query, key="query id").identifier()
        if not isinstance(of_query, Mapping):
            raise DataError(f"query {name!r} must map documents to grades, not be {shown(of_query)}")
        for document, grade in of_query.items():
            if not Number().holds(grade):
                raise DataError(f"the grade of document {shown(document)} and query {name!r} is {shown(grade)}")
            if grade >= 0:
                pair = name, JsonNode(document, key="document id").identifier()
                if pair in grades:
                    raise DataError(f"document {pair[1]!r} is judged twice for query {name!r}")
                grades[pair] = float(grade)
    return grades


def _parquet(path: Path) -> Any:
    pa = arrow(path)
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except FileNotFoundError:
        raise FileFormatError("there is no such file", path=path) from None
    except (pa.ArrowException, OSError) as error:
        remedy = f"is it complete? ({first_line(error)})"
        raise FileFormatError("the file cannot be read as Parquet", path=path, remedy=remedy) from None


def _from_frame(frame: Any) -> Grades:
    roles = _columns(frames.column_names(frame))
    _, columns = frames.without_columns(frame, roles)
    queries, documents = (as_ids(columns[role], len(frame), role).tolist() for role in ("query", "document"))
    values = frames.as_numbers(columns["grade"], f"column {roles['grade']!r}").astype(np.float64)
    grades: Grades = {}
    for row, (query, document, grade) in enumerate(zip(queries, documents, values.tolist(), strict=True)):
        if math.isinf(grade):
            raise DataError(f"column {roles['grade']!r}, row {row} (from 0): the grade is infinite")
        pair = str(query), str(document)
        if pair in grades:
            raise DataError(f"row {row} (from 0): document {pair[1]!r} is judged twice for query {pair[0]!r}")
        if not math.isnan(grade):
            grades[pair] = grade
    return grades


def _from_csv(path: Path) -> Grades:
    separator = delimiter_of(path, None)
    line, header = header_of(path, separator, _EXAMPLE)
    try:
        roles = _columns(header)
    except DataError as error:
        raise FileFormatError(error.args, path=path, line=line) from None
    places = [header.index(roles[role]) for role in ("query", "document", "grade")]
    grades: Grades = {}
    longest = longest_id()
    for line, cells in rows(path, separator):
        if len(cells) != len(header):
            problem = f"{len(cells)} cells in a row, the header has {len(header)}"
            raise FileFormatError(problem, path=path, line=line, text=separator.join(cells))
        query, document, text = (cells[place].strip() for place in places)
        for name, place in ((query, places[0]), (document, places[1])):
            if not name or len(name) > longest or "\0" in name:
                problem = "the id is missing" if not name else "an id is short text, without a NUL character"
                raise FileFormatError(problem, path=path, line=line, column=place + 1, text=name)
        if (query, document) in grades:
            problem = f"a second grade for this document and query {query!r}"
            raise FileFormatError(problem, path=path, line=line, text=document, remedy="remove one of the two rows")
        if text in NULLS:
            continue
        grades[query, document] = _grade(text, path, line, places[2] + 1)
    return grades


def _grade(text: str, path: Path, line: int, column: int) -> float:
    try:
        grade = float(text) if "_" not in text else math.nan
    except ValueError:
        grade = math.nan
    if not math.isfinite(grade):
        remedy = "leave the cell empty where nobody has judged"
        problem = "the grade is not a finite number"
        raise FileFormatError(problem, path=path, line=line, column=column, text=text, remedy=remedy)
    return grade


def _columns(names: list[str]) -> dict[str, str]:
    """Role → column. An id column comes before one called query, which may hold the query's words."""
    listed = ", ".join(map(repr, names[:30]))
    roles = {}
    for role, known in _ROLES.items():
        found = [name for wanted in known for name in names if name.strip().lower() == wanted]
        if not found:
            raise DataError(f"no column says the {role} ({', '.join(known)}); the columns are: {listed}")
        roles[role] = found[0]
    return roles
