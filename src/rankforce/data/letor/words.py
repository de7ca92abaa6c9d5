"""Words and lines in the text of a LETOR file: what Python looks up again where the kernels have found something."""

from __future__ import annotations

import itertools
import re

from rankforce.files.streams import Round
from rankforce.threads import thread_count

_WORD = re.compile(rb"[^ \t\r\n#]*")
NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
MISSING = re.compile(rb"[+-]?nan|null", re.IGNORECASE)
INFINITE = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)
_DOCUMENT_ID = re.compile(rb"#[ \t]*(?:docid[ \t]*=[ \t]*)?([^ \t\r\n]+)", re.IGNORECASE)
NAMED_DOCUMENT = re.compile(rb"#[ \t]*docid[ \t]*=", re.IGNORECASE)
_DOCUMENT_LINE = re.compile(rb"[ \t\r]*([^ \t\r\n#])[^\n]*\n|[^\n]*\n")


def word_at(text: bytearray, place: int) -> bytes:
    """The word at a place, as the kernels see words."""
    found = _WORD.match(text, place)
    return found.group() if found else b""


def document_id(text: bytearray, place: int) -> str:
    """The document id in the comment at a place: the word after ``docid =`` (LETOR 4), else the first word."""
    found = _DOCUMENT_ID.match(text, place) if place >= 0 else None
    return found.group(1).decode("utf-8", "replace") if found else ""


def document_place(part: Round, row: int) -> int:
    """Where the line of the document in a row of the round starts."""
    places = (found.start(1) for found in _DOCUMENT_LINE.finditer(part.text, part.start, part.stop) if found[1])
    return next(itertools.islice(places, row, None))


def pieces(part: Round) -> list[int]:
    """Places that cut a round into about equal stretches of whole lines: a few per thread."""
    count = max(1, min(2 * thread_count(), (part.stop - part.start) >> 16))
    edges = [part.start]
    for k in range(1, count):
        cut = part.text.find(b"\n", part.start + k * (part.stop - part.start) // count, part.stop) + 1
        if edges[-1] < cut < part.stop:
            edges.append(cut)
    return [*edges, part.stop]
