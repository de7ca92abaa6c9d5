"""Numbers of things in words: 1 query, 2 queries."""

from __future__ import annotations

_MANY = {"query": "queries", "leaf": "leaves"}


def counted(number: int, thing: str) -> str:
    """``1,000 documents``; a thing may be several words, of which the last one counts: ``1 judged query``."""
    if number == 1:
        return f"1 {thing}"
    before, space, last = thing.rpartition(" ")
    return f"{number:,} {before}{space}{_MANY.get(last, last + 's')}"
