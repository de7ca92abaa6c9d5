"""The slope of the measure as each document moves alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.kernel_values import NO_CUTOFF
from rankforce.errors import SettingsError
from rankforce.kernels.forces.listwise_forces import centre, change_if_swapped, value_if_moved
from rankforce.lambdas.listwise import ListwiseLambdaFunction


class FiniteDifference(ListwiseLambdaFunction):
    """How the measure Z changes as a document moves k ranks, per unit of score that it takes; listwise, no curvature.

    The mean of [Z(moved up k) − Z]/(s_{r−k} − s_r + margin) and [Z − Z(moved down k)]/(s_r − s_{r+k} + margin), one of
    them at the ends of the list, minus the query's mean. A move shifts the documents between by one; unlabelled
    documents feel no force. O(n) for a query of n documents with k = 1 and a measure whose swaps are O(1), else O(n²).
    """

    k: int = 1
    margin: float = 0.1

    def check(self) -> None:
        super().check()
        self.require("margin")
        if not 1 <= self.k <= NO_CUTOFF:
            raise SettingsError(f"FiniteDifference: k must be at least 1 and at most {NO_CUTOFF}, not {self.k!r}")

    def change_if_moved(self: Any, measure: Any, state: Any, a: Any, b: Any) -> Any:
        if self.k == 1:  # neighbours swap
            return change_if_swapped(measure, state, a, b)
        return value_if_moved(measure, state, a, b) - state.value

    def forces(self: Any, scores: Any, grades: Any, order: Any, measure: Any, state: Any, out: Any) -> Any:
        for r in range(order.shape[0]):
            document = order[r]
            if np.isnan(grades[document]):
                continue
            total = 0.0
            count = 0
            if r >= self.k:
                way = scores[order[r - self.k]] - scores[document] + self.margin
                total += self.change_if_moved(measure, state, r, r - self.k) / way
                count += 1
            if r + self.k < order.shape[0]:
                way = scores[document] - scores[order[r + self.k]] + self.margin
                total -= self.change_if_moved(measure, state, r, r + self.k) / way
                count += 1
            if count > 0:
                out[document] = total / count
        centre(grades, out)
