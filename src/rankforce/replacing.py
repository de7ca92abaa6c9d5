"""Files that are replaced whole or not at all, and are on the disk when the call returns."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rankforce.errors import DataError, RankforceError

# Some network file systems cannot flush a folder; they do not lose a rename either.
_CANNOT_FLUSH_FOLDERS = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], error: type[RankforceError] = DataError) -> Iterator[IO[bytes]]:
    """Open a file beside ``path`` that takes its place when the block ends.

    The file is flushed to the disk before it is renamed and its folder afterwards: whenever the power fails, ``path``
    is the old file or the new one. After a failure inside the block the old file is as it was and nothing is left
    behind (only a killed process leaves its ``.partial`` file). A symbolic link stays a link; an existing file's
    permissions are kept. What the operating system refuses is raised as ``error``.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}.partial")
    if target.is_dir():
        raise error(f"{path}: cannot be written: it is a directory")
    try:
        file = open(beside, "xb")  # noqa: SIM115  # closed below
    except (OSError, ValueError) as failure:
        raise error(f"{path}: cannot be written: {getattr(failure, 'strerror', None) or failure}") from None
    try:
        with file:
            yield file
        _flush(beside, os.O_RDWR)
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
        _flush_folder(target.parent)
    except OSError as failure:
        raise error(f"{path}: cannot be written: {failure.strerror or failure}") from None
    finally:
        beside.unlink(missing_ok=True)


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove the unfinished files that killed processes left beside ``path``. Nobody may be writing it."""
    target = Path(os.path.realpath(path))
    beginning = f".{target.name[:100]}."
    with contextlib.suppress(OSError):
        for found in target.parent.iterdir():
            unique = found.name.removeprefix(beginning).removesuffix(".partial")
            if found.name == f"{beginning}{unique}.partial" and len(unique) == 32:
                found.unlink(missing_ok=True)


def _flush(path: Path, mode: int) -> None:
    # by name: writers of other libraries may have closed the file that they were given
    descriptor = os.open(path, mode)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(folder: Path) -> None:
    if os.name == "nt":
        return  # a folder cannot be opened there
    try:
        _flush(folder, os.O_RDONLY)
    except OSError as failure:
        if failure.errno not in _CANNOT_FLUSH_FOLDERS:
            raise
