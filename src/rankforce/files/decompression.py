"""Files opened for reading, decompressed where they are gzip, and refused where they would fill the memory.

A few kilobytes of gzip can stand for gigabytes, and a file without line feeds is one line. Both limits: ``limits``.
"""

from __future__ import annotations

import contextlib
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from rankforce.errors import FileFormatError
from rankforce.files.limits import EXPANSION_REMEDY, LINE_REMEDY, expands_too_far, longest_line

GZIP_MAGIC = b"\x1f\x8b"


class Decompressed(io.RawIOBase):
    """The content of a gzip stream; raises where it grows beyond what compressed data can mean."""

    def __init__(self, compressed: IO[bytes], path: object) -> None:
        self._source = _CountedBytes(compressed)
        self._content = gzip.GzipFile(fileobj=self._source, mode="rb")  # type: ignore[call-overload]
        self._path = path
        self._decompressed = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._content.readinto(buffer)
        self._decompressed += count
        if expands_too_far(self._source.bytes, self._decompressed):
            problem = f"{self._source.bytes:,} compressed bytes hold more than {self._decompressed:,}"
            raise FileFormatError(problem, path=self._path, remedy=EXPANSION_REMEDY)
        return int(count)


class _CountedBytes:
    """A stream that counts what is read from it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.bytes = 0

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self.bytes += len(content)
        return content


@contextlib.contextmanager
def opened(path: Path, *, compressed: bool | None = None) -> Iterator[Any]:
    """The bytes of a file; ``compressed`` says whether it is gzip, by default its first bytes do."""
    with path.open("rb") as raw:
        if compressed is None:
            compressed = raw.peek(2)[:2] == GZIP_MAGIC
        if not compressed:
            yield raw
            return
        with io.BufferedReader(Decompressed(raw, path), 1 << 17) as content:
            yield content


def lines(stream: Any, path: object) -> Iterator[Any]:
    """The lines of a stream of bytes or text, with their ends; one that is too long is refused."""
    longest = longest_line()
    number = 0
    while line := stream.readline(longest + 1):
        number += 1
        if len(line) > longest:
            problem = f"the line has more than {longest:,} bytes"
            raise FileFormatError(problem, path=path, line=number, remedy=LINE_REMEDY)
        yield line


def decompressed(data: bytes, path: object) -> bytes:
    """The content of gzip bytes."""
    with io.BufferedReader(Decompressed(io.BytesIO(data), path), 1 << 17) as content:
        return content.read()
