"""Data sets in files: the ending of the name says the format."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankforce.data.dataset import Dataset
from rankforce.data.file_formats import TABLES, is_table
from rankforce.data.found_files import FileNames, check_one_format, found_files, together
from rankforce.data.seen_columns import SeenColumns
from rankforce.errors import DataError, SettingsError
from rankforce.files.limits import within_memory
from rankforce.files.streams import file_name

if TYPE_CHECKING:
    from rankforce.data.blocks import BlockSize


def read(path: FileNames, **options: Any) -> Dataset:
    """Read a data set: a file, or several as if they were one (``found_files.py`` says which).

    ``.parquet``, ``.pq``, ``.csv`` and ``.tsv`` (the last two also with ``.gz``) are tables with named columns: options
    as for ``rf.read_table``. Every other file is LETOR/SVMlight text, plain or gzip: options as for ``rf.read_letor``.
    """
    files = found_files(path)
    check_one_format(files)
    name = together(files)
    if is_table(files[0]):
        from rankforce.data.tables.table_files import read_table

        reader: Callable[..., Dataset] = read_table
    else:
        from rankforce.data.letor.reading import read_letor

        reader = read_letor
    _check_options(reader, options, f"reading {os.path.basename(name)}")
    with within_memory(name):
        return reader(files, **options)


def file_blocks(
    path: str, size: BlockSize, seen: SeenColumns, **options: Any
) -> Generator[tuple[Dataset, int], None, None]:
    """A file in blocks of about this size, each with how many bytes of the file are read with it.

    Options as for ``read``; ``seen`` is told about columns that all blocks settle together.
    """
    name = file_name(path)
    purpose = f"reading {os.path.basename(name)}"
    if is_table(name):
        from rankforce.data.tables.table_blocks import table_blocks
        from rankforce.data.tables.table_files import read_table

        _check_options(read_table, options, purpose)
        yield from table_blocks(name, size, seen, **options)
    else:
        from rankforce.data.letor.blocks import letor_blocks

        _check_options(letor_blocks, options, purpose)
        yield from letor_blocks(name, seen, **options)


def feature_order(path: str, **options: Any) -> tuple[str, ...] | None:
    """The features of a table as its columns stand; None of text, whose features have numbers. Options of ``read``."""
    if not is_table(path):
        return None
    from rankforce.data.tables.table_blocks import table_features
    from rankforce.data.tables.table_files import read_table

    _check_options(read_table, options, f"reading {os.path.basename(path)}")
    return table_features(path, **options)


def write(data: Dataset, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a data set: a table or LETOR text, by the ending of the name as in ``read``.

    The file is replaced whole or not at all. What a format cannot hold is an error, never dropped unasked.
    """
    name = file_name(path)
    if is_table(name):
        from rankforce.data.tables.table_files import write_table

        writer: Callable[..., None] = write_table
    else:
        from rankforce.data.letor.writing import write_letor

        writer = write_letor
    _check_options(writer, options, f"writing {os.path.basename(name)}")
    writer(data, name, **options)


def table_path(path: str | os.PathLike[str]) -> Path:
    """The path of a table that is to be written; an error if its ending says no format of tables."""
    name = file_name(path)
    if not is_table(name):
        raise DataError(f"{name}: the ending says the format of a table, and must be one of {', '.join(TABLES)}")
    return Path(name)


def _check_options(function: Callable[..., Any], options: dict[str, Any], purpose: str) -> None:
    parameters = inspect.signature(function).parameters.values()
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        return
    known = [one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise SettingsError(f"{purpose} has no option {option!r} (it has: {', '.join(known)})")
