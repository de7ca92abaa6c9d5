"""What decides the numbers of an evaluation, in words."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Policies:
    """What decides the numbers beside labels and scores; part of every printed result."""

    ties: str
    blank: str
    convention: str | None
    query_weights: str  # "none", "used", or why they are not

    def sentences(self) -> list[str]:
        ties = {
            "stable": "stable (equal scores in row order)",
            "expected": "expected (mean over all orders of equal scores)",
            "pessimistic": "pessimistic (equal scores: worth less first)",
            "optimistic": "optimistic (equal scores: worth more first)",
            "hashed": "hashed (equal scores by a hash of the seed, as in training)",
            "document ids": "by falling document id",
        }[self.ties]
        blank = {
            "skip": "skipped",
            "zero": "counted as 0",
            "one": "counted as 1",
            "raise": "refused",
        }.get(self.blank, self.blank)
        parts = [f"ties: {ties}", f"blank queries: {blank}", f"query weights: {self.query_weights}"]
        if self.convention is not None:
            parts.insert(0, f"convention: {self.convention}")
        return ["; ".join(parts)]
