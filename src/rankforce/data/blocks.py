"""Data that is read in blocks: data sets of some consecutive rows each, as often as they are asked for.

A query may go on in the next block, or come again much later. All blocks have the same label sources; of text with
numbered features a later block may have more of them.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import DataError
from rankforce.files.streams import file_name
from rankforce.kinds import shown


class SourceFile(NamedTuple):
    """A file that data came from, as it was then."""

    path: str
    size: int
    modified: int  # nanoseconds

    @classmethod
    def of(cls, path: str) -> SourceFile:
        try:
            found = os.stat(path)
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
        return cls(path, found.st_size, found.st_mtime_ns)


class Blocks:
    """Blocks of rows, again and again.

    files : what they are read from; empty for data in memory
    absent : what a feature is that a block does not have
    """

    def __init__(
        self,
        iterate: Callable[[], Iterator[tuple[Any, int]]],
        files: Sequence[str] = (),
        absent: float | None = None,
    ) -> None:
        """``iterate`` yields data sets, each with how many bytes of the files are read with it."""
        self._iterate = iterate
        self.files = tuple(SourceFile.of(path) for path in files)
        self.size = sum(one.size for one in self.files)
        self.absent = absent

    def __iter__(self) -> Iterator[tuple[Dataset, int]]:
        for block, read in self._iterate():
            if not isinstance(block, Dataset):
                raise DataError(f"a block of rows is a Dataset, not {shown(block)}")
            yield block, read

    def check_unchanged(self) -> None:
        """Raise if a file is another one than at first."""
        for before in self.files:
            if SourceFile.of(before.path) != before:
                raise DataError(f"{before.path} was changed while it was read: begin again")


def blocks_of(data: Any, rows: int, **options: Any) -> Blocks:
    """Blocks of at most about ``rows`` rows.

    ``data``: the name of a file, a pattern (``train/*.txt.gz``) or a list of names; a Dataset; or a function that
    returns an iterator of data sets, and is called for every pass. ``options`` as for ``rf.read``.
    """
    if isinstance(data, Dataset):
        _refuse_options(options, "a Dataset")
        return Blocks(lambda: _slices(data, rows))
    if callable(data):
        _refuse_options(options, "a function")
        return Blocks(lambda: ((block, 0) for block in data()))
    paths = paths_of(data)
    from rankforce.data.files import file_blocks

    absent = {"zero": 0.0, "missing": float("nan")}.get(options.get("absent", "zero"))

    def iterate() -> Iterator[tuple[Dataset, int]]:
        before = 0
        for path in paths:
            with contextlib.closing(file_blocks(path, rows, **options)) as blocks:
                for block, read in blocks:
                    yield block, before + read
            before += os.path.getsize(path)

    return Blocks(iterate, paths, absent)


def _slices(data: Dataset, rows: int) -> Iterator[tuple[Dataset, int]]:
    for first in range(0, data.n_documents, rows):
        yield data._take_rows(np.arange(first, min(first + rows, data.n_documents))), 0


def _refuse_options(options: dict[str, Any], what: str) -> None:
    if options:
        raise DataError(f"{what} has no option {next(iter(options))!r}: options are for reading files")


def paths_of(data: Any) -> list[str]:
    """The files of a name, a pattern or a list of them."""
    listed = [data] if isinstance(data, (str, Path)) else data
    if not isinstance(listed, Sequence) or not listed:
        raise DataError(
            "data is the name of a file, a pattern, a list of names, a Dataset, or a function that returns an iterator "
            f"of data sets, not {shown(data)}"
        )
    paths: list[str] = []
    for one in listed:
        name = file_name(one)
        if any(mark in name for mark in "*?[") and not os.path.exists(name):
            found = sorted(glob.glob(name))
            if not found:
                raise DataError(f"{name}: there is no such file")
            paths.extend(found)
        else:
            paths.append(name)
    return paths
