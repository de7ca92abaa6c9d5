"""What the parts of a report have in common: each becomes JSON, or says in one line why it is not there."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable
from typing import Any

from rankforce.displayed_text import displayed_lines
from rankforce.errors import RankforceError
from rankforce.remedies import Remedy

DIGITS = 6  # significant, of what is shown and not computed with


@dataclasses.dataclass(frozen=True)
class ReportPart:
    """One part of a report: its fields are what the page shows."""

    def to_dict(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


@dataclasses.dataclass(frozen=True)
class AbsentPart(ReportPart):
    """In place of a part that cannot be: why."""

    absent: str

    @classmethod
    def because(cls, error: RankforceError) -> AbsentPart:
        """What an error says, up to what to write instead and in one line: the reader of a page writes nothing."""
        words = itertools.takewhile(lambda part: not isinstance(part, Remedy), error.args)
        lines = displayed_lines("".join(map(str, words))).strip().splitlines()
        return cls(lines[0].rstrip(" ,:;(") if lines else "it could not be made")


LARGEST_EXACT = 2**53  # whole numbers beyond are others in a browser


def exact(value: Any) -> Any:
    """The same with whole numbers that a browser would change (large ids, seeds) as texts."""
    if isinstance(value, dict):
        return {key: exact(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [exact(entry) for entry in value]
    large = isinstance(value, int) and not isinstance(value, bool) and abs(value) > LARGEST_EXACT
    return str(value) if large else value


def rounded(number: float) -> float | None:
    """A number with as many digits as a reader looks at; None where it is none."""
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


def all_rounded(numbers: Iterable[float]) -> list[float | None]:
    return [rounded(number) for number in numbers]
