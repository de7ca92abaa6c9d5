"""Tables in several files: which columns all of them have, and which file a row is in.

Columns are found by their names, so that every file may have its own order of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rankforce.data.tables.columns import ColumnOptions, Roles
from rankforce.displayed_text import displayed_path
from rankforce.errors import FileFormatError
from rankforce.remedies import ReadOption


def roles_in_all(options: ColumnOptions, headers: Mapping[Path, Sequence[str]]) -> Roles:
    """Who is what among the columns of files, in the order of the first; an error if a file lacks one that counts."""
    first = next(iter(headers))
    for path, names in headers.items():
        name, count = Counter(names).most_common(1)[0] if names else ("", 1)
        if count > 1:
            raise FileFormatError("two columns have the same name", path=path, text=name)
    columns = list(dict.fromkeys(name for names in headers.values() for name in names))
    roles = options.roles(columns, first)
    for path, names in headers.items():
        there = set(names)
        for name in roles.columns:
            if name not in there:
                raise _lacking(name, path, headers)
    return roles


def _lacking(column: str, path: Path, headers: Mapping[Path, Sequence[str]]) -> FileFormatError:
    """The error about the file that is unlike the first one: it lacks a column, or has one more."""
    first = next(iter(headers))
    remedy = ("files that are read as one have the same columns; leave it out: ", ReadOption("ignore", [column]))
    if path != first:
        problem = f"there is no column {column!r}, which {displayed_path(first)} has"
        return FileFormatError(problem, path=path, remedy=remedy)
    other = next(one for one, names in headers.items() if column in names)
    problem = f"there is a column {column!r}, which {displayed_path(first)} does not have"
    return FileFormatError(problem, path=other, remedy=remedy)


def first_rows(counts: Sequence[int]) -> np.ndarray:
    """Where the rows of each file begin, and where the last one ends, if the files have so many."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def place_of_row(firsts: np.ndarray, row: int) -> tuple[int, int]:
    """The number of the file that has a row, and the row within that file."""
    number = int(np.searchsorted(firsts, row, side="right")) - 1
    return number, row - int(firsts[number])
