"""The bytes of a text file, plain or gzip, in rounds of whole lines."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO

import numpy as np

from rankforce.displayed_text import displayed
from rankforce.errors import DataError, FileFormatError
from rankforce.files.decompression import GZIP_MAGIC, Decompressed
from rankforce.files.limits import LINE_REMEDY, longest_line

FIRST_ROUND = 1 << 18  # small: what the file looks like is learnt from it
ROUND = 1 << 23
_LONGEST_FILE_NAME = 255  # bytes: what file systems allow
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Round:
    """Whole lines: ``bytes[start:stop]``, the last byte being a line feed."""

    text: bytearray
    start: int
    stop: int
    consumed: int  # bytes of the file (compressed, if it is) that were read so far

    @property
    def bytes(self) -> np.ndarray:
        return np.frombuffer(self.text, dtype=np.uint8)


def file_name(path: str | os.PathLike[str]) -> str:
    """A path as text; an error for what is no path."""
    try:
        name = os.fsdecode(path)
    except TypeError:
        raise DataError(f"a file is named by a path, not by {path!r:.80}") from None
    if "\0" in name:
        raise FileFormatError("cannot be opened: a path has no NUL character", path=repr(name))
    if max(map(len, os.fsencode(name).split(os.sep.encode()))) > _LONGEST_FILE_NAME:
        problem = f"the name of a file or folder has more than {_LONGEST_FILE_NAME} bytes"
        raise FileFormatError(problem, path=displayed(name), remedy="shorten it")
    return name


class TextFile:
    """A file opened for reading, decompressed where it starts as gzip does. Use as a context manager."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = file_name(path)
        try:
            self._raw: IO[bytes] = open(self.path, "rb", buffering=1 << 17)  # noqa: SIM115  # closed by __exit__
        except FileNotFoundError:
            raise FileFormatError("there is no such file", path=self.path) from None
        except IsADirectoryError:
            raise FileFormatError(
                "this is a directory", path=self.path, remedy="Name one of the files in it."
            ) from None
        except (OSError, ValueError) as error:
            raise FileFormatError(f"cannot be opened: {_reason(error)}", path=self.path) from None
        try:
            status = os.fstat(self._raw.fileno())
            self.size = status.st_size if stat.S_ISREG(status.st_mode) else None  # None: a pipe
            self._stream: IO[bytes] = self._raw
            self.compressed = self._starts_as_gzip()
        except OSError as error:
            self._raw.close()
            raise FileFormatError(f"cannot be read: {_reason(error)}", path=self.path) from None
        if self.compressed:
            self._stream = Decompressed(self._raw, self.path)  # type: ignore[assignment]

    def _starts_as_gzip(self) -> bool:
        assert isinstance(self._raw, io.BufferedReader)
        return self._raw.peek(len(GZIP_MAGIC))[: len(GZIP_MAGIC)] == GZIP_MAGIC

    def __enter__(self) -> TextFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._raw.close()

    def rounds(self) -> Generator[Round, None, None]:
        """All lines, the next round being read (and decompressed) while the caller works on one.

        The size of the rounds is fixed: what is found first does not depend on the number of threads. A round is
        valid until the one after the next is asked for.
        """
        made = self._rounds()
        with ThreadPoolExecutor(1, thread_name_prefix="rankforce-reader") as reader:
            coming = reader.submit(next, made, None)
            while (current := coming.result()) is not None:
                coming = reader.submit(next, made, None)
                yield current

    def _rounds(self) -> Generator[Round, None, None]:
        size = FIRST_ROUND
        rest = b""
        start = 0
        spare: list[bytearray] = []
        first = True
        while True:
            capacity = size + len(rest)
            text = spare.pop(0) if len(spare) == 2 else bytearray()  # two rounds ago: nobody reads it any more
            if len(text) <= capacity:
                text = bytearray(capacity + 1)
            text[: len(rest)] = rest
            filled = len(rest) + self._fill(memoryview(text)[len(rest) : capacity])
            ended = filled < capacity
            if first:
                start = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
            if ended:
                if filled > start:
                    if text[filled - 1] != 10:
                        text[filled] = 10
                        filled += 1
                    yield Round(text, start, filled, self._consumed())
                return
            stop = text.rfind(b"\n", start, filled) + 1
            if stop <= start:  # a line longer than a round
                if filled - start > longest_line():
                    problem = f"a line has more than {longest_line():,} bytes"
                    raise FileFormatError(problem, path=self.path, remedy=LINE_REMEDY)
                rest = bytes(memoryview(text)[:filled])
                size = 2 * size
                continue
            rest = bytes(memoryview(text)[stop:filled])
            yield Round(text, start, stop, self._consumed())
            spare.append(text)
            first = False
            start = 0
            size = ROUND

    def _consumed(self) -> int:
        return self._raw.tell() if self.size is not None else 0

    def _fill(self, view: memoryview) -> int:
        """Read until the view is full or the file ends; the number of bytes read."""
        filled = 0
        try:
            while filled < len(view):
                count = self._stream.readinto(view[filled:])  # type: ignore[attr-defined]
                if not count:
                    break
                filled += count
        except EOFError:
            raise FileFormatError(
                "the gzip file is cut off: its end is missing",
                path=self.path,
                remedy="Fetch or write it again; `gzip -t` tests a file.",
            ) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise FileFormatError(
                f"the gzip file is damaged: {error}", path=self.path, remedy="Fetch or write it again."
            ) from None
        except OSError as error:
            raise FileFormatError(f"cannot be read: {_reason(error)}", path=self.path) from None
        return filled


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
