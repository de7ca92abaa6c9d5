"""Files that grow by whole records, each of which is on the disk when the call returns."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import NamedTuple

from rankforce.errors import RankforceError


class Extent(NamedTuple):
    """A file as it was left: whoever replaces it, removes it or writes to it leaves another."""

    device: int
    inode: int
    size: int

    @classmethod
    def of(cls, descriptor: int) -> Extent | None:
        """Of an open file; None of what is no file on a disk."""
        status = os.fstat(descriptor)
        return cls(status.st_dev, status.st_ino, status.st_size) if stat.S_ISREG(status.st_mode) else None


def append(path: str | os.PathLike[str], record: bytes, before: Extent, error: type[RankforceError]) -> Extent | None:
    """Append a record to a file and flush it to the disk; None, and nothing is done, if the file is not as before.

    A process that is killed here leaves a part of the record, which readers must notice. Where the operating system
    refuses, the file is cut back to what it was, and the refusal is raised as ``error``.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise error(f"{path}: cannot be written: {failure.strerror or failure}") from None
    try:
        if Extent.of(descriptor) != before:
            return None
        rest = memoryview(record)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
        return Extent.of(descriptor)
    except OSError as failure:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, before.size)
        raise error(f"{path}: cannot be written: {failure.strerror or failure}") from None
    finally:
        os.close(descriptor)
