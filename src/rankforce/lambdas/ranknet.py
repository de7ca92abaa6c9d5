"""The cross entropy of RankNet."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.lambdas.logistic import LogisticLambdaFunction


class RankNetCost(LogisticLambdaFunction):
    """C = log(1 + e^{−σ·gap}): force σρ, curvature σ²ρ(1 − ρ), whatever the measure says."""

    ALIASES: ClassVar[tuple[str, ...]] = ("RankNet",)

    def pair(self: Any, better: Any, worse: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        rho = worse / (better + worse)
        force = self.sigma * rho
        return force, self.sigma * force * (1.0 - rho)

    def pair_of_gap(self: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        rho = self.rho_of_gap(gap)
        force = self.sigma * rho
        return force, self.sigma * force * (1.0 - rho)
