"""Values in text, as people write them on command lines and in written forms: one reader for all of them.

What is written is read the same way everywhere: true and false, none, numbers, several with commas, else the text
itself. ``kinds.py`` says which of these a setting may be.
"""

from __future__ import annotations

import ast
import math
from typing import Any


def truth(text: str) -> bool:
    """True or false, whatever the capitals; else a ValueError."""
    word = text.strip().lower()
    if word not in ("true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return word == "true"


def is_none(text: str) -> bool:
    """Whether a text says that there is no value."""
    return text.strip().lower() == "none"


def number(text: str) -> int | float:
    """A finite number, whole if it is written so; else a ValueError."""
    try:
        return int(text)
    except ValueError:
        value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is no finite number")
    return value


def unquoted(text: str) -> str:
    """The text without spaces around it, and without the quotation marks of Python; ``\\t`` is a tab."""
    text = text.strip() or text
    if text == r"\t":
        return "\t"
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        value = python_value(text)
        if isinstance(value, str):
            return value
    return text


def python_value(text: str) -> Any:
    """A value as Python writes it, brackets and all: ``[1, 2]``, ``{"1": 1}``, ``("top", 30)``; else the text."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text.strip()


def parts(text: str, separator: str = ",") -> list[str]:
    """Parts between separators that stand in no bracket: ``ERR@10(max_grade=4)`` and ``{"a": 1, "b": 2}`` are one."""
    found, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == separator and depth == 0:
            found.append(text[start:place])
            start = place + 1
    return [*found, text[start:]]


def plain_value(text: str) -> Any:
    """A value of no declared kind: a truth value, none, a number, what Python would read, else the text."""
    if is_none(text):
        return None
    for read in (truth, number):
        try:
            return read(text)
        except ValueError:
            continue
    return python_value(text)
