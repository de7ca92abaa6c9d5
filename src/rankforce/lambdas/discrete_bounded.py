"""Each document on its own way to its ideal rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.kernels.forces.listwise_forces import centre, value_if_moved
from rankforce.lambdas.listwise import ListwiseLambdaFunction


class DiscreteBounded(ListwiseLambdaFunction):
    """sign(r − r*)·min(|Ẑ(moved from r to r*) − Ẑ|, 1), minus the query's mean; listwise, no curvature.

    r* is the rank of the document in the ideal order (falling grade, equal grades as they stand now), Ẑ the measure
    times the query's normaliser; a move shifts the documents between by one. Unlabelled documents feel no force.
    O(n²) for a query of n documents.
    """

    def forces(self: Any, scores: Any, grades: Any, order: Any, measure: Any, state: Any, out: Any) -> Any:
        for r in range(order.shape[0]):
            document = order[r]
            grade = grades[document]
            if np.isnan(grade):
                continue
            ideal = 0
            for o in range(order.shape[0]):
                other = grades[order[o]]  # NaN compares false: the ideal order has labelled documents only
                if other > grade or (other == grade and o < r):
                    ideal += 1
            if ideal != r:
                gain = abs(value_if_moved(measure, state, r, ideal) - state.value) * state.normaliser
                out[document] = min(gain, 1.0) if r > ideal else -min(gain, 1.0)
        centre(grades, out)
