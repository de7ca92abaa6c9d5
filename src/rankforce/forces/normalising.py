"""How forces are scaled per query, after those of all terms were added."""

from __future__ import annotations

import numpy as np

from rankforce.kernels.forces.pair_forces import divide_by_deviation, scale_by_log
from rankforce.threads import FEW_IN_A_PASS, over_queries


def normalise_forces(
    way: str,
    starts: np.ndarray,
    pulls: np.ndarray,
    query_weights: np.ndarray,
    forces: np.ndarray,
    curvatures: np.ndarray,
) -> None:
    """Scale forces and curvatures (``by_query`` order) in place; ``way`` as ``normalise`` of LambdaMART has it.

    Either way what a query counts is its weight: it scales the forces that come, and cancels in how they are damped.
    """
    if way == "deviation":
        scales = query_weights.copy()  # those of a data set are read-only, for which the kernel would be another one
        over_queries(starts, lambda a, b: divide_by_deviation(starts, scales, a, b, forces), FEW_IN_A_PASS)
    elif way == "log":
        unweighted = without_weights(pulls, query_weights)
        over_queries(starts, lambda a, b: scale_by_log(starts, unweighted, a, b, forces, curvatures), FEW_IN_A_PASS)


def without_weights(pulls: np.ndarray, query_weights: np.ndarray) -> np.ndarray:
    """The sums of forces before query weights: how a query is damped must not depend on how much it counts."""
    return np.divide(pulls, query_weights, out=np.zeros_like(pulls), where=query_weights > 0)
