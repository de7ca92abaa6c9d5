"""What the λ-functions built on P = 1/(1 + e^{−σ·gap}) share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankforce.lambdas.pairwise import PairwiseLambdaFunction


class LogisticLambdaFunction(PairwiseLambdaFunction):
    """A force that depends on the gap through ρ = 1/(1 + e^{σ·gap}), the probability of the wrong order.

    With x = e^{σ(score − top)} per document, ρ = x_worse / (x_better + x_worse). A subclass gives ``strength``, force
    and curvature from the two x. Only their ratio counts, so that ``pair_of_gap`` measures them from the higher one: it
    serves where σ times the range of scores exceeds 600 and the x of the lowest documents would vanish.
    """

    REQUIRED: ClassVar[tuple[str, ...]] = ("strength",)

    sigma: float = 1.0

    def check(self) -> None:
        super().check()
        self.require("sigma")

    def coordinate(self: Any, score: Any, top: Any) -> Any:
        return np.exp(self.sigma * (score - top))

    def widest(self: Any) -> Any:
        return 600.0 / self.sigma

    def pair(self: Any, better: Any, worse: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        return self.strength(better, worse, gap, change, normaliser)

    def pair_of_gap(self: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        x = np.exp(-self.sigma * abs(gap))  # of a negative number only: it cannot overflow
        return self.strength(1.0 if gap > 0.0 else x, x if gap > 0.0 else 1.0, gap, change, normaliser)
