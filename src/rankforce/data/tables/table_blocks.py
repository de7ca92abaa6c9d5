"""Tables in blocks of rows: each is a data set of its own, with the roles of columns that the whole table has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankforce.data.dataset import Dataset
from rankforce.data.feature_options import listed_columns
from rankforce.data.tables.arrow import arrow, first_line
from rankforce.data.tables.columns import ColumnOptions, Roles, named_labels
from rankforce.data.tables.csv_reading import WHOLE_NUMBER, delimiter_of
from rankforce.data.tables.csv_rows import NULLS, header_of
from rankforce.data.tables.parquet import is_parquet
from rankforce.errors import DataError, FileFormatError
from rankforce.remedies import ReadOption

CSV_BLOCK = 16 * 2**20  # bytes of text at a time


def table_blocks(
    path: str | Path,
    rows: int,
    row_groups: Sequence[int] | None = None,
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
) -> Iterator[tuple[Dataset, int]]:
    """A Parquet file, or delimited text, in data sets of at most so many rows, each with how many bytes were read.

    Options as for ``read_table``; ``row_groups`` of a Parquet file, by default all. Columns of text are no features
    here: which categories there are is known in the end.
    """
    path = Path(path)
    pa = arrow(path)
    options = ColumnOptions(
        qid=qid,
        label=label,
        document=document,
        weight=weight,
        query_weight=query_weight,
        labels=named_labels(labels),
        features=None if features is None else listed_columns(features, "features"),
        ignore=listed_columns(ignore, "ignore"),
        categorical=[],
    )
    if not path.is_file():
        raise FileFormatError("there is no such file", path=path)
    size = path.stat().st_size
    try:
        if is_parquet(path):
            yield from _parquet_blocks(path, rows, row_groups, options, size)
        else:
            yield from _csv_blocks(path, options, delimiter_of(path, delimiter), size)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FileFormatError("the table cannot be read", path=path, remedy=f"({first_line(error)})") from None


def _parquet_blocks(
    path: Path, rows: int, row_groups: Sequence[int] | None, options: ColumnOptions, size: int
) -> Iterator[tuple[Dataset, int]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
        roles = options.roles(file.schema_arrow.names, path)
        total, done = max(file.metadata.num_rows, 1), 0
        for batch in file.iter_batches(rows, row_groups, columns=list(roles.columns)):
            done += batch.num_rows
            if batch.num_rows:
                yield _block(pa.Table.from_batches([batch]), roles, path), size * done // total


def _csv_blocks(path: Path, options: ColumnOptions, separator: str, size: int) -> Iterator[tuple[Dataset, int]]:
    import pyarrow as pa
    from pyarrow import csv

    _, header = header_of(path, separator)
    roles = options.roles(header, path)
    kinds = {name: pa.string() if name in roles.ids else pa.float64() for name in roles.columns}
    with csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=CSV_BLOCK),
        parse_options=csv.ParseOptions(delimiter=separator),
        convert_options=csv.ConvertOptions(
            column_types=kinds, include_columns=list(roles.columns), null_values=list(NULLS), strings_can_be_null=True
        ),
    ) as reader:
        done = 0
        for batch in reader:
            done = min(size, done + CSV_BLOCK)  # of text; compressed files are read faster than is said
            if batch.num_rows:
                yield _block(_whole_ids(pa.Table.from_batches([batch]), roles), roles, path), done


def _whole_ids(table: Any, roles: Roles) -> Any:
    """Ids that all look like whole numbers as such."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in roles.ids:
        column = table.column(name)
        if column.null_count == 0 and pc.all(pc.match_substring_regex(column, WHOLE_NUMBER)).as_py():
            whole = pc.replace_substring_regex(pc.utf8_trim_whitespace(column), r"\.0+$", "")
            table = table.set_column(table.column_names.index(name), name, whole.cast(pa.int64()))
    return table


def _block(table: Any, roles: Roles, path: Path) -> Dataset:
    """A data set of some rows, whose features are numbers."""
    import pyarrow as pa

    for column in roles.features:
        kind = table.schema.field(column).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise FileFormatError(
                f"column {column!r} holds {kind}, and tables are read in blocks with features that are numbers",
                path=path,
                remedy=("leave it out: ", ReadOption("ignore", [column])),
            )
    try:
        data = Dataset(
            table.select(list(roles.columns)),
            roles.label if roles.label is not None else False,
            roles.qid,
            labels=dict(roles.labels),
            weights=roles.weight,
            query_weights=roles.query_weight,
            document_ids=roles.document if roles.document is not None else False,
            features=list(roles.features),
            feature_names=None,
        )
        made = {column: role for column, role in data.roles.items() if column in roles.features}
        return data.with_origins(roles.origins, roles.words | made)
    except DataError as error:
        raise FileFormatError(error.args, path=path) from None
