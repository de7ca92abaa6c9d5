"""The λ-function of LambdaRank between neighbours."""

from __future__ import annotations

from rankforce.compiling.kernel_values import NO_CUTOFF, python_only
from rankforce.errors import SettingsError
from rankforce.kinds import Whole
from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs


class LocalCost(RankNetWeightPairs):
    """RankNetWeightPairs over the pairs at most k ranks apart: O(nk) for a query of n documents."""

    k: int = python_only(1)

    def check(self) -> None:
        super().check()
        if not Whole(1, NO_CUTOFF).holds(self.k):
            raise SettingsError(f"LocalCost: k must be a whole number from 1 to {NO_CUTOFF}, not {self.k!r}")

    @property
    def reach(self) -> int:
        return self.k
