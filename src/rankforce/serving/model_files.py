"""Models as files that may be replaced at any moment: which file is meant, whether it changed, what it holds."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rankforce.displayed_text import displayed_path
from rankforce.errors import ModelFileError, SettingsError
from rankforce.kinds import shown

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MOST_MODELS: Final = 100  # every one has its own metrics

# A file that was just written may be written again within one tick of the clock that stamps it, as long as before.
_UNSETTLED_SECONDS: Final = 2.0


def model_files(written: Sequence[str]) -> dict[str, Path]:
    """``["trees.json", "net=other.json"]`` as files by name. Without a name a model has that of its file."""
    files: dict[str, Path] = {}
    for entry in written:
        name, equals, path = entry.partition("=")
        if not equals or not _NAME.fullmatch(name):
            name, path = _stem(entry), entry
        if not path:
            raise SettingsError(f"{shown(entry)} names no file: write NAME=FILE")
        if not _NAME.fullmatch(name):
            raise SettingsError(
                f"a model cannot be served as {shown(name)}: a name has letters, digits, '.', '_' and '-', at most 64; "
                f"write NAME={displayed_path(path)}"
            )
        if name in files:
            raise SettingsError(f"two models are named {name!r}: write another NAME={displayed_path(path)}")
        files[name] = Path(path)
    if not files:
        raise SettingsError("there is no model to serve: give a model file")
    if len(files) > MOST_MODELS:
        raise SettingsError(f"{len(files)} models are too many: at most {MOST_MODELS} are served together")
    return files


def _stem(path: str) -> str:
    name = Path(path).name
    for ending in (".gz", ".json"):
        name = name.removesuffix(ending)
    return name


@dataclasses.dataclass(frozen=True)
class FileStamp:
    """What changes when a file is replaced or written again, without its content."""

    device: int
    inode: int
    size: int
    modified: int  # nanoseconds

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        try:
            found = os.stat(path)
        except OSError as error:
            problem = f"{displayed_path(path)}: the model cannot be read: {error.strerror or error}"
            raise ModelFileError(problem) from None
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def settled(self) -> bool:
        """Whether another content would have had another stamp."""
        return time.time() - self.modified / 1e9 > _UNSETTLED_SECONDS


def digest_of(path: Path) -> str:
    """SHA-256 of a file, as ``sha256sum`` prints it."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelFileError(f"{displayed_path(path)}: the model cannot be read: {error.strerror or error}") from None
