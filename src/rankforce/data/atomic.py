"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from rankforce.errors import DataError


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A path to write to, beside ``path``; renamed to it when the block ends well, removed when it does not."""
    target = Path(path)
    scratch = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield scratch
        os.replace(scratch, target)
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            scratch.unlink()
