"""Data that is read in blocks: data sets of some consecutive rows each, as often as they are asked for.

A query may go on in the next block, or come again much later. All blocks have the same label sources; of text with
numbered features a later block may have more of them.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.data.file_formats import is_table
from rankforce.data.found_files import filled_files, found_files, together
from rankforce.data.seen_columns import SeenColumns
from rankforce.errors import DataError
from rankforce.kinds import shown
from rankforce.threads import thread_count

_WANTED = (
    "data is the name of a file, a pattern, a folder of files, a list of names, a Dataset, or a function that returns "
    "an iterator of data sets"
)


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
    seen : what was learnt about columns whose kind or categories all rows decide
    """

    def __init__(
        self,
        iterate: Callable[[], Generator[tuple[Any, int], None, None]],
        files: Sequence[str] = (),
        absent: float | None = None,
        seen: SeenColumns | None = None,
    ) -> None:
        """``iterate`` yields data sets, each with how many bytes of the files are read with it."""
        self._iterate = iterate
        self.seen = SeenColumns() if seen is None else seen
        self.files = tuple(SourceFile.of(path) for path in files)
        self.size = sum(one.size for one in self.files)
        self.absent = absent

    def __iter__(self) -> Iterator[tuple[Dataset, int]]:
        with contextlib.closing(self._iterate()) as made:
            for block, read in _ahead(made) if self.files and thread_count() > 1 else made:
                if not isinstance(block, Dataset):
                    raise DataError(f"a block of rows is a Dataset, not {shown(block)}")
                yield block, read

    def check_unchanged(self) -> None:
        """Raise if a file is another one than at first."""
        for before in self.files:
            if SourceFile.of(before.path) != before:
                raise DataError(f"{before.path} was changed while it was read: begin again")


class BlockSize(NamedTuple):
    """How large a block may be: so many rows, and so many bytes of features; text is read in rounds of its own size."""

    rows: int
    bytes: int

    def rows_of(self, features: int) -> int:
        """How many rows of so many features."""
        return max(1, min(self.rows, self.bytes // (4 * max(features, 1))))


def _ahead(blocks: Iterator[tuple[Any, int]]) -> Iterator[tuple[Any, int]]:
    """The same blocks, the next one being read while the caller works on one."""
    context = contextvars.copy_context()  # the number of threads in force

    def following() -> tuple[Any, int] | None:
        return context.run(next, blocks, None)

    with ThreadPoolExecutor(1, thread_name_prefix="rankforce-blocks") as reader:
        coming = reader.submit(following)
        while (current := coming.result()) is not None:
            coming = reader.submit(following)
            yield current


def blocks_of(data: Any, size: BlockSize, **options: Any) -> Blocks:
    """Blocks of at most about this size.

    ``data``: the name of a file, a pattern (``train/*.txt.gz``), a folder or a list of these; a Dataset; or a function
    that returns an iterator of data sets, and is called for every pass. ``options`` as for ``rf.read``.
    """
    if isinstance(data, Dataset):
        _refuse_options(options, "a Dataset")
        return Blocks(lambda: _slices(data, size.rows_of(data.n_features)))
    if callable(data):
        _refuse_options(options, "a function")
        return Blocks(lambda: _unsized(data()))
    paths = found_files(data, wanted=_WANTED)
    from rankforce.data.files import file_blocks
    from rankforce.data.letor.reading import no_document

    filled = filled_files(paths)
    seen = SeenColumns()
    absent = {"zero": 0.0, "missing": float("nan")}.get(options.get("absent", "zero"))
    if any(map(is_table, paths)):
        absent = None

    def iterate() -> Generator[tuple[Dataset, int], None, None]:
        before = 0
        names: tuple[str, ...] = ()
        for path in filled:
            with contextlib.closing(file_blocks(path, size, seen, **options)) as blocks:
                for block, read in blocks:
                    names = names or block.feature_names
                    yield in_order(block, names), before + read
            before += os.path.getsize(path)
        if not names and not is_table(filled[0]):
            raise no_document(together(paths), empty=before == 0)

    return Blocks(iterate, paths, absent, seen)


def in_order(block: Dataset, names: tuple[str, ...]) -> Dataset:
    """A block with its features in this order, if it has these: another file may have its columns in another one."""
    if block.feature_names == names or sorted(block.feature_names) != sorted(names):
        return block
    return block.take_features(names)


def _slices(data: Dataset, rows: int) -> Generator[tuple[Dataset, int], None, None]:
    for first in range(0, data.n_documents, rows):
        yield data._take_rows(np.arange(first, min(first + rows, data.n_documents))), 0


def _unsized(blocks: Any) -> Generator[tuple[Any, int], None, None]:
    for block in blocks:
        yield block, 0


def _refuse_options(options: dict[str, Any], what: str) -> None:
    if options:
        raise DataError(f"{what} has no option {next(iter(options))!r}: options are for reading files")
