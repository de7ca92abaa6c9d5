"""Comparing by several measures in order of importance: a later one counts only where the earlier are equal.

"Equal" means not significantly different: means of two rankings are never equal to the last digit.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, Literal

from rankforce.console import tables
from rankforce.displayed_text import displayed


@dataclasses.dataclass(frozen=True)
class Tier:
    """One measure of a graded comparison: the difference of the means, b − a, and the p-value that decides."""

    measure: str
    difference: float
    p_value: float
    test: Literal["t-test", "randomisation"] = "t-test"

    def outcome(self, alpha: float) -> str:
        """``better``, ``worse`` or ``equal``: of b, at the level ``alpha``. A measure without queries is equal."""
        if math.isnan(self.p_value) or self.p_value >= alpha or self.difference == 0.0:
            return "equal"
        return "better" if self.difference > 0.0 else "worse"


@dataclasses.dataclass(frozen=True)
class GradedVerdict:
    """Whether b is ``better``, ``worse`` or ``equal``, and the tier (from 1) that decided; None if none did.

    ``untested``: no measure has the two queries that a test needs.

    Every tier is tested at ``alpha``. If the two are the same in truth, T tiers call them different by chance with a
    probability of at most T·alpha.
    """

    outcome: str
    decided_by: int | None
    alpha: float
    tiers: tuple[Tier, ...]
    names: tuple[str, str]

    def to_dict(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome,
            "decided_by": self.decided_by,
            "measure": None if self.decided_by is None else self.tiers[self.decided_by - 1].measure,
            "alpha": self.alpha,
            "tiers": [
                {
                    "measure": tier.measure,
                    "difference": tier.difference if math.isfinite(tier.difference) else None,
                    "p": tier.p_value if math.isfinite(tier.p_value) else None,
                    "deciding_test": tier.test,
                    "outcome": tier.outcome(self.alpha),
                }
                for tier in self.tiers
            ],
            "words": str(self),
        }

    def __str__(self) -> str:
        a, b = map(displayed, self.names)
        if self.outcome == "untested":
            return f"{b} cannot be told from {a}: a test needs two queries that count in some measure"
        told = {"better": f"{b} is better than {a}", "worse": f"{b} is worse than {a}", "equal": f"{b} equals {a}"}
        looked_at = self.tiers if self.decided_by is None else self.tiers[: self.decided_by]
        reasons = [
            f"{tier.outcome(self.alpha)} in {tier.measure} ({tables.number(tier.difference, sign=True)}, "
            f"p {_with_sign(tier.p_value)}{' by randomisation' if tier.test == 'randomisation' else ''})"
            for tier in looked_at
        ]
        differing = any(tier.test == "randomisation" for tier in looked_at)
        also = "; randomisation where all differences are the same" if differing else ""
        return (
            f"{told[self.outcome]}: {', '.join(reasons)}; "
            f"equal means not significantly different at {tables.level_name(self.alpha)} (paired t-test{also})"
        )


def graded_verdict(tiers: Sequence[Tier], names: tuple[str, str], alpha: float) -> GradedVerdict:
    """The first tier with a significant difference decides."""
    for number, tier in enumerate(tiers, 1):
        outcome = tier.outcome(alpha)
        if outcome != "equal":
            return GradedVerdict(outcome, number, alpha, tuple(tiers), names)
    tested = not all(math.isnan(tier.p_value) for tier in tiers)
    return GradedVerdict("equal" if tested else "untested", None, alpha, tuple(tiers), names)


def _with_sign(p: float) -> str:
    shown = tables.p_value(p)
    return shown if shown.startswith(("<", "–")) else f"= {shown}"
