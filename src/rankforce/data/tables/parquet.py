"""Parquet files: their columns, checked by type, and written with checksums."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from rankforce import dtypes
from rankforce.data.feature_columns import AS_TRUTH
from rankforce.data.feature_options import FeatureOptions, UnusableColumnsError, gathered
from rankforce.data.frames import as_vector, write_columns
from rankforce.data.tables.arrow import arrow, first_line, record_batches, schema_of
from rankforce.data.tables.columns import ColumnOptions, Roles, TableColumns, TableFeatures
from rankforce.errors import FileFormatError
from rankforce.files.atomic_writes import atomic_write
from rankforce.files.limits import EXPANSION_REMEDY, expands_too_far
from rankforce.remedies import ReadOption, Words

_ROWS_AT_A_TIME = 4096


def is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def read_parquet(path: Path, options: ColumnOptions, known: FeatureOptions) -> TableColumns:
    """The columns of a Parquet file, as the options say, its features as they are known."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def fail(row: int, column: str, problem: str, text: str, remedy: Words) -> NoReturn:
        raise FileFormatError(f"column {column!r}, row {row + 1}: {problem}", path=path, text=text, remedy=remedy)

    try:
        # nothing in a file is longer than the file: damage must not make Arrow ask for gigabytes
        limit = min(max(path.stat().st_size, 1), 1_000_000)
        with pq.ParquetFile(
            path,
            page_checksum_verification=True,
            pre_buffer=False,
            thrift_string_size_limit=100 * limit,
            thrift_container_size_limit=limit,
        ) as file:
            roles = options.roles(file.schema_arrow.names, path)
            types = {name: file.schema_arrow.field(name).type for name in roles.columns}
            refuse_types(types, roles, path)
            _refuse_expansion(file, len(roles.columns), path)
            head = file.read(columns=[*roles.ids, *roles.numeric])
            if head.num_rows == 0:
                raise FileFormatError("the table has no rows", path=path)
            ids = {name: ids_of_parquet(head.column(name)) for name in roles.ids}
            numbers = {name: numbers_of_parquet(as_vector(head.column(name))) for name in roles.numeric}
            features = _features_of_parquet(file, types, roles, known, head.num_rows)
    except FileNotFoundError:
        raise FileFormatError("there is no such file", path=path) from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        remedy = f"is it complete? ({first_line(error)})"
        raise FileFormatError("the file cannot be read as Parquet", path=path, remedy=remedy) from None
    except UnusableColumnsError as error:
        raise FileFormatError(error.problem, path=path, remedy=error.remedy) from None
    return TableColumns(roles, ids, numbers, features, fail)


def _features_of_parquet(
    file: Any, types: Mapping[str, Any], roles: Roles, known: FeatureOptions, n: int
) -> TableFeatures:
    """The matrix. Plain numbers are read batch by batch: beside it only one batch is in memory."""

    def read(columns: list[str]) -> Any:
        return file.read(columns=columns)

    def fill(matrix: np.ndarray, places: list[tuple[int, str]]) -> None:
        _fill(matrix, file, places)

    return _features(types, roles, known, n, read, fill)


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


def _refuse_expansion(file: Any, columns: int, path: Path) -> None:
    """A column of one value takes no room in a file, and all its rows in memory."""
    rows = file.metadata.num_rows
    if expands_too_far(path.stat().st_size, 4 * rows * columns):
        problem = f"{path.stat().st_size:,} bytes hold {rows:,} rows of {columns:,} columns"
        raise FileFormatError(problem, path=path, remedy=EXPANSION_REMEDY)


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
