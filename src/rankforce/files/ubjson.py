"""Universal Binary JSON, as far as XGBoost writes it: numbers big-endian, arrays of one type as NumPy arrays.

A reader of one's own, for two reasons: an array of a million numbers becomes one NumPy array, not a million objects;
and what a hostile file says of its lengths is believed only as far as there are bytes. The writer writes what XGBoost
does: arrays of one type without a marker per number, lengths in 64 bits.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

MOST_LEVELS = 64
_NUMBERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_FORMATS = {b"i": ">b", b"U": ">B", b"I": ">h", b"l": ">i", b"L": ">q", b"d": ">f", b"D": ">d"}
_WHOLE = frozenset((b"i", b"U", b"I", b"l", b"L"))
_SIGNED = (b"i", b"I", b"l", b"L")  # by size
_MARKER_OF = {"float32": b"d", "int32": b"l", "int64": b"L", "uint8": b"U"}
_CONSTANTS = {b"Z": None, b"T": True, b"F": False}


def parse(data: bytes) -> Any:
    """The value of a document; a ValueError says what is wrong and at which byte."""
    reader = _UbjsonBytes(data)
    value = reader.value(reader.take(1), 0)
    if reader.place != len(data):
        raise ValueError(f"{len(data) - reader.place:,} bytes follow the end of the document")
    return value


class _UbjsonBytes:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def take(self, count: int) -> bytes:
        end = self.place + count
        if count < 0 or end > len(self.data):
            raise ValueError(
                f"byte {self.place:,}: {count:,} bytes are announced, {len(self.data) - self.place:,} follow"
            )
        taken = self.data[self.place : end]
        self.place = end
        return taken

    def value(self, kind: bytes, level: int) -> Any:
        if level > MOST_LEVELS:
            raise ValueError(f"byte {self.place:,}: more than {MOST_LEVELS} levels")
        if kind in _FORMATS:
            return struct.unpack(_FORMATS[kind], self.take(struct.calcsize(_FORMATS[kind])))[0]
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        if kind == b"S":
            return self.text()
        if kind == b"[":
            return self.array(level)
        if kind == b"{":
            return self.mapping(level)
        raise ValueError(f"byte {self.place - 1:,}: {kind!r} is no type that is read")

    def length(self) -> int:
        kind = self.take(1)
        if kind not in _WHOLE:
            raise ValueError(f"byte {self.place - 1:,}: a length must be a whole number, not of type {kind!r}")
        return int(self.value(kind, 0))

    def text(self) -> str:
        return self.take(self.length()).decode("utf-8")

    def array(self, level: int) -> Any:
        if self.data[self.place : self.place + 1] == b"$":
            kind = self.take(2)[1:]
            if kind not in _NUMBERS or self.take(1) != b"#":
                raise ValueError(f"byte {self.place:,}: an array of one type must be one of numbers, with a length")
            size = np.dtype(_NUMBERS[kind]).itemsize
            return np.frombuffer(self.take(self.length() * size), dtype=_NUMBERS[kind])
        values = []
        if self.data[self.place : self.place + 1] == b"#":
            self.take(1)
            for _ in range(self.length()):
                values.append(self.value(self.take(1), level + 1))
            return values
        while (kind := self.take(1)) != b"]":
            values.append(self.value(kind, level + 1))
        return values

    def mapping(self, level: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while self.data[self.place : self.place + 1] != b"}":
            name = self.text()
            if name in values:
                raise ValueError(f"byte {self.place:,}: the key {name!r} stands twice in an object")
            values[name] = self.value(self.take(1), level + 1)
        self.take(1)
        return values


def to_ubjson(value: Any) -> bytes:
    """Mappings of texts, lists, texts, whole numbers, and arrays of float32, int32, int64 and uint8 as bytes."""
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
    for marker in _SIGNED:
        bound = 1 << (8 * struct.calcsize(_FORMATS[marker]) - 1)
        if -bound <= value < bound:
            return marker + struct.pack(_FORMATS[marker], value)
    raise TypeError(f"{value} has more than 64 bits")
