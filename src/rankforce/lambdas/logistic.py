"""What the λ-functions built on P = 1/(1 + e^{−σ·gap}) share."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.lambdas.pairwise import PairwiseLambdaFunction


class LogisticLambdaFunction(PairwiseLambdaFunction):
    """A force that depends on the gap through ρ = 1/(1 + e^{σ·gap}), the probability of the wrong order.

    With x = e^{σ(score − top)} per document, ρ = x_worse / (x_better + x_worse). Where σ times the range of scores
    exceeds 600 the x of the lowest documents would vanish, and the form by gaps is used.
    """

    sigma: float = 1.0

    def check(self) -> None:
        super().check()
        self.require("sigma")

    def coordinate(self: Any, score: Any, top: Any) -> Any:
        return np.exp(self.sigma * (score - top))

    def widest(self: Any) -> Any:
        return 600.0 / self.sigma

    def rho_of_gap(self: Any, gap: Any) -> Any:
        # exp of a negative number only: it cannot overflow
        x = np.exp(-self.sigma * abs(gap))
        return (x if gap > 0.0 else 1.0) / (1.0 + x)
