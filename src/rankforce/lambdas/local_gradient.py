"""The slope of the measure between neighbours."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.lambdas.pairwise import PairwiseLambdaFunction


class LocalGradient(PairwiseLambdaFunction):
    """Documents at neighbouring ranks, of different grades: force |ΔZ| / (|gap| + margin); no curvature.

    What the measure would change by if the two swapped, per unit of score that the swap takes.
    """

    HAS_CURVATURE: ClassVar[bool] = False

    margin: float = 0.1

    def check(self) -> None:
        super().check()
        self.require("margin")

    @property
    def reach(self) -> int:
        return 1

    def pair_of_gap(self: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        return change / (abs(gap) + self.margin), 0.0
