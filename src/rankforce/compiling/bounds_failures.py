"""What a user is told whose measure or λ-function takes an index beyond the end of an array."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

from rankforce.errors import RankforceError

REMEDY = (
    "an array of a query has an entry per document, so a loop up to a cut-off k ends at min(len(array), k); columns "
    "has a row for each of COLUMNS"
)


def out_of_bounds(error: IndexError, classes: Sequence[Any]) -> RankforceError:
    """The error to raise for an index out of bounds; ``classes`` are the users' kernel tuples that were involved."""
    for place in reversed(traceback.extract_tb(error.__traceback__)):
        for one in classes:
            for name, code in _codes(one):
                if place.filename == code.co_filename and place.lineno in _lines(code):
                    raised: type[RankforceError] = one.ERROR
                    text = linecache.getline(place.filename, place.lineno or 0).strip()
                    return raised(
                        f"{one.__qualname__.removesuffix('.Kernel')}.{name}: an index is out of bounds "
                        f"({place.filename}, line {place.lineno}{text and f': {text}'})\n  {REMEDY}"
                    )
    called = " or ".join(one.__qualname__.removesuffix(".Kernel") for one in classes)
    raised = classes[0].ERROR
    return raised(f"{called}: an index is out of bounds in a function that a method calls\n  {REMEDY}")


def _codes(one: Any) -> Iterator[tuple[str, Any]]:
    for name in dir(one):
        code = getattr(getattr(one, name), "__code__", None)
        if code is not None:
            yield name, code


def _lines(code: Any) -> set[int | None]:
    return {line for _, _, line in code.co_lines()}
