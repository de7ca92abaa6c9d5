"""UBJSON: what is written is read back, by us and by whoever else reads it; damage is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankforce.files.ubjson import parse, to_ubjson

VALUE = {
    "text": "größe",
    "none": {},
    "numbers": [0, -1, 127, 128, -129, 40_000, -(2**31), 2**31, 2**63 - 1, -(2**63)],
    "nested": [{"a": []}, ["b", ["c"]]],
    "float32": np.array([0.1, -0.0, 1e-45, np.finfo(np.float32).max], dtype=np.float32),
    "int32": np.array([2**31 - 1, -1], dtype=np.int32),
    "int64": np.empty(0, dtype=np.int64),
    "uint8": np.array([0, 255], dtype=np.uint8),
}


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def test_what_was_written_is_parse() -> None:
    found = parse(to_ubjson(VALUE))
    assert plain(found) == plain(VALUE)
    assert found["float32"].dtype.newbyteorder("=") == np.float32
    assert list(found) == list(VALUE)


def test_another_reader_reads_the_same() -> None:
    ubjson = pytest.importorskip("ubjson")
    assert ubjson.loadb(to_ubjson(VALUE)) == plain(VALUE) | {"uint8": b"\x00\xff"}


def test_every_truncation_is_found() -> None:
    data = to_ubjson(VALUE)
    for end in range(0, len(data), 7):
        with pytest.raises(ValueError):
            parse(data[:end])
    with pytest.raises(ValueError, match="bytes follow"):
        parse(data + b"i")


KEY = b"L" + bytes(7) + b"\x01aSL" + bytes(8)  # "a": ""


@pytest.mark.parametrize("data", [b"N", b"[$d#i\x01", b"[x", b"{" + KEY + KEY + b"}"])
def test_what_is_not_written_is_not_read(data: bytes) -> None:
    with pytest.raises(ValueError):
        parse(data)


@pytest.mark.parametrize("value", [1.5, True, None, 2**64, {"a": object()}])
def test_what_cannot_be_written(value: Any) -> None:
    with pytest.raises(TypeError):
        to_ubjson(value)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "bytes are announced"),
        (b"{L\x00\x00\x00\x00\x00\x00\x00\x01", "1 bytes are announced"),
        (b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff", "bytes are announced"),
        (b"[$d#i\xff", "announced"),
        (b"[#L\x00\x00\x00\x00\x00\x00\x00\x02Z", "bytes are announced"),
        (b"[" * 100, "64 levels"),
        (b"ZZ", "1 bytes follow"),
        (b"?", "no type"),
        (b"SS", "length must be"),
        (b"[$S#i\x01", "numbers"),
    ],
)
def test_the_reason_is_told(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse(data)
