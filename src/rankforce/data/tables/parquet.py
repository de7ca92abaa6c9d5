"""Parquet files: their columns, checked by type, and written with checksums."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from rankforce import dtypes
from rankforce.data.feature_columns import AS_TRUTH
from rankforce.data.feature_options import FeatureOptions, UnusableColumnsError, gathered
from rankforce.data.found_files import together
from rankforce.data.frames import as_vector, write_columns
from rankforce.data.tables.arrow import arrow, record_batches, schema_of
from rankforce.data.tables.columns import ColumnOptions, Roles, TableColumns, TableFeatures
from rankforce.data.tables.parquet_parts import ParquetTable, common_type, joined_column, read_errors
from rankforce.data.tables.parts import first_rows, place_of_row, roles_in_all
from rankforce.errors import FileFormatError
from rankforce.files.atomic_writes import atomic_write
from rankforce.files.limits import EXPANSION_REMEDY, expands_too_far
from rankforce.remedies import ReadOption, Words

_ROWS_AT_A_TIME = 4096


def is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def read_parquet(paths: Sequence[Path], options: ColumnOptions, known: FeatureOptions) -> TableColumns:
    """The columns of a Parquet file, as the options say, its features as they are known; of several, one table."""
    tables = {path: ParquetTable.of(path) for path in paths}
    roles = roles_in_all(options, {path: table.names for path, table in tables.items()})
    parts = [table for table in tables.values() if table.rows]  # one without rows has nothing to add
    if not parts:
        raise FileFormatError("the table has no rows", path=together(paths))
    for part in parts:
        refuse_types(part.types, roles, part.path)
        _refuse_expansion(part, len(roles.columns))
    firsts = first_rows([part.rows for part in parts])

    def fail(row: int, column: str, problem: str, text: str, remedy: Words) -> NoReturn:
        number, own_row = place_of_row(firsts, row)
        problem = f"column {column!r}, row {own_row + 1}: {problem}"
        raise FileFormatError(problem, path=parts[number].path, text=text, remedy=remedy)

    try:
        with read_errors(together(paths)):
            heads = [part.read([*roles.ids, *roles.numeric]) for part in parts]
            ids = {name: ids_of_parquet(joined_column(parts, heads, name)) for name in roles.ids}
            numbers = {
                name: np.concatenate([numbers_of_parquet(as_vector(head.column(name))) for head in heads])
                for name in roles.numeric
            }
            del heads
            features = _features_of_parquet(parts, firsts, roles, known)
    except UnusableColumnsError as error:
        raise FileFormatError(error.problem, path=together(paths), remedy=error.remedy) from None
    return TableColumns(roles, ids, numbers, features, fail)


def _features_of_parquet(
    parts: Sequence[ParquetTable], firsts: np.ndarray, roles: Roles, known: FeatureOptions
) -> TableFeatures:
    """The matrix. Plain numbers are read batch by batch: beside it only one batch is in memory."""
    import pyarrow as pa

    def read(columns: list[str]) -> Any:
        tables = [part.read(columns) for part in parts]
        return pa.table({name: joined_column(parts, tables, name) for name in columns})

    def fill(matrix: np.ndarray, places: list[tuple[int, str]]) -> None:
        for part, (first, last) in zip(parts, itertools.pairwise(firsts.tolist()), strict=True):
            with part.opened() as file:
                _fill(matrix[first:last], file, places)

    types = {name: common_type([part.types[name] for part in parts], _is_number) for name in roles.columns}
    return _features(types, roles, known, int(firsts[-1]), read, fill)


def features_of_batch(batch: Any, types: Mapping[str, Any], roles: Roles, known: FeatureOptions) -> TableFeatures:
    """The same of some rows."""

    def fill(matrix: np.ndarray, places: list[tuple[int, str]]) -> None:
        columns = [numbers_of_parquet(as_vector(batch.column(name))) for _, name in places]
        write_columns(matrix, slice(0, batch.num_rows), [place for place, _ in places], columns)

    return _features(types, roles, known, batch.num_rows, batch.select, fill)


def _features(
    types: Mapping[str, Any],
    roles: Roles,
    known: FeatureOptions,
    n: int,
    read: Callable[[list[str]], Any],
    fill: Callable[[np.ndarray, list[tuple[int, str]]], None],
) -> TableFeatures:
    """``read`` gives a table of columns, ``fill`` writes those of plain numbers into their places of the matrix."""
    import pyarrow as pa

    def is_plain(column: str, name: str) -> bool:
        said = column in roles.declared or known.declared(column, name) or name in known.lists
        return _is_number(types[column]) and not said

    others = [column for column, name in roles.features.items() if not is_plain(column, name)]
    table: Any = read(others) if others else None
    rest = [(column, roles.features[column], table.column(column)) for column in others]
    made = gathered(rest, dataclasses.replace(known, categorical=[*known.categorical, *roles.declared]))
    made_of = dict(zip(made.names, made.columns, strict=True))
    kept = {column: name for column, name in roles.features.items() if column not in others or name in made_of}
    names = list(kept.values())
    matrix = np.empty((n, len(names)), dtype=dtypes.FEATURE)
    plain = [(place, column) for place, column in enumerate(kept) if column not in others]
    fill(matrix, plain)
    for name, values in made_of.items():
        with np.errstate(over="ignore"):
            matrix[:, names.index(name)] = values
    truths = {column: AS_TRUTH for _, column in plain if pa.types.is_boolean(types[column])}
    return TableFeatures(matrix, names, made.categories, truths | made.roles, made.unsettled)


def _fill(matrix: np.ndarray, file: Any, places: list[tuple[int, str]]) -> None:
    """Columns of numbers into their places of the matrix."""
    first, n = 0, len(matrix)
    for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=[name for _, name in places]) if places else ():
        if first + batch.num_rows > n:
            raise OSError("its columns are not equally long")
        columns = [numbers_of_parquet(as_vector(batch.column(name))) for _, name in places]
        write_columns(matrix, slice(first, first + batch.num_rows), [place for place, _ in places], columns)
        first += batch.num_rows
    if places and first < n:
        raise OSError("its columns are not equally long")


def _refuse_expansion(part: ParquetTable, columns: int) -> None:
    """A column of one value takes no room in a file, and all its rows in memory."""
    if expands_too_far(part.size, 4 * part.rows * columns):
        problem = f"{part.size:,} bytes hold {part.rows:,} rows of {columns:,} columns"
        raise FileFormatError(problem, path=part.path, remedy=EXPANSION_REMEDY)


def refuse_types(types: Mapping[str, Any], roles: Roles, path: Path) -> None:
    import pyarrow as pa

    def is_id(kind: Any) -> bool:
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
        others = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_integer, pa.types.is_floating)
        return any(test(kind) for test in (*texts, *others, pa.types.is_decimal, pa.types.is_null))

    for name in roles.ids:
        if not is_id(types[name]):
            what = "query" if name == roles.qid else "document"
            option = "qid" if what == "query" else "document"
            remedy = f"write ids as text or whole numbers, or name another column: {option}=..."
            problem = f"column {name!r} is taken as the {what} id but holds {types[name]}, not whole numbers or text"
            raise FileFormatError(problem, path=path, remedy=remedy)
    for name, what in roles.numeric.items():
        if not _is_number(types[name]):
            raise FileFormatError(
                f"column {name!r} is taken as {what} but holds {types[name]}, not numbers",
                path=path,
                remedy=(
                    "encode it as numbers, give it another role, or leave it out: ",
                    ReadOption("ignore", [name]),
                ),
            )


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(test(kind) for test in tests)


def ids_of_parquet(column: Any) -> Any:
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if column.null_count and pa.types.is_integer(kind):
        return column.cast(pa.string()).to_numpy(zero_copy_only=False)  # not by way of float64
    return as_vector(column)


def numbers_of_parquet(column: np.ndarray) -> np.ndarray:
    """A column of numbers from Arrow; where all entries are null, or truth values with nulls, it holds objects."""
    if column.dtype == object:
        return np.array([np.nan if one is None else float(one) for one in column.tolist()], dtype=np.float64)
    return column


def write_parquet(path: Path, columns: Sequence[tuple[str, Any]]) -> None:
    """Write named columns, whole or not at all."""
    arrow(path)
    import pyarrow.parquet as pq

    schema = schema_of(columns)
    with atomic_write(path) as file, pq.ParquetWriter(file, schema, write_page_checksum=True) as writer:
        for batch in record_batches(columns, schema):
            writer.write_batch(batch)
