"""Files that are replaced whole or not at all, and are on the disk when the call returns."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rankforce.displayed_text import displayed_path
from rankforce.errors import DataError, RankforceError

# Some network file systems cannot flush a folder; they do not lose a rename either.
_CANNOT_FLUSH_FOLDERS = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES)


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], error: type[RankforceError] = DataError) -> Iterator[IO[bytes]]:
    """Open a file beside ``path`` that takes its place when the block ends.

    The file is flushed to the disk before it is renamed and its folder afterwards: whenever the power fails, ``path``
    is the old file or the new one. After a failure inside the block the old file is as it was and nothing is left
    behind (only a killed process leaves its ``.partial`` file). A symbolic link stays a link; an existing file's
    permissions are kept. What is no file on a disk (a pipe, a terminal, /dev/null) cannot be replaced and is written
    into. What the operating system refuses is raised as ``error``.
    """
    if _is_stream(path):
        with _writing_into(path, error) as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}.partial")
    if os.path.isdir(target):  # False, too, for a name that is too long
        raise error(f"{displayed_path(path)}: cannot be written: it is a directory")
    try:
        file = open(beside, "xb")  # noqa: SIM115  # closed below
    except (OSError, ValueError) as failure:
        raise error(
            f"{displayed_path(path)}: cannot be written: {getattr(failure, 'strerror', None) or failure}"
        ) from None
    try:
        with file:
            yield file
        _flush(beside, os.O_RDWR)
        if os.path.exists(target):
            shutil.copymode(target, beside)
        os.replace(beside, target)
        _flush_folder(target.parent)
    except OSError as failure:
        raise error(f"{displayed_path(path)}: cannot be written: {failure.strerror or failure}") from None
    finally:
        beside.unlink(missing_ok=True)


def check_replaceable(path: str | os.PathLike[str], error: type[RankforceError] = DataError) -> None:
    """Raise what ``atomic_write`` would, before the work whose result is to be written."""
    if _is_stream(path):
        return
    target = Path(os.path.realpath(path))
    try:
        directory = target.is_dir()
    except OSError as reason:  # a name that is too long
        raise error(f"{displayed_path(path)}: cannot be written: {reason.strerror or reason}") from None
    if directory:
        raise error(f"{displayed_path(path)}: cannot be written: it is a directory")
    if not target.parent.is_dir():
        raise error(f"{displayed_path(path)}: cannot be written: there is no folder {displayed_path(target.parent)}")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise error(
            f"{displayed_path(path)}: cannot be written: the folder {displayed_path(target.parent)} does not allow it"
        )


def _is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether this is something that exists and is neither a file on a disk nor a folder."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


@contextlib.contextmanager
def _writing_into(path: str | os.PathLike[str], error: type[RankforceError]) -> Iterator[IO[bytes]]:
    try:
        with open(path, "wb") as stream:
            yield stream
    except BrokenPipeError:
        raise  # the reader has seen enough
    except OSError as failure:
        raise error(f"{displayed_path(path)}: cannot be written: {failure.strerror or failure}") from None


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
