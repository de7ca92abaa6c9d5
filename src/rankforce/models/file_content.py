"""The bytes of a model file, compressed or not."""

from __future__ import annotations

import zlib
from pathlib import Path

from rankforce.displayed_text import displayed_path
from rankforce.errors import FileFormatError, ModelFileError
from rankforce.files.decompression import GZIP_MAGIC, decompressed


def content_of(name: str) -> bytes:
    """The bytes of a file."""
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise ModelFileError(f"{displayed_path(name)}: the model cannot be read: {error.strerror or error}") from None


def uncompressed(data: bytes, name: str) -> bytes:
    """The bytes of a file that may be gzip."""
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        return decompressed(data, name)
    except (EOFError, OSError, zlib.error):
        raise ModelFileError(
            f"{name}: the compressed file is truncated or damaged; copy it again or save the model again"
        ) from None
    except FileFormatError as error:
        raise ModelFileError(str(error)) from None
