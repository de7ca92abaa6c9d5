"""What an inspection reports: something seen, and what to do about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rankforce.displayed_text import displayed

_SHOWN = 8  # names listed in a sentence before "and n more"


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that will mislead, or may: a short name for programs, what was seen, what to do."""

    kind: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}\n  {self.remedy}"

    def to_dict(self) -> dict[str, str]:
        return dataclasses.asdict(self)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, the first few of them if there are many."""
    shown = ", ".join(map(displayed, names[:_SHOWN]))
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN:,} more"
