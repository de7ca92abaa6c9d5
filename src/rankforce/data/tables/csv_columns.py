"""Delimited text by columns with Python's csv and NumPy: how CSV is read and written where pyarrow is not installed.

Numbers are exact: a feature is the float32 number nearest to its decimal digits, as Arrow reads it.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import itertools
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

import numpy as np

from rankforce.data.seen_columns import NotNumbersError
from rankforce.data.spelled_numbers import with_point
from rankforce.data.tables.csv_rows import NULLS, refuse_broken_row, rows
from rankforce.errors import FileFormatError

_ROWS = 16384  # of a block that is turned into columns at once
_NULLS = frozenset(NULLS)


def read_columns(
    path: Path,
    delimiter: str,
    header: Sequence[str],
    texts: Sequence[str],
    numbers: Mapping[str, str],
    decimal: str = ".",
) -> dict[str, np.ndarray]:
    """Columns by name: ``texts`` as text, ``numbers`` (column → what it is) as float32 if features, else as float64.

    A row that cannot be read is an error with its place; columns with a cell that is no number are a NotNumbersError.
    """
    places = {name: header.index(name) for name in (*texts, *numbers)}
    parts: dict[str, list[np.ndarray]] = {name: [] for name in places}
    lines = rows(path, delimiter)
    while block := [cells for _, cells in itertools.islice(lines, _ROWS)]:
        if {*map(len, block)} != {len(header)}:
            refuse_broken_row(path, delimiter, header, {})
            raise FileFormatError("the file cannot be read", path=path)
        columns: Any = list(zip(*block, strict=True))
        others = []
        for name, place in places.items():
            cells = columns[place]
            values = _numbers(cells, numbers[name] == "feature", decimal) if name in numbers else _text(cells)
            if values is None:
                others.append(name)
            else:
                parts[name].append(values)
        if others:
            raise NotNumbersError(others)
    return {name: np.concatenate(values) if values else np.empty(0) for name, values in parts.items()}


def whole_numbers(column: np.ndarray, pattern: str) -> np.ndarray | None:
    """A column of text as int64, if every cell matches the pattern of whole numbers and fits; else None."""
    texts = column.tolist()
    matches = re.compile(pattern, re.ASCII).match
    numbers: dict[str, int] = {}
    for text in dict.fromkeys(texts):  # each query once
        if not matches(text):
            return None
        number = int(text.strip().partition(".")[0])
        if not -(2**63) <= number < 2**63:
            return None  # text, so that nothing is changed
        numbers[text] = number
    return np.array([numbers[text] for text in texts], dtype=np.int64)


def write_columns(file: IO[bytes], columns: Sequence[tuple[str, np.ndarray]], delimiter: str, compressed: bool) -> None:
    """Write columns under their names. Numbers have all their digits; NaN is an empty cell."""
    with contextlib.ExitStack() as opened:
        stream: Any = file
        if compressed:
            stream = opened.enter_context(gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0))
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        opened.callback(text.detach)  # flushes, and leaves the file open to who opened it
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        writer.writerow([name for name, _ in columns])
        for first in range(0, len(columns[0][1]), _ROWS):
            cells = [_written(values[first : first + _ROWS]) for _, values in columns]
            writer.writerows(zip(*cells, strict=True))


def _written(values: np.ndarray) -> list[str]:
    if values.dtype.kind != "f":
        return ["" if value is None else str(value) for value in values.tolist()]
    return np.where(np.isnan(values), "", values.astype(str)).tolist()


def _text(cells: Sequence[str]) -> np.ndarray:
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def _numbers(cells: Sequence[str], single: bool, decimal: str) -> np.ndarray | None:
    """Cells as numbers, empty ones and other nulls as NaN; None if one is no number."""
    if decimal != ".":
        cells = [with_point(cell, decimal) for cell in cells]
    joined = "".join(cells)
    if "_" in joined or not joined.isascii():  # Python would take 1_000, and digits of other scripts
        return None
    try:
        values = np.array([np.nan if cell in _NULLS else float(cell) for cell in cells], dtype=np.float64)
    except ValueError:
        return None
    return nearest_single(values, cells) if single else values


def nearest_single(values: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """The float32 numbers nearest to decimal texts, whose nearest float64 numbers are ``values``.

    Rounding twice can go wrong only where the float64 number lies in the middle of two float32 numbers: there the
    digits decide.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = values.astype(np.float32)
        other = np.nextafter(rounded, np.where(values > rounded, np.inf, -np.inf).astype(np.float32))
        middle = (rounded.astype(np.float64) + other.astype(np.float64)) / 2.0
        undecided = np.flatnonzero((values == middle) & (values != rounded) & np.isfinite(values))
    for place in undecided.tolist():
        exact = Fraction(texts[place].strip())
        if exact != Fraction(float(values[place])):  # in the middle itself the even one is right, as rounded
            pair = (rounded[place], other[place])
            rounded[place] = max(pair) if exact > Fraction(float(values[place])) else min(pair)
    return rounded
