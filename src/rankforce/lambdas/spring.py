"""A force that grows with the distance from the right place."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.errors import SettingsError
from rankforce.lambdas.pairwise import PairwiseLambdaFunction


class Spring(PairwiseLambdaFunction):
    """Force |ΔZ|·max(0, δ − gap), curvature |ΔZ| while the gap is below δ, else 0: the cost |ΔZ|·max(0, δ − gap)²/2.

    With a ``cap``, pairs in the wrong order (gap < 0) are pulled with cap·|ΔZ|, however far apart they are; for δ ≤ cap
    the force never rises with the gap, so that the cost of a pair stays convex. Their curvature stays |ΔZ|, a bound
    from above: a force without curvature would make Newton's step infinite.
    """

    delta: float = 1.0
    cap: float = np.inf

    def check(self) -> None:
        super().check()
        self.require("delta")
        if not self.cap > 0:
            raise SettingsError(f"Spring: cap must be positive, not {self.cap!r}")

    def pair_of_gap(self: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        pull = self.cap if gap < 0.0 and self.cap < np.inf else max(self.delta - gap, 0.0)
        return change * pull, (change if gap < self.delta else 0.0)
