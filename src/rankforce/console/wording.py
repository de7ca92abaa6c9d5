"""Numbers of things in words: 1 query, 2 queries."""

from __future__ import annotations

_MANY = {"query": "queries", "leaf": "leaves"}


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 query``, ``2,000 queries``; ``many`` where more than the last word changes."""
    if number == 1:
        return f"1 {one}"
    if many is None:
        before, space, last = one.rpartition(" ")
        many = before + space + _MANY.get(last, last + "s")
    return f"{number:,} {many}"
