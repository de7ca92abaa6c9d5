"""A folder that takes the place of a store once it is whole: whatever happens, the new one or the former is there.

The new folder is made beside the name, hidden, and is locked as long as its process lives. What has no such lock was
left by a process that was killed: it is removed, or put back where it was the only whole store. So does whoever opens
the store (``put_back``): a kill between two renames leaves its name to nobody.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from rankforce.displayed_text import displayed_path
from rankforce.errors import DataError, RankforceWarning, warn
from rankforce.stores.format import HEADER

try:
    import fcntl
except ImportError:  # not on Windows: nothing is known of other processes there
    fcntl = None  # type: ignore[assignment]

PARTIAL, FORMER, LOCK = ".partial", ".former", "lock"
BETWEEN_RENAMES = 5.0  # seconds that another process may take from the first to the second
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of what is written: data that is read cannot fail in this way


class FormerStoreWarning(RankforceWarning):
    """What is opened is a former store: its successor was not finished."""


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder that takes the place of ``path`` when the block ends; what killed processes left is removed."""
    if path.exists() and not (path / HEADER).exists():
        raise DataError(f"{path}: is there already, and is no store: give another name")
    if not path.absolute().parent.is_dir():
        raise DataError(f"{path}: cannot be written: there is no folder {path.absolute().parent}")
    folder = path.absolute().with_name(f".{path.name}.{uuid.uuid4().hex}{PARTIAL}")
    with _worded(path):
        folder.mkdir()
    try:
        with _locked(folder, path):
            with _worded(path):
                _tidy_up(path, folder)
            with _worded(path, *NO_ROOM):
                yield folder
            with _worded(path):
                for file in [*folder.iterdir(), folder]:
                    _sync(file)
                _replace(path, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _worded(path: Path, *kinds: int) -> Iterator[None]:
    """Errors of the system, or only some kinds, as errors of the store."""
    try:
        yield
    except OSError as error:
        if kinds and error.errno not in kinds:
            raise
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def _locked(folder: Path, path: Path) -> Iterator[None]:
    """Show others, while the block runs, that somebody works in this folder."""
    if fcntl is None:
        yield
        return
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT)
    except FileNotFoundError:  # somebody who began at the same moment has taken it for one that was left
        raise _at_work(path) from None
    try:
        with contextlib.suppress(OSError):  # where the system has no locks nothing is known of others
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # a forked child may have the file open
        os.close(descriptor)
        for place in (folder, path.absolute()):
            (place / LOCK).unlink(missing_ok=True)


def _is_locked(folder: Path) -> bool:
    if fcntl is None:
        return False
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _at_work(path: Path) -> DataError:
    return DataError(f"{path}: another process makes this store just now: wait for it, or give another name")


def put_back(path: Path) -> None:
    """Give a store its name back that it lost to one which a killed process did not finish; warns then.

    Nothing is done where something has the name, or nothing is left. A process that replaces it just now is waited for.
    """
    deadline = time.monotonic() + BETWEEN_RENAMES
    while not path.exists():
        left = _left_beside(path)
        former = next((one for one in left if one.stem.endswith(FORMER) and (one / HEADER).exists()), None)
        if former is None:
            return
        if (fcntl is None or any(map(_is_locked, left))) and time.monotonic() < deadline:
            time.sleep(0.01)
            continue
        try:
            os.rename(former, path)
        except OSError as error:
            if path.exists() or not former.exists():  # somebody else was quicker
                continue
            raise DataError(
                f"{path}: a process that was to replace this store was killed. The former one is whole, and is the "
                f"folder {displayed_path(former)}: give it this name, which cannot be done here "
                f"({error.strerror or error})"
            ) from error
        warn(
            FormerStoreWarning(
                f"{path}: a process that was to replace this store was killed: this is the former one. Make it again "
                "if its data has changed"
            )
        )


def _left_beside(path: Path) -> list[Path]:
    """Folders of processes that make, or made, this store."""
    pattern = re.compile(re.escape(f".{path.name}.") + f"[0-9a-f]+({re.escape(FORMER)})?{re.escape(PARTIAL)}")
    parent = path.absolute().parent
    return [one for one in parent.iterdir() if pattern.fullmatch(one.name)] if parent.is_dir() else []


def _tidy_up(path: Path, own: Path) -> None:
    """Remove what others have left, and put a former store back that has no successor; refuse if one is at work."""
    left = [one for one in _left_beside(path) if one != own]
    if any(map(_is_locked, left)):
        raise _at_work(path)
    for one in left:
        if one.stem.endswith(FORMER) and not path.exists():
            os.rename(one, path)
        else:
            shutil.rmtree(one, ignore_errors=True)


def _replace(path: Path, folder: Path) -> None:
    """Give a folder the name of the store; if that fails, the former one gets its name back."""
    former = folder.with_suffix(f"{FORMER}{PARTIAL}")
    if path.exists():
        os.rename(path, former)
    try:
        os.rename(folder, path)
    except BaseException:
        if former.exists() and not path.exists():
            os.rename(former, path)
        raise
    _sync(path.absolute().parent)
    shutil.rmtree(former, ignore_errors=True)


def _sync(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to the disk."""
    if path.is_dir() and os.name != "posix":  # folders cannot be opened
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
