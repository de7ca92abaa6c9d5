"""Text of others on a terminal: names and ids from files are shown, never obeyed.

A feature name may hold escape sequences that colour, clear or retitle a terminal, a carriage return that hides what
stands before it, or a mark that turns the direction of reading. Shown, each of these is its escape, as Python writes
it: ``\\x1b``, ``\\r``, ``\\u202e``. Files for programs keep the exact text.
"""

from __future__ import annotations

import os
from typing import Any

LONGEST_SHOWN = 200  # characters of a name: a longer one would push everything else out of sight


def displayed(text: Any) -> str:
    """A name or an id on one line: what is not visible is escaped, what is very long is cut short with ``...``."""
    return escaped(_shortened(str(text)))


def displayed_path(path: str | os.PathLike[str]) -> str:
    """The name of a file on one line, whole."""
    return escaped(os.fsdecode(path))


def displayed_lines(text: str) -> str:
    """Text of several lines, with everything escaped but the ends of its lines."""
    return text if text.isprintable() else "\n".join(map(escaped, text.split("\n")))


def escaped(text: str) -> str:
    """The text with every character escaped that is not visible: control and format characters, odd white space."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."
