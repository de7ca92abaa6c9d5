"""Files that are replaced whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from rankforce.errors import DataError


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file beside ``path`` that takes its place when the block ends.

    After a failure inside the block the old file is as it was and nothing is left behind. A symbolic link stays a
    link; an existing file's permissions are kept.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}.partial")
    if target.is_dir():
        raise DataError(f"{path}: cannot be written: it is a directory")
    try:
        file = open(beside, "xb")  # noqa: SIM115  # closed below
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    try:
        with file:
            yield file
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        beside.unlink(missing_ok=True)
