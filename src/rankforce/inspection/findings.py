"""What an inspection reports: something seen, and what to do about it."""

from __future__ import annotations

import dataclasses


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
