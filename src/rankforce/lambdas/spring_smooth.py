"""RankNet's force, stronger where a swap gains much."""

from __future__ import annotations

from typing import Any

from rankforce.lambdas.logistic import LogisticLambdaFunction


class SpringSmooth(LogisticLambdaFunction):
    """RankNetWeightPairs with a gain of at least 1: force σρ·max(|ΔẐ|, 1), curvature σ²ρ(1 − ρ)·max(|ΔẐ|, 1).

    Ẑ is the measure times the query's normaliser (the best DCG for NDCG, the number of relevant documents for MAP):
    the measure itself changes by less than 1 and the bound would always act, as it does for RR, ERR and WTA, where
    this is RankNet.
    """

    def pair(self: Any, better: Any, worse: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        rho = worse / (better + worse)
        force = self.sigma * rho * max(change * normaliser, 1.0)
        return force, self.sigma * force * (1.0 - rho)

    def pair_of_gap(self: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        rho = self.rho_of_gap(gap)
        force = self.sigma * rho * max(change * normaliser, 1.0)
        return force, self.sigma * force * (1.0 - rho)
