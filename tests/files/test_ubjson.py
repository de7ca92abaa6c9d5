from __future__ import annotations

import json

import pytest
from tests.importing.foreign_files import as_ubjson

from rankforce.files import ubjson


def test_ubjson_reads_what_was_written() -> None:
    value = {"a": [1, 2], "b": {"c": "text", "d": [0.5, 1.5]}, "e": [], "f": ["x", None, True], "g": 2.5, "h": -7}
    read = ubjson.parse(as_ubjson(value))
    plain = json.loads(json.dumps(read, default=lambda array: array.tolist()))
    assert plain == value


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
def test_ubjson_refuses_what_is_damaged(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        ubjson.parse(data)
