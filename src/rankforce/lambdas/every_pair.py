"""What RankNet maximises in place of a measure: nothing but the order of pairs."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.measures.measure import Measure


class EveryPair(Measure):
    """No measure: it says of every query that it counts, whatever its labels, and of every swap that it changes 0.

    For λ-functions that do not look at the change, such as ``RankNetCost``.
    """

    COLUMNS: ClassVar[int] = 0

    def normaliser(self: Any, ideal: Any) -> Any:
        return 1.0

    def value(self: Any, ranked: Any, normaliser: Any) -> Any:
        return 0.0

    def prepare(self: Any, ranked: Any, normaliser: Any, columns: Any) -> Any:
        pass

    def swap_delta(self: Any, a: Any, b: Any) -> Any:
        return 0.0
