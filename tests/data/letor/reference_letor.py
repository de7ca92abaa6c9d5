"""A slow, obvious reader of LETOR text: what the real one must agree with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
MISSING = re.compile(rb"[+-]?nan|null", re.IGNORECASE)


class Refused(Exception):
    """The text is not LETOR."""


@dataclass
class Reference:
    labels: list[float] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    rows: list[dict[int, np.float32]] = field(default_factory=list)
    document_ids: list[str] = field(default_factory=list)

    def matrix(self, width: int) -> np.ndarray:
        result = np.zeros((len(self.rows), width), dtype=np.float32)
        for place, row in enumerate(self.rows):
            for index, value in row.items():
                result[place, index - 1] = value
        return result


def demand(condition: object) -> None:
    if not condition:
        raise Refused


def read_reference(text: bytes) -> Reference:
    """All lines with a query each, absent features 0, indices from 1; Refused for anything else."""
    result = Reference()
    text = text.removeprefix(b"\xef\xbb\xbf")
    for line in text.split(b"\n"):
        line = line.rstrip(b"\r")
        demand(b"\r" not in line)
        content, _, comment = line.partition(b"#")
        words = [word for word in re.split(rb"[ \t]+", content) if word]
        if not words:
            continue
        demand(NUMBER.fullmatch(words[0]))
        label = float(words[0])
        demand(np.isfinite(label))
        demand(len(words) > 1 and words[1].startswith(b"qid:"))
        query = words[1][4:]
        demand(0 < len(query) <= 256 and all(byte >= 32 and byte != 127 for byte in query))
        try:
            result.queries.append(query.decode())
        except UnicodeDecodeError:
            raise Refused from None
        result.labels.append(label)
        row: dict[int, np.float32] = {}
        last = 0
        for word in words[2:]:
            index_text, colon, value_text = word.partition(b":")
            demand(colon and re.fullmatch(rb"[0-9]+", index_text) and len(index_text) < 12)
            index = int(index_text)
            demand(last < index < 2**31 - 1)
            last = index
            if MISSING.fullmatch(value_text):
                row[index] = np.float32(np.nan)
                continue
            demand(NUMBER.fullmatch(value_text))
            with np.errstate(over="ignore"):
                row[index] = np.float32(float(value_text))
            demand(np.isfinite(row[index]))
        result.rows.append(row)
        comment_words = [word for word in re.split(rb"[ \t]+", comment.replace(b"=", b" = ", 1)) if word]
        named = len(comment_words) > 2 and comment_words[0].lower() == b"docid" and comment_words[1] == b"="
        plain = [word for word in re.split(rb"[ \t]+", comment) if word]
        chosen = comment_words[2] if named else plain[0] if plain else b""
        demand(b"\0" not in chosen and len(chosen.decode("utf-8", "replace")) <= 4096)
        result.document_ids.append(chosen.decode("utf-8", "replace"))
    demand(result.rows)
    return result
