"""Parquet files that are read as one table: each as it is found, and a column of all of them."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankforce.data.tables.arrow import first_line
from rankforce.errors import FileFormatError
from rankforce.remedies import ReadOption


@dataclasses.dataclass(frozen=True)
class ParquetTable:
    """A file, closed: its columns with their Arrow types, and how much it holds. ``metadata`` is Arrow's."""

    path: Path
    types: Mapping[str, Any]
    names: Sequence[str]  # as they are written, perhaps one of them twice
    rows: int
    size: int  # bytes
    metadata: Any

    @classmethod
    def of(cls, path: Path) -> ParquetTable:
        """What the end of a file says about it."""
        with _opened(path, None) as file:
            schema = file.schema_arrow
            types = dict(zip(schema.names, schema.types, strict=True))
            return cls(path, types, schema.names, file.metadata.num_rows, path.stat().st_size, file.metadata)

    def opened(self) -> contextlib.AbstractContextManager[Any]:
        """Arrow's ``ParquetFile``; what goes wrong with it is told of this file."""
        return _opened(self.path, self.metadata)

    def read(self, columns: list[str]) -> Any:
        """A table of some columns."""
        with self.opened() as file:
            return file.read(columns=columns)


@contextlib.contextmanager
def _opened(path: Path, metadata: Any) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with read_errors(path):
        # nothing in a file is longer than the file: damage must not make Arrow ask for gigabytes
        limit = min(max(path.stat().st_size, 1), 1_000_000)
        with pq.ParquetFile(
            path,
            metadata=metadata,
            page_checksum_verification=True,
            pre_buffer=False,
            thrift_string_size_limit=100 * limit,
            thrift_container_size_limit=limit,
        ) as file:
            yield file


@contextlib.contextmanager
def read_errors(path: object) -> Iterator[None]:
    """Say of a file what Arrow says where it cannot be read."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise FileFormatError("there is no such file", path=path) from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        remedy = f"is it complete? ({first_line(error)})"
        raise FileFormatError("the file cannot be read as Parquet", path=path, remedy=remedy) from None


def common_type(kinds: Sequence[Any], is_number: Callable[[Any], bool]) -> Any:
    """The Arrow type that says what a column of several files is: no number if it is none in one of them."""
    import pyarrow as pa

    known = [kind for kind in kinds if not pa.types.is_null(kind)] or list(kinds)
    others = [kind for kind in known if not is_number(kind)]
    numbers = [kind for kind in known if not pa.types.is_boolean(kind)]
    return [*others, *numbers, *known][0]


def joined_column(parts: Sequence[ParquetTable], tables: Sequence[Any], name: str) -> Any:
    """A column of tables of several files, one after the other; an error if their types have nothing in common."""
    import pyarrow as pa

    columns = [table.column(name) for table in tables]
    kinds = [column.type for column in columns]
    if any(kind != kinds[0] for kind in kinds):
        kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
        common = _unified(parts, kinds, name)
        columns = [column.cast(common) for column in columns]
    return pa.chunked_array([chunk for column in columns for chunk in column.chunks], type=columns[0].type)


def _unified(parts: Sequence[ParquetTable], kinds: Sequence[Any], name: str) -> Any:
    import pyarrow as pa

    common = kinds[0]
    for part, kind in zip(parts, kinds, strict=True):
        try:
            both = [pa.schema([(name, common)]), pa.schema([(name, kind)])]
            common = pa.unify_schemas(both, promote_options="permissive").field(name).type
        except (pa.ArrowTypeError, pa.ArrowInvalid):
            raise FileFormatError(
                f"column {name!r} holds {kind}, and {common} in the files before it",
                path=part.path,
                remedy=("write it alike in all files, or leave it out: ", ReadOption("ignore", [name])),
            ) from None
    return common
