"""The λ-function of LambdaRank and LambdaMART."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.lambdas.ranknet import RankNetCost


class RankNetWeightPairs(RankNetCost):
    """RankNet's force times the change of the measure: force σρ|ΔZ|, curvature σ²ρ(1 − ρ)|ΔZ|."""

    ALIASES: ClassVar[tuple[str, ...]] = ("LambdaRank",)

    def pair_weight(self: Any, change: Any, normaliser: Any) -> Any:
        return change
