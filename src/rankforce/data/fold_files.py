"""Folds that come as files: the folders in which LETOR and MSLR are handed out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

from rankforce.data.dataset import Dataset
from rankforce.data.files import read
from rankforce.errors import DataError
from rankforce.files.streams import file_name
from rankforce.kinds import FunctionOf, OrNone
from rankforce.remedies import ReadOption

OnRead = Callable[[Path, Dataset], None]

_FOLD = re.compile(r"fold[ _-]?(\d+)", re.IGNORECASE)
_PARTS = {"train": ("train",), "validation": ("vali", "valid", "validation", "dev"), "test": ("test",)}
_ENDINGS = (".txt", ".txt.gz", ".letor", ".svm", ".parquet", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".gz", "")


class Fold(NamedTuple):
    """What is learned from, what settings are chosen on (None if there is nothing), and what is reported on."""

    train: Dataset
    validation: Dataset | None
    test: Dataset


class FoldFiles(Sequence[Fold]):
    """Folds in files; a fold is read when it is asked for and not kept."""

    def __init__(
        self, files: dict[str, dict[str, Path]], options: dict[str, Any], on_read: OnRead | None = None
    ) -> None:
        self.files = files
        self._options = options
        self._on_read = on_read

    def __len__(self) -> int:
        return len(self.files)

    @overload
    def __getitem__(self, place: int) -> Fold: ...
    @overload
    def __getitem__(self, place: slice) -> FoldFiles: ...
    def __getitem__(self, place: int | slice) -> Fold | FoldFiles:
        name = list(self.files)[place]
        if isinstance(place, slice):
            return FoldFiles({one: self.files[one] for one in name}, self._options, self._on_read)
        paths = self.files[str(name)]
        parts = {part: read(path, **self._options) for part, path in paths.items()}
        if self._on_read is not None:
            for part, data in parts.items():
                self._on_read(paths[part], data)
        widths = {part: data.n_features for part, data in parts.items()}
        if len(set(widths.values())) > 1:
            found = ", ".join(f"{paths[part].name} {width}" for part, width in widths.items())
            raise DataError(
                f"{paths['train'].parent}: the files of a fold have different numbers of features ({found}); "
                "say how many there are: ",
                ReadOption("n_features", max(widths.values())),
            )
        return Fold(parts["train"], parts.get("validation"), parts["test"])

    def tests(self) -> Iterator[Dataset]:
        """The test part of each fold in turn."""
        return (read(paths["test"], **self._options) for paths in self.files.values())

    def __repr__(self) -> str:
        return f"FoldFiles({', '.join(self.files)})"


def read_folds(folder: str | os.PathLike[str], *, on_read: OnRead | None = None, **options: Any) -> FoldFiles:
    """The folds in a folder: ``Fold1/train.txt``, ``Fold1/vali.txt``, ``Fold1/test.txt``, ``Fold2/...``.

    A sequence of (train, validation, test); ``validation`` is None where there is no such file. Files may be LETOR
    text, tables, compressed or not; ``options`` are those of ``rankforce.read``. A folder that holds the three files
    itself is one fold. Each fold is read when it is its turn, so that one is in memory at a time; ``on_read`` is then
    called with the path and the data set of each of its files.
    """
    OrNone(FunctionOf(2, "a function of a path and a data set,")).check("on_read", on_read)
    folder = Path(file_name(folder))
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise DataError(f"{folder}: folds cannot be read: {error.strerror or error}") from None
    numbered = sorted(
        (int(match[1]), entry.name, entry)
        for entry in entries
        if entry.is_dir() and (match := _FOLD.fullmatch(entry.name))
    )
    if numbered:
        return FoldFiles({name: _files_of(entry) for _, name, entry in numbered}, options, on_read)
    if _find(folder, _PARTS["train"]) is not None:
        return FoldFiles({folder.name: _files_of(folder)}, options, on_read)
    raise DataError(
        f"{folder}: no folds found: there are neither folders Fold1, Fold2, ... nor a file train.txt "
        f"(there are: {', '.join(entry.name for entry in entries[:10]) or 'no files'})"
    )


def has_folds(folder: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder with folds, as ``read_folds`` reads them."""
    path = Path(file_name(folder))
    if not path.is_dir():
        return False
    folds = any(entry.is_dir() and _FOLD.fullmatch(entry.name) for entry in path.iterdir())
    return folds or _find(path, _PARTS["train"]) is not None


def _files_of(folder: Path) -> dict[str, Path]:
    found = {part: _find(folder, names) for part, names in _PARTS.items()}
    for part in ("train", "test"):
        if found[part] is None:
            raise DataError(f"{folder}: the fold has no {part} file: {part}.txt (or .parquet, .csv, also .gz)")
    return {part: path for part, path in found.items() if path is not None}


def _find(folder: Path, names: tuple[str, ...]) -> Path | None:
    for name in names:
        for ending in _ENDINGS:
            if (folder / (name + ending)).is_file():
                return folder / (name + ending)
    return None
