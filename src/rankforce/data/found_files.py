"""Which files are meant: by a name, a pattern, a folder of parts, or a list of these.

A folder stands for the files in it whose names have an ending of a data file; folders in it are not looked into. A
pattern (``*``, ``?``, ``[``) stands for all files and folders that match. Both go by the order of names, and pass over
what begins with a dot or an underscore: hidden files, and Spark's ``_SUCCESS`` and ``_metadata``.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Sequence
from typing import Any

from rankforce.data.file_formats import LETOR_TEXT, PARQUET, TABLES, format_of, is_store
from rankforce.errors import DataError, FileFormatError
from rankforce.files.streams import file_name
from rankforce.kinds import shown

FileNames = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
ENDINGS = (*TABLES, *LETOR_TEXT)

_MARKS = "*?["
_PASSED_OVER = (".", "_")
_WANTED = "data is named by the path of a file or of a folder of files, a pattern, or a list of these"


def found_files(given: Any, endings: Sequence[str] = ENDINGS, wanted: str = _WANTED) -> list[str]:
    """The files, those of a folder with one of these endings; ``wanted`` says what could have been given.

    An error if there is none, if one is named twice, or if one is a store, which is not read like files.
    """
    listed: Any = [given] if isinstance(given, (str, bytes, os.PathLike)) else given
    if not isinstance(listed, Sequence) or not listed:
        raise DataError(f"{wanted}, not {shown(given)}")
    files = [file for one in listed for file in _files_of(file_name(one), tuple(endings))]
    seen: set[str] = set()
    for file in files:
        if is_store(file):
            raise DataError(f"{file} is a store, which is opened alone and by its name, not read as a file of data")
        place = os.path.abspath(file)
        if place in seen:
            raise DataError(f"{file} is named twice: its documents would be there twice")
        seen.add(place)
    return files


def filled_files(files: Sequence[str]) -> list[str]:
    """Files without those of no bytes, which have nothing to add to others, not even a header; all, if all are such.

    A Parquet file of no bytes is damaged, and stays.
    """
    filled = [file for file in files if format_of(file) == PARQUET or not _is_empty(file)]
    return filled or list(files)


def _is_empty(file: str) -> bool:
    with contextlib.suppress(OSError):  # who opens it says what is wrong
        return os.path.isfile(file) and os.path.getsize(file) == 0
    return False


def is_pattern(name: str) -> bool:
    """Whether a name is a pattern, and not that of a file."""
    return any(mark in name for mark in _MARKS) and not os.path.exists(name)


def together(files: Sequence[str | os.PathLike[str]]) -> str:
    """Files that are read as one, as errors call them."""
    first = os.fspath(files[0])
    if len(files) == 1:
        return first
    return f"{first} and {len(files) - 1:,} more file{'s' if len(files) > 2 else ''}"


def check_one_format(files: Sequence[str]) -> None:
    """Raise unless files that are to be read as one have one format."""
    for file in files:
        if format_of(file) != format_of(files[0]):
            raise DataError(
                f"{files[0]} is {format_of(files[0])} and {file} is {format_of(file)}: files that are read as one have "
                f"one format; choose them by a pattern, for example {_pattern_like(files[0])}"
            )


def _files_of(name: str, endings: tuple[str, ...]) -> list[str]:
    if is_store(name):
        return [name]
    if os.path.isdir(name):
        return _in_folder(name, endings)
    if not is_pattern(name):
        return [name]
    asked_for = os.path.basename(name).startswith(_PASSED_OVER)
    found = [one for one in sorted(glob.glob(name)) if asked_for or _counts(os.path.basename(one))]
    if not found:
        raise FileFormatError("there is no such file, and none that matches it as a pattern", path=name)
    return [file for one in found for file in (_in_folder(one, endings) if _is_folder(one) else [one])]


def _in_folder(folder: str, endings: tuple[str, ...]) -> list[str]:
    try:
        with os.scandir(folder) as scanned:
            entries = sorted((entry for entry in scanned if _counts(entry.name)), key=lambda entry: entry.name)
    except OSError as error:
        raise FileFormatError(f"the folder cannot be read: {error.strerror or error}", path=folder) from None
    found = []
    for entry in entries:
        if not entry.name.lower().endswith(endings):
            continue
        if entry.is_dir():
            raise DataError(
                f"{entry.path} is a folder within a folder, which is not looked into: name it, or a pattern, "
                f"for example {_pattern_like(entry.path)}"
            )
        found.append(entry.path)
    if not found:
        deeper = any(entry.is_dir() and not is_store(entry.name) for entry in entries)
        pattern = os.path.join(folder, "*", "*") if deeper else os.path.join(folder, "part-*")
        raise FileFormatError(
            f"the folder has no file with one of the endings {', '.join(endings)}",
            path=folder,
            remedy=f"files with other names, or in folders in it, are named by a pattern, for example {pattern}",
        )
    return found


def _is_folder(name: str) -> bool:
    return os.path.isdir(name) and not is_store(name)


def _counts(name: str) -> bool:
    return not name.startswith(_PASSED_OVER)


def _pattern_like(path: str) -> str:
    """A pattern for files with the ending of this one, in its folder."""
    folder, name = os.path.split(path)
    stem, dot, ending = name.partition(".")
    return os.path.join(folder, f"*{dot}{ending}" if dot else f"{stem[:1]}*")
