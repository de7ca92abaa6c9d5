"""Parquet and CSV files with named columns.

Which column is what: see ``columns.py``.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from rankforce.data.dataset import MAIN_LABEL, Dataset
from rankforce.data.frames import as_vector, first_infinite, stack
from rankforce.data.tables.arrow import arrow, first_line, has_arrow, record_batches, schema_of
from rankforce.data.tables.columns import (
    LABEL_PREFIX,
    ROLE_NAMES,
    TEXT_SUFFIX,
    ColumnOptions,
    Roles,
    TableColumns,
    feature_column,
    listed_columns,
    named_labels,
)
from rankforce.data.tables.csv_columns import read_columns, whole_numbers, write_columns
from rankforce.data.tables.csv_rows import NULLS, header_of, open_bytes, refuse_broken_row, rows
from rankforce.data.tables.parquet import is_parquet, read_parquet, write_parquet
from rankforce.errors import DataError, FileFormatError
from rankforce.files.atomic_writes import atomic_write
from rankforce.files.streams import file_name
from rankforce.kinds import Either, OrNone, Switch, Text
from rankforce.remedies import Words

_WHOLE_NUMBER = r"^\s*-?(0|[1-9][0-9]*)(\.0+)?\s*$"  # what a column of ids in a CSV file must look like to be numbers


def read_table(
    path: str | Path,
    *,
    qid: str | None = None,
    label: str | bool | None = None,
    labels: Mapping[str, str] | Sequence[str] | None = None,
    document: str | bool | None = None,
    weight: str | bool | None = None,
    query_weight: str | bool | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    delimiter: str | None = None,
) -> Dataset:
    """Read a Parquet file (``.parquet``) or delimited text (``.csv``, ``.tsv``, also ``.gz``).

    Parameters
    ----------
    qid, label, document, weight, query_weight : str, optional
        The column with this role. By default it is found by its name; two candidates are an error.
        ``False`` (for all but ``qid``): there is none, and a column of that name is a feature. Weights are not taken
        because a column is called ``weight``: it is a feature, with a warning, unless it is named here.
    labels : mapping of name to column, or sequence of columns
        Further label sources, beside the columns named ``label:...``.
    features : sequence of str, optional
        The columns that are features, in this order; by default all that have no other role.
    ignore : sequence of str
        Columns to leave out.
    delimiter : str, optional
        What separates the cells of text: by default a tab for ``.tsv``, else a comma.
    """
    path = Path(file_name(path))
    if is_parquet(path):
        arrow(path)
    for role, column in (("label", label), ("document", document), ("weight", weight), ("query_weight", query_weight)):
        OrNone(Either((Text("the name of a column"), Switch()))).check(role, column)
    OrNone(Text("the name of a column")).check("qid", qid)
    options = ColumnOptions(
        qid=qid,
        label=label,
        document=document,
        weight=weight,
        query_weight=query_weight,
        labels=named_labels(labels),
        features=None if features is None else listed_columns(features, "features"),
        ignore=listed_columns(ignore, "ignore"),
    )
    columns = read_parquet(path, options) if is_parquet(path) else _read_csv(path, options, delimiter)
    parts = _checked_parts(columns)
    origins = parts.pop("origins")
    try:
        return Dataset(**parts).with_origins(origins)
    except DataError as error:
        raise FileFormatError(error.args, path=path) from None


def write_table(data: Dataset, path: str | Path, *, delimiter: str | None = None) -> None:
    """Write a Parquet file (``.parquet``) or delimited text (``.csv``, ``.tsv``, also ``.gz``), whole or not at all.

    All of the data set is written, and ``read_table`` gives it back exactly, to the last bit of every number.
    """
    path = Path(file_name(path))
    if is_parquet(path):
        write_parquet(path, _columns_to_write(data, mark_text=False))
        return
    columns = _columns_to_write(data, mark_text=True)
    separator = delimiter_of(path, delimiter)
    with atomic_write(path) as file:
        if not has_arrow():
            write_columns(file, columns, separator, compressed=path.suffix == ".gz")
            return
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        schema = schema_of(columns)
        options = arrow_csv.WriteOptions(delimiter=separator)
        with (
            pa.output_stream(file, compression="gzip" if path.suffix == ".gz" else None) as stream,
            arrow_csv.CSVWriter(stream, schema, write_options=options) as writer,
        ):
            for batch in record_batches(columns, schema):
                writer.write_batch(batch)


def delimiter_of(path: Path, given: str | None) -> str:
    if given is not None:
        if not isinstance(given, str) or len(given) != 1 or given in '"\r\n':
            raise DataError(f"a delimiter is one character, and no quote: not {given!r}")
        return given
    return "\t" if ".tsv" in [suffix.lower() for suffix in path.suffixes] else ","


def _read_csv(path: Path, options: ColumnOptions, delimiter: str | None) -> TableColumns:
    separator = delimiter_of(path, delimiter)
    _, header = header_of(path, separator)
    roles = options.roles(header, path)
    kinds = dict.fromkeys(roles.features, "feature") | roles.numeric
    if has_arrow():
        columns = _columns_by_arrow(path, separator, header, roles, kinds)
    else:
        columns = read_columns(path, separator, header, roles.ids, kinds)
    n = len(columns[roles.qid])
    if n == 0:
        raise FileFormatError("the file has a header and no rows", path=path)

    def fail(row: int, column: str, problem: str, text: str, remedy: Words) -> NoReturn:
        line, _ = next(itertools.islice(rows(path, separator), row, None), (None, []))
        place = header.index(column) + 1
        raise FileFormatError(
            f"column {column!r}: {problem}", path=path, line=line, column=place, text=text, remedy=remedy
        )

    ids = {name: _ids_of_text(columns[name], name) for name in roles.ids}
    numbers = {name: columns[name] for name in roles.numeric}
    matrix = stack([columns[name] for name in roles.features], n)
    return TableColumns(roles, ids, numbers, matrix, fail)


def _columns_by_arrow(
    path: Path, separator: str, header: Sequence[str], roles: Roles, kinds: Mapping[str, str]
) -> dict[str, np.ndarray]:
    """As ``csv_columns.read_columns``, faster."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    types = dict.fromkeys(roles.ids, pa.string())
    types |= dict.fromkeys(roles.numeric, pa.float64())
    types |= dict.fromkeys(roles.features, pa.float32())
    try:
        with contextlib.ExitStack() as opening:
            # Arrow reads plain files faster; what is compressed is watched while it grows
            compressed = path.suffix == ".gz"
            source = opening.enter_context(open_bytes(path)) if compressed else str(path)
            table = arrow_csv.read_csv(
                source,
                parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=types, include_columns=roles.columns, null_values=NULLS, strings_can_be_null=False
                ),
            )
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        refuse_broken_row(path, separator, header, kinds)
        raise FileFormatError(f"the file cannot be read: {first_line(error)}", path=path) from None
    return {name: as_vector(table.column(name)) for name in roles.columns}


def _ids_of_text(column: np.ndarray, name: str) -> np.ndarray:
    """Ids as whole numbers if all of them are written so, else as text."""
    found = None if name.lower().endswith(TEXT_SUFFIX) else whole_numbers(column, _WHOLE_NUMBER)
    return column if found is None else found


def _checked_parts(columns: TableColumns) -> dict[str, Any]:
    """The arguments of ``Dataset``."""
    roles, ids, numbers, matrix, fail = columns
    for name, what in ((roles.qid, "query"), (roles.document, "document")):
        if name is not None and ids[name].dtype == object:
            for row, one in enumerate(ids[name]):
                if one is None or (one == "" and name == roles.qid):
                    fail(row, name, f"the {what} id is missing", "", f"every row needs a {what} id")
    for name, what in roles.numeric.items():
        values = numbers[name]
        is_weight = name in (roles.weight, roles.query_weight)
        bad = ~(np.isfinite(values) & (values >= 0)) if is_weight else np.isinf(values)
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            rule = (
                "a weight is a finite number, not negative"
                if is_weight
                else "leave the cell empty for an unlabelled document"
            )
            fail(row, name, f"impossible {what}", f"{values[row]:g}", rule)
    place = first_infinite(matrix)
    if place is not None:
        row, name = place[0], list(roles.features)[place[1]]
        fail(
            row,
            name,
            "an infinite feature, or one beyond float32's 3.4e38",
            f"{matrix[place]:g}",
            "leave the cell empty for a missing value",
        )
    return {
        "X": matrix,
        "y": None if roles.label is None else numbers[roles.label],
        "qid": ids[roles.qid],
        "labels": {name: numbers[column] for name, column in roles.labels.items()},
        "weights": None if roles.weight is None else numbers[roles.weight],
        "query_weights": None if roles.query_weight is None else numbers[roles.query_weight],
        "document_ids": None if roles.document is None else ids[roles.document],
        "feature_names": list(roles.features.values()),
        "origins": roles.origins,
    }


def _columns_to_write(data: Dataset, mark_text: bool) -> list[tuple[str, np.ndarray]]:
    """(column, values per row) of all but the features."""
    columns = [(_id_column("qid", data.query_ids, mark_text), data.qid)]
    if data.document_ids is not None:
        columns.append((_id_column("document", data.document_ids, mark_text), data.document_ids))
    for name, values in data.labels.items():
        columns.append(("label" if name == MAIN_LABEL else LABEL_PREFIX + name, values))
    if data.weights is not None:
        columns.append((ROLE_NAMES["weight"][0], data.weights))
    if data.query_weights is not None:
        columns.append((ROLE_NAMES["query_weight"][0], data.query_weights[data.row_queries]))
    columns += [(feature_column(name), data.features[:, place]) for place, name in enumerate(data.feature_names)]
    return columns


def _id_column(role: str, ids: np.ndarray, mark_text: bool) -> str:
    looks_whole = mark_text and ids.dtype.kind not in "iu" and all(re.match(_WHOLE_NUMBER, str(one)) for one in ids)
    return role + TEXT_SUFFIX if looks_whole else role
