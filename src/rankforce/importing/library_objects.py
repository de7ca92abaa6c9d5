"""Objects of other libraries: whose they are, and their attributes; nothing is imported, and nothing fails."""

from __future__ import annotations

from typing import Any


def attribute(given: Any, name: str) -> Any:
    """An attribute of any object, or None where it has none or does not give it."""
    try:
        return getattr(given, name, None)
    except Exception:  # a property may fail in any way: LightGBM's do before fit
        return None


def from_library(given: Any, library: str) -> bool:
    """Whether an object is of a class of this library, or of one derived from it."""
    return any(kind.__module__.partition(".")[0] == library for kind in type(given).__mro__)


def first_line(error: BaseException) -> str:
    """What an exception of another library says, in one line."""
    text = str(error).strip().splitlines()
    return text[0][:300] if text else "without a word"
