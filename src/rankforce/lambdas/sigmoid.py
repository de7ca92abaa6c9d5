"""The sigmoid cost: a pull that lets go of pairs far from where they could change places."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

from rankforce.errors import SettingsError
from rankforce.lambdas.logistic import LogisticLambdaFunction

FARTHEST_CENTRE = 300.0  # of σ·mu: e^{σ·mu} must be a number, with room for the scores


class SigmoidCost(LogisticLambdaFunction):
    """Force |ΔZ|·σ·p(1 − p) with p = 1/(1 + e^{−σ(gap + mu)}): largest at gap = −mu, falling on both sides.

    Pairs already well apart are let go ("don't fix what isn't broken"), and so are those hopelessly in the wrong order
    ("give up on lost causes"). The slope of the force has no fixed sign, so there is no curvature: trees take the
    gradient step.
    """

    HAS_CURVATURE: ClassVar[bool] = False

    mu: float = 0.0
    shift: float = dataclasses.field(default=1.0, init=False, repr=False)  # e^{σ·mu}: no exponential in the pair loop

    def check(self) -> None:
        super().check()
        if not abs(self.sigma * self.mu) <= FARTHEST_CENTRE:
            raise SettingsError(f"sigma × mu must lie between −300 and 300, not {self.sigma * self.mu!r}")
        object.__setattr__(self, "shift", math.exp(self.sigma * self.mu))

    def widest(self: Any) -> Any:
        return 300.0 / self.sigma  # e^{σ·mu} may take the other half of the range

    def strength(self: Any, better: Any, worse: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        shifted = better * self.shift
        total = shifted + worse
        return self.sigma * change * (shifted / total) * (worse / total), 0.0
