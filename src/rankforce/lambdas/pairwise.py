"""λ-functions of pairs: how hard two documents of a query are pulled apart.

Of a pair i ▷ j, i has the better label. A pairwise λ-function sees the gap of their scores and the change of the
measure if they swapped ranks. The better document gets +force (it should move up), the worse one −force. Both get
+curvature, minus the slope of the force with the gap: what Newton's step divides by.
"""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.compiling.kernel_values import NO_CUTOFF
from rankforce.lambdas.base import LambdaFunction


class PairwiseLambdaFunction(LambdaFunction):
    """Base of all pairwise λ-functions. A subclass gives ``pair_of_gap``; the rest makes it faster.

    Methods called in kernels:

    ``pair_of_gap(gap, change, normaliser) -> (force, curvature)``
        The definition. ``gap`` is the better document's score minus the worse one's, ``change`` is |ΔZ|, the absolute
        change of the measure if the two swapped ranks, ``normaliser`` the query's (ΔẐ = ΔZ × normaliser).
    ``coordinate(score, top)`` and ``pair(better, worse, gap, change, normaliser)``
        The same from a number that is computed once per document: for the logistic family e^{σ(score − top)}, so
        that no exponential is left in the pair loop. ``top`` is the query's highest score.
    ``widest()``
        The widest range of scores within a query for which coordinates serve; beyond it ``pair_of_gap`` is used.
    """

    REQUIRED: ClassVar[tuple[str, ...]] = ("pair_of_gap",)

    @property
    def reach(self) -> int:
        """Only pairs at most so many ranks apart are pulled. A subclass that acts nearby overrides this."""
        return NO_CUTOFF

    def coordinate(self: Any, score: Any, top: Any) -> Any:
        return score - top

    def pair(self: Any, better: Any, worse: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        return self.pair_of_gap(gap, change, normaliser)

    def widest(self: Any) -> Any:
        return 1e300
