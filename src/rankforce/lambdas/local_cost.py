"""The λ-function of LambdaRank between neighbours."""

from __future__ import annotations

from rankforce.compiling.kernel_values import NO_CUTOFF, python_only
from rankforce.errors import SettingsError
from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs


class LocalCost(RankNetWeightPairs):
    """RankNetWeightPairs over the pairs at most k ranks apart: O(nk) for a query of n documents."""

    k: int = python_only(1)

    def check(self) -> None:
        super().check()
        if isinstance(self.k, bool) or not isinstance(self.k, int) or not 1 <= self.k <= NO_CUTOFF:
            raise SettingsError(f"LocalCost: k must be a whole number from 1 to {NO_CUTOFF}, not {self.k!r}")

    @property
    def reach(self) -> int:
        return self.k
