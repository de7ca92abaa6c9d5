"""Numbers of things in words (1 query, 2 queries), and names in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankforce.displayed_text import displayed

_MANY = {"query": "queries", "leaf": "leaves"}


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 query``, ``2,000 queries``; ``many`` where more than the last word changes."""
    if number == 1:
        return f"1 {one}"
    if many is None:
        before, space, last = one.rpartition(" ")
        many = before + space + _MANY.get(last, last + "s")
    return f"{number:,} {many}"


def listed(names: Sequence[str], most: int = 8, written: Callable[[str], str] = displayed) -> str:
    """Names in a sentence, the first ``most`` of them if there are more."""
    first = ", ".join(map(written, names[:most]))
    return first if len(names) <= most else f"{first} and {len(names) - most:,} more"
