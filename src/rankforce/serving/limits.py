"""What one request may ask for, and how many of them at once."""

from __future__ import annotations

import dataclasses
from typing import Final

from rankforce.kinds import Kind, Number, Whole

MEGABYTE: Final = 1_000_000


@dataclasses.dataclass(frozen=True)
class ServingLimits:
    """Bounds of the service; a request beyond one is refused with a status that says which.

    megabytes : of a request's body (413)
    rows : documents of a request (413)
    seconds : from the first byte of a body to its answer, waiting included (408 while the body comes, then 503)
    requests : that are read, wait or are scored at the same time (503)
    """

    megabytes: float = 32.0
    rows: int = 10_000
    seconds: float = 10.0
    requests: int = 64

    def __post_init__(self) -> None:
        kinds: dict[str, Kind] = {
            "megabytes": Number(0.001, 100_000),
            "rows": Whole(1),
            "seconds": Number(0, 86_400, above=True),
            "requests": Whole(1, 1_000_000),
        }
        for name, kind in kinds.items():
            kind.check(name, getattr(self, name))

    @property
    def body_bytes(self) -> int:
        return int(self.megabytes * MEGABYTE)
