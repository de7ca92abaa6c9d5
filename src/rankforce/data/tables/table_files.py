"""Parquet and CSV files with named columns.

Which column is what: see ``columns.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.data.categories import UNKNOWN
from rankforce.data.dataset import MAIN_LABEL, Dataset
from rankforce.data.file_formats import TABLES
from rankforce.data.found_files import FileNames, check_one_format, found_files, together
from rankforce.data.frames import first_infinite
from rankforce.data.tables.arrow import arrow, has_arrow, record_batches, schema_of
from rankforce.data.tables.columns import (
    CATEGORY_PREFIX,
    LABEL_PREFIX,
    ROLE_NAMES,
    TEXT_SUFFIX,
    TableColumns,
    column_options,
    feature_column,
)
from rankforce.data.tables.csv_columns import write_columns
from rankforce.data.tables.csv_reading import WHOLE_NUMBER, delimiter_of, read_csv
from rankforce.data.tables.csv_rows import NULLS
from rankforce.data.tables.parquet import is_parquet, read_parquet, write_parquet
from rankforce.errors import DataError, FileFormatError
from rankforce.files.atomic_writes import atomic_write
from rankforce.files.streams import file_name


def read_table(
    path: FileNames,
    *,
    qid: str | bool | None = None,
    label: str | bool | None = None,
    labels: Mapping[str, str] | Sequence[str] | None = None,
    document: str | bool | None = None,
    weight: str | bool | None = None,
    query_weight: str | bool | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    categorical: Sequence[str] = (),
    like: Any = None,
    delimiter: str | None = None,
    decimal: str = ".",
) -> Dataset:
    """Read a Parquet file (``.parquet``) or delimited text (``.csv``, ``.tsv``, also ``.gz``).

    Parameters
    ----------
    path
        The file; or several that are read as one, of one format and with the same columns in any order: a list of
        files, a pattern or a folder, as for ``rf.read``.
    qid, label, document, weight, query_weight : str, optional
        The column with this role. By default it is found by its name; two candidates are an error.
        ``False``: there is none, and a column of that name is a feature; without queries every row is a query of its
        own, which is enough to score it. Weights are not taken because a column is called ``weight``: it is a feature,
        with a warning, unless it is named here.
    labels : mapping of name to column, or sequence of columns
        Further label sources, beside the columns named ``label:...``.
    features : sequence of str, optional
        The columns that are features, in this order; by default all that have no other role.
    ignore : sequence of str
        Columns to leave out.
    categorical : sequence of str
        Columns that hold categories, though they are numbers, dates, or texts that hardly repeat. Columns of text whose
        entries occur at least twice on average, and categorical columns of Parquet, are categories unasked.
    like : Dataset, model or fitted ranker
        Read the columns as its features: categories become codes by its lists (one that is not in the list is unknown),
        numbers must be numbers. Other columns that no feature can be made of are left out.
    delimiter : str, optional
        What separates the cells of text: by default a tab for ``.tsv``, else a comma.
    decimal : "." or ","
        What stands before the fraction of a number of text: ``decimal=","`` reads 4,8.
    """
    files = found_files(path, TABLES)
    check_one_format(files)
    paths = [Path(file) for file in files]
    if is_parquet(paths[0]):
        arrow(paths[0])
    options, known = column_options(
        qid=qid,
        label=label,
        labels=labels,
        document=document,
        weight=weight,
        query_weight=query_weight,
        features=features,
        ignore=ignore,
        categorical=categorical,
        like=like,
    )
    if is_parquet(paths[0]):
        columns = read_parquet(paths, options, known)
    else:
        columns = read_csv(paths, options, known, delimiter, decimal)
    parts = checked_parts(columns)
    try:
        data = Dataset(**parts)
        return data.with_origins(columns.roles.origins, columns.roles.words | dict(columns.features.roles))
    except DataError as error:
        raise FileFormatError(error.args, path=together(paths)) from None


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


def checked_parts(columns: TableColumns) -> dict[str, Any]:
    """The arguments of ``Dataset``."""
    roles, ids, numbers, features, fail = columns
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
    place = first_infinite(features.matrix)
    if place is not None:
        column_of = {name: column for column, name in roles.features.items()}
        row, name = place[0], column_of[features.names[place[1]]]
        fail(
            row,
            name,
            "an infinite feature, or one beyond float32's 3.4e38",
            f"{features.matrix[place]:g}",
            "leave the cell empty for a missing value",
        )
    return {
        "X": features.matrix,
        "y": None if roles.label is None else numbers[roles.label],
        "qid": np.arange(len(features.matrix)) if roles.qid is None else ids[roles.qid],
        "labels": {name: numbers[column] for name, column in roles.labels.items()},
        "weights": None if roles.weight is None else numbers[roles.weight],
        "query_weights": None if roles.query_weight is None else numbers[roles.query_weight],
        "document_ids": None if roles.document is None else ids[roles.document],
        "feature_names": features.names,
        "categories": features.categories,
    }


def _columns_to_write(data: Dataset, mark_text: bool) -> list[tuple[str, Any]]:
    """(column, values per row) of all but the features."""
    columns: list[tuple[str, Any]] = [(_id_column("qid", data.query_ids, mark_text), data.qid)]
    if data.document_ids is not None:
        columns.append((_id_column("document", data.document_ids, mark_text), data.document_ids))
    for name, values in data.labels.items():
        columns.append(("label" if name == MAIN_LABEL else LABEL_PREFIX + name, values))
    if data.weights is not None:
        columns.append((ROLE_NAMES["weight"][0], data.weights))
    if data.query_weights is not None:
        columns.append((ROLE_NAMES["query_weight"][0], data.query_weights[data.row_queries]))
    for place, name in enumerate(data.feature_names):
        if name not in data.categories:
            columns.append((feature_column(name), data.features[:, place]))
        else:
            column = CATEGORY_PREFIX + name if mark_text else feature_column(name)
            columns.append((column, _categories_to_write(data, name, as_text=mark_text)))
    return columns


def _categories_to_write(data: Dataset, name: str, as_text: bool) -> Any:
    """A column of categories as texts (None: missing), or for Arrow with the whole list of categories."""
    codes = data.features[:, data.feature_place(name)]
    if (codes == UNKNOWN).any():
        raise DataError(
            f"feature {name!r} has entries of which only is known that they are none of its categories: a table cannot "
            "hold them; leave the feature out"
        )
    texts = [str(category) for category in data.categories[name]]
    places = np.where(np.isnan(codes), -1, codes).astype(np.int64)
    if not as_text:
        import pyarrow as pa

        indices = pa.array(places, type=pa.int32(), mask=places < 0)
        return pa.DictionaryArray.from_arrays(indices, pa.array(texts, type=pa.string()), ordered=True)
    missing = [text for text in texts if text in NULLS]
    if missing:
        raise DataError(
            f"the category {missing[0]!r} of {name!r} would be read from a CSV file as missing: write Parquet"
        )
    return np.array([*texts, None], dtype=object)[places]


def _id_column(role: str, ids: np.ndarray, mark_text: bool) -> str:
    looks_whole = mark_text and ids.dtype.kind not in "iu" and all(re.match(WHOLE_NUMBER, str(one)) for one in ids)
    return role + TEXT_SUFFIX if looks_whole else role
