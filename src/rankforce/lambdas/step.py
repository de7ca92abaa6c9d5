"""A constant force until a pair is far enough apart."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.lambdas.pairwise import PairwiseLambdaFunction


class Step(PairwiseLambdaFunction):
    """Force |ΔZ| while the gap is below δ, else 0; no curvature. The force of the cost |ΔZ|·max(0, δ − gap)."""

    HAS_CURVATURE: ClassVar[bool] = False

    delta: float = 1.0

    def check(self) -> None:
        super().check()
        self.require("delta")

    def pair_of_gap(self: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        return (change if gap < self.delta else 0.0), 0.0
