"""How much a file may ask for before it is refused: damaged and hostile files must not use up the memory.

Each limit is far above what judged data holds, and an environment variable raises it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from rankforce.errors import FileFormatError, SettingsError

_ID = ("RANKFORCE_LONGEST_ID", 4096)  # characters of a query or document id, of a name of a feature or label
_LINE = ("RANKFORCE_LONGEST_LINE", 2**26)  # bytes of a line of text
_EXPANSION = ("RANKFORCE_MOST_EXPANSION", 200)  # decompressed bytes per compressed byte; text compresses 3 to 20 times

EXPANSION_FLOOR = 2**26  # decompressed bytes that are never too many

ID_REMEDY = (
    f"an id has at most {_ID[1]:,}: is the line or a quotation mark not closed? If it is meant so, set the environment "
    f"variable {_ID[0]}"
)
LINE_REMEDY = (
    f"is this a text file with line feeds? If it is meant so, set the environment variable {_LINE[0]} to more bytes"
)
EXPANSION_REMEDY = (
    f"no data compresses so well; if it is meant so, decompress the file, or set the environment variable "
    f"{_EXPANSION[0]} to more"
)


def longest_id() -> int:
    """The most characters of an id or a name."""
    return _limit(*_ID)


def longest_line() -> int:
    """The most bytes of a line of text."""
    return _limit(*_LINE)


def expands_too_far(compressed: int, decompressed: int) -> bool:
    """Whether compressed bytes became more than compressed data can mean."""
    return decompressed > max(EXPANSION_FLOOR, _limit(*_EXPANSION) * compressed)


def _limit(variable: str, default: int) -> int:
    text = os.environ.get(variable)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise SettingsError(f"the environment variable {variable} must be a positive whole number, not {text!r}")
    return int(text)


@contextlib.contextmanager
def within_memory(path: object) -> Iterator[None]:
    """Say of a file that it does not fit into the memory, in place of a MemoryError."""
    try:
        yield
    except MemoryError:
        problem = "what the file holds does not fit into the memory"
        remedy = "is it damaged, or far larger than it should be? Leave features out, split it, or use a larger machine"
        raise FileFormatError(problem, path=path, remedy=remedy) from None
