"""Universal Binary JSON as XGBoost writes it: arrays of one type without a marker per number, lengths in 64 bits.

What can be written: mappings of texts, lists, texts, whole numbers, and arrays of float32, int32, int64 and uint8.
``read_back`` reads exactly this, to check what was written; it is no reader for files of others.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.errors import FileFormatError

_MARKER_OF = {"float32": b"d", "int32": b"l", "int64": b"L", "uint8": b"U"}
_DTYPE_OF = {ord("d"): ">f4", ord("l"): ">i4", ord("L"): ">i8", ord("U"): ">u1"}
_WHOLE = ((b"i", ">b"), (b"I", ">h"), (b"l", ">i"), (b"L", ">q"))  # by size


def to_ubjson(value: Any) -> bytes:
    """A value as bytes."""
    parts: list[bytes] = []
    _add(value, parts)
    return b"".join(parts)


def _add(value: Any, parts: list[bytes]) -> None:
    if isinstance(value, Mapping):
        parts.append(b"{")
        for key, item in value.items():
            parts.append(_text(key))
            _add(item, parts)
        parts.append(b"}")
    elif isinstance(value, np.ndarray):
        marker = _MARKER_OF[value.dtype.name]
        parts += [b"[$", marker, b"#", _length(len(value)), value.astype(value.dtype.newbyteorder(">")).tobytes()]
    elif isinstance(value, (list, tuple)):
        parts += [b"[#", _length(len(value))]
        for item in value:
            _add(item, parts)
    elif isinstance(value, str):
        parts += [b"S", _text(value)]
    elif isinstance(value, int) and not isinstance(value, bool):
        parts.append(_whole(value))
    else:
        raise TypeError(f"{type(value).__name__} is not written")


def _text(text: str) -> bytes:
    encoded = text.encode()
    return _length(len(encoded)) + encoded


def _length(count: int) -> bytes:
    return b"L" + struct.pack(">q", count)


def _whole(value: int) -> bytes:
    for marker, form in _WHOLE:
        bound = 1 << (8 * struct.calcsize(form) - 1)
        if -bound <= value < bound:
            return marker + struct.pack(form, value)
    raise TypeError(f"{value} has more than 64 bits")


def read_back(data: bytes, name: str = "UBJSON") -> Any:
    """The value that ``to_ubjson`` wrote; anything else is an error."""
    reader = _Bytes(data, name)
    value = reader.value()
    if reader.place != len(data):
        raise reader.error("bytes follow the value")
    return value


class _Bytes:
    """What is left to be read."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name
        self.place = 0

    def error(self, problem: str) -> FileFormatError:
        return FileFormatError(f"byte {self.place}: {problem}", path=self.name)

    def take(self, count: int) -> bytes:
        taken = self.data[self.place : self.place + count]
        if count < 0 or len(taken) < count:
            raise self.error("the file ends too early")
        self.place += count
        return taken

    def length(self) -> int:
        if self.take(1) != b"L":
            raise self.error("a length of 64 bits is expected")
        return int(struct.unpack(">q", self.take(8))[0])

    def text(self) -> str:
        return self.take(self.length()).decode()

    def value(self) -> Any:
        marker = self.take(1)
        if marker == b"{":
            return self._mapping()
        if marker == b"[":
            return self._list()
        if marker == b"S":
            return self.text()
        for whole, form in _WHOLE:
            if marker == whole:
                return int(struct.unpack(form, self.take(struct.calcsize(form)))[0])
        raise self.error(f"{marker!r} is no marker of what is written")

    def _mapping(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.data[self.place : self.place + 1] != b"}":
            key = self.text()
            if key in found:
                raise self.error(f"{key!r} is there twice")
            found[key] = self.value()
        self.take(1)
        return found

    def _list(self) -> Any:
        marker = self.take(1)
        if marker == b"#":
            return [self.value() for _ in range(self.length())]
        kind = self.take(1)[0]
        if marker != b"$" or kind not in _DTYPE_OF or self.take(1) != b"#":
            raise self.error("a list has a count, and before it perhaps a type")
        dtype = np.dtype(_DTYPE_OF[kind])
        array = np.frombuffer(self.take(self.length() * dtype.itemsize), dtype=dtype)
        return array.astype(dtype.newbyteorder("="))
