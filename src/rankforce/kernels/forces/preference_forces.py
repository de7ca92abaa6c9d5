"""Forces of listed pairs: preferences with a probability, whatever the grades say."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel


@kernel
def add_preference_forces(
    better: Any,  # int32 (pairs): documents, pairs of one query adjacent
    worse: Any,  # int32 (pairs)
    probability: Any,  # float64 (pairs): P̄, that better stands above worse
    weight: Any,  # float64 (pairs)
    pair_starts: Any,  # int64 (queries + 1)
    sigma: Any,
    scores: Any,  # float64 (documents)
    scales: Any,  # float64 (queries)
    first: Any,
    last: Any,
    pulls: Any,  # float64 (queries): Σ |force| is added
    forces: Any,  # float64 (documents): added to
    curvatures: Any,  # float64 (documents): added to
) -> None:
    """Force σ(P̄ − P) and curvature σ²P(1 − P) of every listed pair, P = 1/(1 + e^{−σ·gap})."""
    for q in range(first, last):
        if scales[q] == 0.0:
            continue
        for pair in range(pair_starts[q], pair_starts[q + 1]):
            i = better[pair]
            j = worse[pair]
            x = sigma * (scores[i] - scores[j])
            e = np.exp(-abs(x))  # of a negative number: it cannot overflow
            right = (1.0 if x > 0.0 else e) / (1.0 + e)
            wrong = (e if x > 0.0 else 1.0) / (1.0 + e)
            scale = scales[q] * weight[pair] * sigma
            # P̄ − P, without the cancellation of nearly equal numbers where the order is nearly certain
            force = scale * (probability[pair] * wrong - (1.0 - probability[pair]) * right)
            curvature = scale * sigma * right * wrong
            pulls[q] += abs(force)
            forces[i] += force
            forces[j] -= force
            curvatures[i] += curvature
            curvatures[j] += curvature
