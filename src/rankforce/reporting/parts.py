"""What the parts of a report have in common: each becomes JSON, or says in one line why it is not there."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

from rankforce.errors import RankforceError

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
        """The first line of what an error says, without what to write instead: the reader of a page writes nothing."""
        words = error.spelled(lambda remedy: "…").strip().splitlines()
        return cls(words[0] if words else "it could not be made")


def rounded(number: float) -> float | None:
    """A number with as many digits as a reader looks at; None where it is none."""
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else None


def all_rounded(numbers: Iterable[float]) -> list[float | None]:
    return [rounded(number) for number in numbers]
