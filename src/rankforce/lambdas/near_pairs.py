"""The λ-function of LambdaMART with the weight on pairs that are close."""

from __future__ import annotations

from typing import Any

from rankforce.lambdas.logistic import LogisticLambdaFunction


class NearPairs(LogisticLambdaFunction):
    """RankNetWeightPairs divided by the distance of the scores: force σρ|ΔZ| / (margin + σ|gap|), curvature likewise.

    Documents that stand close are those whose order a small step can still change; pairs far apart, rightly or
    wrongly, count little. LightGBM and XGBoost do the same by default (margin 0.01).
    """

    margin: float = 0.01

    def check(self) -> None:
        super().check()
        self.require("margin")

    def strength(self: Any, better: Any, worse: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        # One division serves both: it is the slowest part of the pair loop.
        distance = self.margin + self.sigma * abs(gap)
        inverse = 1.0 / ((better + worse) * distance)
        force = self.sigma * worse * change * inverse
        return force, self.sigma * force * better * inverse * distance
