"""Springs between the documents of a query and where they belong."""

from __future__ import annotations

from typing import Any

from rankforce.compiling.jit import kernel


@kernel
def add_springs(
    starts: Any,
    scores: Any,
    targets: Any,
    weights: Any,
    stiffness: Any,
    first: Any,
    last: Any,
    forces: Any,
    curvatures: Any,
) -> None:
    """Add a(t − (s − s̄)) to the force and a to the curvature of every document; s̄ is the mean score of its query.

    Of the queries ``first`` to ``last``: a = ``stiffness[q]`` × ``weights[k]``, and the mean is weighted, too, so that
    the springs of a query do not move it as a whole. All float64, the last two added to.
    """
    for q in range(first, last):
        total = 0.0
        mean = 0.0
        for k in range(starts[q], starts[q + 1]):
            total += weights[k]
            mean += weights[k] * scores[k]
        if total == 0.0 or stiffness[q] == 0.0:
            continue
        mean /= total
        for k in range(starts[q], starts[q + 1]):
            a = stiffness[q] * weights[k]
            forces[k] += a * (targets[k] - (scores[k] - mean))
            curvatures[k] += a
