"""The pieces that data on a cluster comes in: files, row groups, partitions of a frame, parts of a data set.

A piece is a description that any worker can read blocks of rows from, again and again: what a worker held that is gone
is read by another one. What is no file has a *content*, which Dask keeps and computes anew if it is lost. A file whose
columns do not all hold numbers has one, too: what these columns are.
"""

from __future__ import annotations

import abc
import dataclasses
import itertools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.data.blocks import BlockSize, SourceFile, in_order
from rankforce.data.dataset import Dataset
from rankforce.data.file_formats import is_store, is_table
from rankforce.data.files import feature_order, file_blocks
from rankforce.data.found_files import filled_files, found_files
from rankforce.data.frames import is_frame
from rankforce.data.seen_columns import NotNumbersError, SeenColumns
from rankforce.errors import DataError, FileFormatError, SettingsError
from rankforce.files.streams import file_name
from rankforce.stores.binned_dataset import BinnedDataset

ROWS_IN_A_BLOCK = 65_536
BLOCK = BlockSize(ROWS_IN_A_BLOCK, 64 * 2**20)
ROW_GROUP_BYTES = 256 * 2**20  # a Parquet file is cut into pieces of about so much
PIECES_PER_WORKER = 4
_WANTED = "data is a folder, a file, a pattern, a list of files, a dask.dataframe or a Dataset"
_PARTS = {"label": "y", "weight": "weights", "query_weight": "query_weights", "document": "document_ids"}


class UnsettledColumnsError(Exception):
    """A file has columns that hold no numbers, and nobody has said yet what they are."""


@dataclasses.dataclass(frozen=True)
class Piece(abc.ABC):
    """Some consecutive rows; ``number`` says which come first where a query has rows in several pieces.

    name : what errors call it
    size : bytes, about, by which pieces are dealt
    """

    number: int
    name: str
    size: int

    @property
    def absent(self) -> float | None:
        """What a feature is that a block does not have; None: all have the same."""
        return None

    @abc.abstractmethod
    def blocks(self, content: Any) -> Iterator[Dataset]:
        """Its rows, some at a time."""


@dataclasses.dataclass(frozen=True)
class FilePiece(Piece):
    """A file, or some row groups of one, with the options of ``rf.read``.

    order : of the features, in all files of a data set; None for text, whose features have numbers
    """

    source: SourceFile
    options: Mapping[str, Any]
    order: tuple[str, ...] | None
    row_groups: tuple[int, ...] | None = None

    @property
    def absent(self) -> float | None:
        if is_table(self.source.path):
            return None
        return {"zero": 0.0, "missing": float("nan")}.get(self.options.get("absent", "zero"))

    def blocks(self, content: Any) -> Iterator[Dataset]:
        """``content``: what columns are that hold no numbers (``settling.SettledColumns``), where there are some."""
        seen = SeenColumns() if content is None else SeenColumns(set(content.texts))
        try:
            for block in self.blocks_as_read(seen):
                if content is None and (seen.columns or block.categories):
                    raise UnsettledColumnsError(self.name)
                yield block if content is None else content.of(block)
        except NotNumbersError:
            if content is None:
                raise UnsettledColumnsError(self.name) from None
            raise DataError(f"{self.name} was changed since it was looked at: begin again") from None

    def blocks_as_read(self, seen: SeenColumns) -> Iterator[Dataset]:
        """The same, where columns that hold no numbers have a list of entries in every block."""
        if SourceFile.of(self.source.path) != self.source:
            raise DataError(f"{self.source.path} was changed since it was looked at: begin again")
        if self.row_groups is None:
            found: Iterator[tuple[Dataset, int]] = file_blocks(self.source.path, BLOCK, seen, **self.options)
        else:
            from rankforce.data.tables.table_blocks import table_blocks

            found = table_blocks(self.source.path, BLOCK, seen, row_groups=self.row_groups, **self.options)
        for block, _ in found:
            if block.categories and not is_table(self.source.path):
                self._refuse_categories(next(iter(block.categories)))
            yield block if self.order is None else in_order(block, self.order)

    def _refuse_categories(self, feature: str) -> None:
        """Of numbered features, which a block may not name and which are something nevertheless."""
        raise FileFormatError(
            f"feature {feature} was declared as categories, which is not shared from LETOR text",
            path=self.source.path,
            remedy="read the data and share the Dataset, or write it to Parquet files",
        )


@dataclasses.dataclass(frozen=True)
class HeldPiece(Piece):
    """A data set, or a data frame with the options of ``rf.read``, that Dask holds."""

    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def blocks(self, content: Any) -> Iterator[Dataset]:
        if content is None:
            return
        if isinstance(content, Dataset):
            yield content
            return
        for first in range(0, len(content), ROWS_IN_A_BLOCK):
            rows = content.iloc[first : first + ROWS_IN_A_BLOCK]
            try:
                yield Dataset(rows, **{_PARTS.get(name, name): given for name, given in self.options.items()})
            except DataError as error:
                raise DataError(f"{self.name}: ", *error.args) from None


@dataclasses.dataclass(frozen=True)
class StorePiece(Piece):
    """Some consecutive queries of a store."""

    path: str
    first: int
    last: int
    identity: str

    def opened(self) -> BinnedDataset:
        """The store; an error if another one has taken its place."""
        return BinnedDataset.open(Path(self.path), self.identity)

    def blocks(self, content: Any) -> Iterator[Dataset]:
        yield self.opened().take_queries(np.arange(self.first, self.last))


@dataclasses.dataclass(frozen=True)
class PieceSource:
    """Pieces, and what they hold that is no file, by their numbers: data sets, or Dask's keys to it."""

    pieces: list[Piece]
    contents: dict[int, Any]
    store: BinnedDataset | None = None


def source_of(
    given: Any, options: Mapping[str, Any], n_workers: int, like: tuple[str, ...] | None = None
) -> PieceSource:
    """The pieces of data: a store, files, a data set, or a data frame of Dask's.

    Features of files have the order of ``like``, if it names the same, or of the first file, which ``rf.read`` gives.
    """
    if isinstance(given, BinnedDataset):
        return _of_store(given, options, n_workers)
    if isinstance(given, Dataset):
        return _of_dataset(given, options, n_workers)
    if hasattr(given, "to_delayed") and hasattr(given, "npartitions"):
        return _of_frame(given, options)
    if is_frame(given):
        raise DataError("a data frame is shared as a Dataset that is made of it, or as a dask.dataframe")
    if isinstance(given, (str, os.PathLike)) and is_store(file_name(given)):
        return _of_store(BinnedDataset.open(Path(file_name(given))), options, n_workers)
    return _of_files(_files(given), options, n_workers, like)


def _files(given: Any) -> list[str]:
    """Files of a folder, a pattern or a list, which are where workers can see them."""
    for one in given if isinstance(given, (list, tuple)) else [given]:
        if isinstance(one, (str, os.PathLike)) and "://" in file_name(one):
            raise DataError(
                f"{file_name(one)}: files are read from folders that all workers see; what Dask reads from elsewhere "
                "is shared as its frame: dask.dataframe.read_parquet(...)"
            )
    return found_files(given, wanted=_WANTED)


def _of_files(
    paths: list[str], options: Mapping[str, Any], n_workers: int, like: tuple[str, ...] | None
) -> PieceSource:
    pieces: list[Piece] = []
    total = sum(SourceFile.of(path).size for path in paths)
    paths = list(map(os.path.abspath, filled_files(paths)))
    order = feature_order(paths[0], **options)
    if order is not None and like is not None and sorted(order) == sorted(like):
        order = like
    for path in paths:
        source = SourceFile.of(path)
        for groups, share in _row_groups(path, source.size, total, n_workers):
            name = path if groups is None else f"{path}, row groups {groups[0]} to {groups[-1]}"
            size = int(source.size * share)
            pieces.append(FilePiece(len(pieces), name, size, source, dict(options), order, groups))
    return PieceSource(pieces, {})


def _row_groups(path: str, size: int, total: int, n_workers: int) -> list[tuple[tuple[int, ...] | None, float]]:
    """The row groups of each piece of a Parquet file, and its share of the file; other files are one piece."""
    wanted = min(ROW_GROUP_BYTES, -(-total // (PIECES_PER_WORKER * n_workers)))
    if not path.lower().endswith((".parquet", ".pq")) or size <= wanted:
        return [(None, 1.0)]
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise FileFormatError("the file cannot be read as Parquet", path=path, remedy=f"({error})") from None
    count = metadata.num_row_groups
    pieces = min(count, -(-size // wanted))
    if pieces <= 1:
        return [(None, 1.0)]
    parts = np.array_split(np.arange(count), pieces)
    return [(tuple(part.tolist()), len(part) / count) for part in parts]


def _of_dataset(data: Dataset, options: Mapping[str, Any], n_workers: int) -> PieceSource:
    _refuse_options(options, "a Dataset")
    count = min(data.n_queries, PIECES_PER_WORKER * n_workers)
    parts = np.array_split(np.arange(data.n_queries), count)
    bytes_per_document = 4 * data.n_features + 8 * (len(data.labels) + 1)
    pieces, contents = [], {}
    for number, queries in enumerate(parts):
        contents[number] = data.take_queries(queries)
        size = bytes_per_document * contents[number].n_documents
        pieces.append(HeldPiece(number, f"queries {queries[0]} to {queries[-1]}", size))
    return PieceSource(list(pieces), contents)


def _of_frame(frame: Any, options: Mapping[str, Any]) -> PieceSource:
    parts = frame.to_delayed()
    pieces = [HeldPiece(number, f"partition {number}", 1, dict(options)) for number in range(len(parts))]
    return PieceSource(list(pieces), dict(enumerate(parts)))


def _of_store(store: BinnedDataset, options: Mapping[str, Any], n_workers: int) -> PieceSource:
    _refuse_options(options, "a store")
    if not store.mapped:
        raise DataError("some queries of a store are shared by no cluster: share the store itself")
    count = min(store.n_queries, PIECES_PER_WORKER * n_workers)
    edges = np.linspace(0, store.n_queries, count + 1).astype(int).tolist()
    width = store.bins.rows.shape[1]
    pieces: list[Piece] = []
    path = str(store.folder)
    for first, last in itertools.pairwise(edges):
        documents = int(store.query_starts[last] - store.query_starts[first])
        name = f"{store.path}, queries {first} to {last - 1}"
        pieces.append(StorePiece(len(pieces), name, width * documents, path, first, last, store.identity))
    return PieceSource(pieces, {}, store)


def _refuse_options(options: Mapping[str, Any], what: str) -> None:
    for option in options:
        raise SettingsError(f"{what} has no option {option!r}: options are for reading files and frames")
