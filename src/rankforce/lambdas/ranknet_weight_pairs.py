"""The λ-function of LambdaRank and LambdaMART."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.lambdas.logistic import LogisticLambdaFunction


class RankNetWeightPairs(LogisticLambdaFunction):
    """RankNet's force times the change of the measure: force σρ|ΔZ|, curvature σ²ρ(1 − ρ)|ΔZ|."""

    ALIASES: ClassVar[tuple[str, ...]] = ("LambdaRank",)

    def pair(self: Any, better: Any, worse: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        rho = worse / (better + worse)
        force = self.sigma * rho * change
        return force, self.sigma * force * (1.0 - rho)

    def pair_of_gap(self: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        rho = self.rho_of_gap(gap)
        force = self.sigma * rho * change
        return force, self.sigma * force * (1.0 - rho)
