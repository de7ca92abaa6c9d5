"""Delimited text row by row: exact about the place of what is wrong."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from rankforce.data.spelled_numbers import has_decimal_comma, with_point
from rankforce.errors import FileFormatError
from rankforce.files.decompression import lines, opened
from rankforce.remedies import ReadOption, Words

NULLS = ["", "NaN", "nan", "NAN", "NA", "N/A", "NULL", "null", "None"]
_LINE_END = re.compile(rb"\r\n|\n|\r")


def open_bytes(path: Path) -> contextlib.AbstractContextManager[Any]:
    """The content of delimited text, decompressed where the name ends in ``.gz``."""
    return opened(path, compressed=path.suffix == ".gz")


@contextlib.contextmanager
def _open_text(path: Path) -> Iterator[IO[str]]:
    with open_bytes(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        yield text


def rows(path: Path, delimiter: str, header: bool = False) -> Iterator[tuple[int, list[str]]]:
    """(line where it begins, cells) of every row that is not blank; without ``header`` without the first of them."""
    line = 1
    try:
        with _open_text(path) as file:
            reader = csv.reader(lines(file, path), delimiter=delimiter, strict=True)
            names_seen = header
            for cells in reader:
                if cells and names_seen:
                    yield line, cells
                names_seen = names_seen or bool(cells)  # the first row that is not blank names the columns
                line = reader.line_num + 1
    except csv.Error as error:
        problem = f"not a row of cells: {error}"
        raise FileFormatError(problem, path=path, line=line, remedy="is a quotation mark not closed?") from None
    except UnicodeDecodeError:
        problem, remedy = "not UTF-8 text", "is it compressed, or in another encoding?"
        raise FileFormatError(problem, path=path, line=_first_undecodable_line(path), remedy=remedy) from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        problem, remedy = "the compressed file is damaged or cut off", "copy or compress it again"
        raise FileFormatError(problem, path=path, line=line, remedy=remedy) from None
    except FileNotFoundError:
        raise FileFormatError("there is no such file", path=path) from None
    except OSError as error:
        raise FileFormatError(f"the file cannot be read: {error.strerror or error}", path=path) from None


def _first_undecodable_line(path: Path) -> int | None:
    """The line (from 1) with the first byte that is not UTF-8: text is decoded in blocks before rows are counted."""
    line = 1
    with contextlib.suppress(EOFError, OSError, zlib.error), open_bytes(path) as file:
        for ended in lines(file, path):  # by a line feed, which is part of no other character
            try:
                ended.decode()
            except UnicodeDecodeError as error:
                return line + len(_LINE_END.findall(ended[: error.start]))
            line += len(_LINE_END.findall(ended))
    return None


def say_delimiter(sign: str) -> Words:
    """What to do about the delimiter of a table that is not the expected one."""
    return ("say ", ReadOption("delimiter", sign))


def header_of(
    path: Path, delimiter: str, example: str = "qid,label,...", remedy: Callable[[str], Words] = say_delimiter
) -> tuple[int, list[str]]:
    """The line of the names of the columns, the first that is not blank, and the names.

    ``remedy`` says what to do about another delimiter.
    """
    first = next(rows(path, delimiter, header=True), None)
    if first is None:
        named = f"the first line names the columns: {example}"
        raise FileFormatError("the file is empty", path=path, remedy=named)
    line, names = first
    if len(names) == 1:
        other = next((sign for sign in ",;\t|" if sign != delimiter and sign in names[0]), None)
        if other is not None:
            problem = f"there is no {delimiter!r} in the header"
            raise FileFormatError(problem, path=path, line=line, text=names[0], remedy=remedy(other))
    return line, names


def refuse_broken_row(
    path: Path, delimiter: str, header: Sequence[str], what: Mapping[str, str], decimal: str = "."
) -> None:
    """Raise the error for the first row that is broken, with its place; ``what`` says what columns of numbers are."""
    indices = [(index, name, what[name]) for index, name in enumerate(header) if name in what]
    for line, cells in rows(path, delimiter):
        if len(cells) != len(header):
            raise FileFormatError(
                f"{len(cells)} cells in a row, the header has {len(header)}",
                path=path,
                line=line,
                text=delimiter.join(cells),
                remedy="an empty cell is a missing value, but its delimiter must be there",
            )
        for index, name, kind in indices:
            if cells[index] not in NULLS and not _is_number(with_point(cells[index], decimal)):
                remedy: list[Any] = ["write a number, or leave the cell empty for a missing value"]
                if decimal == "." and has_decimal_comma(cells[index]):
                    remedy += ["; for a decimal comma: ", ReadOption("decimal", ",")]
                if kind == "feature":
                    remedy += ["; for a column that is no feature: ", ReadOption("ignore", [name])]
                problem = f"column {name!r}: not a number"
                raise FileFormatError(problem, path=path, line=line, column=index + 1, text=cells[index], remedy=remedy)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", text, re.ASCII) is not None
