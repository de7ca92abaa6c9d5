"""Tables in blocks of rows: each is a data set of its own, with the roles of columns that the whole table has."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rankforce.data.dataset import Dataset
from rankforce.data.feature_options import FeatureOptions, UnusableColumnsError
from rankforce.data.frames import as_vector
from rankforce.data.seen_columns import NotNumbersError, SeenColumns
from rankforce.data.tables.arrow import arrow, first_line
from rankforce.data.tables.columns import ColumnOptions, TableColumns, column_options
from rankforce.data.tables.csv_reading import (
    CsvFile,
    arrow_options,
    arrow_types,
    columns_of_arrow,
    csv_file,
    declared_texts,
    not_numbers,
    table_of_text,
)
from rankforce.data.tables.parquet import (
    features_of_batch,
    ids_of_parquet,
    is_parquet,
    numbers_of_parquet,
    refuse_types,
)
from rankforce.data.tables.parquet_parts import ParquetTable
from rankforce.data.tables.table_files import checked_parts
from rankforce.errors import DataError, FileFormatError
from rankforce.remedies import Words

if TYPE_CHECKING:
    from rankforce.data.blocks import BlockSize

CSV_BLOCK = 16 * 2**20  # bytes of text at a time


def table_blocks(
    path: str | Path,
    size: BlockSize,
    seen: SeenColumns,
    *,
    row_groups: Sequence[int] | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    **options: Any,
) -> Iterator[tuple[Dataset, int]]:
    """A Parquet file, or delimited text, in data sets of at most this size, each with how many bytes were read.

    Options as for ``read_table``; ``row_groups`` of a Parquet file, by default all. Features of text have the
    categories that their block has; ``seen`` is told what they are to become when all blocks were seen. Raises
    ``NotNumbersError`` where columns of delimited text must be read as text: begin again then.
    """
    path = Path(path)
    pa = arrow(path)
    columns, known = column_options(**options)
    known = dataclasses.replace(known, partial=True)
    if columns.qid is False:
        raise DataError(
            "rows without queries are not read in blocks, which may end within a query: read the file whole"
        )
    if not path.is_file():
        raise FileFormatError("there is no such file", path=path)
    try:
        if is_parquet(path):
            yield from _parquet_blocks(path, size, row_groups, columns, known, seen)
        else:
            yield from _csv_blocks(csv_file(path, delimiter, decimal), columns, known, seen)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FileFormatError("the table cannot be read", path=path, remedy=f"({first_line(error)})") from None
    except UnusableColumnsError as error:
        raise FileFormatError(error.problem, path=path, remedy=error.remedy) from None


def table_features(
    path: str | Path, *, delimiter: str | None = None, decimal: str = ".", **options: Any
) -> tuple[str, ...]:
    """The names of a table's features in the order of its columns, by its header alone; options as above."""
    path = Path(path)
    arrow(path)
    columns, _ = column_options(**options)
    if is_parquet(path):
        header: Sequence[str] = ParquetTable.of(path).names
    else:
        header = csv_file(path, delimiter, decimal).header
    return tuple(columns.roles(header, path).features.values())


def _parquet_blocks(
    path: Path,
    size: BlockSize,
    row_groups: Sequence[int] | None,
    options: ColumnOptions,
    known: FeatureOptions,
    seen: SeenColumns,
) -> Iterator[tuple[Dataset, int]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
        roles = options.roles(file.schema_arrow.names, path)
        types = {name: file.schema_arrow.field(name).type for name in roles.columns}
        refuse_types(types, roles, path)
        total, done, n_bytes = max(file.metadata.num_rows, 1), 0, path.stat().st_size

        def fail(row: int, column: str, problem: str, text: str, remedy: Words) -> NoReturn:
            raise FileFormatError(
                f"column {column!r}, row {done + row + 1}: {problem}", path=path, text=text, remedy=remedy
            )

        for batch in file.iter_batches(size.rows_of(len(roles.columns)), row_groups, columns=list(roles.columns)):
            if batch.num_rows:
                table = pa.Table.from_batches([batch])
                ids = {name: ids_of_parquet(table.column(name)) for name in roles.ids}
                numbers = {name: numbers_of_parquet(as_vector(table.column(name))) for name in roles.numeric}
                features = features_of_batch(table, types, roles, known)
                block = _block(TableColumns(roles, ids, numbers, features, fail), seen, path)
                done += batch.num_rows
                yield block, n_bytes * done // total


def _csv_blocks(
    file: CsvFile, options: ColumnOptions, known: FeatureOptions, seen: SeenColumns
) -> Iterator[tuple[Dataset, int]]:
    import pyarrow as pa

    path = file.path
    roles = options.roles(file.header, path)
    known, declared = declared_texts(roles, known)
    texts = sorted(declared | {name for name in roles.columns if name in seen.texts and name not in roles.ids})
    kinds = dict.fromkeys(roles.features, "feature") | roles.numeric
    numbers = {name: what for name, what in kinds.items() if name not in texts}
    done = 0

    def fail(row: int, column: str, problem: str, text: str, remedy: Words) -> NoReturn:
        file.fail(done + row, column, problem, text, remedy)

    try:
        for batch, read in _csv_batches(file, arrow_types(roles.ids, texts, numbers)):
            columns = columns_of_arrow(pa.Table.from_batches([batch]), roles.ids, texts, numbers)
            table = table_of_text(file, roles, known, columns, batch.num_rows, fail)
            block = _block(table, seen, path)
            done += batch.num_rows
            yield block, read
    except (pa.ArrowException, EOFError, zlib.error) as error:
        others = not_numbers(file, numbers)
        if others:
            raise NotNumbersError(others) from None
        file.refuse_broken_row(numbers)
        raise FileFormatError(f"the file cannot be read: {first_line(error)}", path=path) from None


def _csv_batches(file: CsvFile, types: dict[str, Any]) -> Iterator[tuple[Any, int]]:
    from pyarrow import csv

    size = file.path.stat().st_size
    options = arrow_options(file, types)
    with csv.open_csv(file.path, read_options=csv.ReadOptions(block_size=CSV_BLOCK), **options) as reader:
        done = 0
        for batch in reader:
            done = min(size, done + CSV_BLOCK)  # of text; compressed files are read faster than is said
            if batch.num_rows:
                yield batch, done


def _block(columns: TableColumns, seen: SeenColumns, path: Path) -> Dataset:
    """A data set of some rows; categories are those of the block, where they are found."""
    seen.take(columns.features.unsettled, {name: column for column, name in columns.roles.features.items()})
    roles = columns.roles
    try:
        data = Dataset(**checked_parts(columns))
        return data.with_origins(roles.origins, roles.words | dict(columns.features.roles))
    except DataError as error:
        raise FileFormatError(error.args, path=path) from None
