"""The cross entropy of RankNet."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.lambdas.logistic import LogisticLambdaFunction


class RankNetCost(LogisticLambdaFunction):
    """C = log(1 + e^{−σ·gap}): force σρ, curvature σ²ρ(1 − ρ), whatever the measure says.

    A subclass weighs pairs by a ``pair_weight`` of its own.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("RankNet",)

    def pair_weight(self: Any, change: Any, normaliser: Any) -> Any:
        return 1.0

    def strength(self: Any, better: Any, worse: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        rho = worse / (better + worse)
        force = self.sigma * rho * self.pair_weight(change, normaliser)
        return force, self.sigma * force * (1.0 - rho)
