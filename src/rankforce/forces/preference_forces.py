"""The forces of listed preferences, alone or mixed with those of an objective."""

from __future__ import annotations

import numpy as np

from rankforce import dtypes
from rankforce.data.preferences import Preferences
from rankforce.forces.forces import Forces
from rankforce.forces.normalising import normalise_forces
from rankforce.kernels.forces.preference_forces import add_preference_forces
from rankforce.measures.mean import weights_of_queries
from rankforce.threads import over_queries


class PreferenceForces:
    """share × the forces of preferences + (1 − share) × those of an objective, at given scores.

    A listed pair with probability P̄ pulls its documents apart with σ(P̄ − P), P = 1/(1 + e^{−σ·gap}), curvature
    σ²P(1 − P): the cross entropy of RankNet. It counts its weight × query weight × the weights of its documents.
    ``normalise`` is applied to both kinds of forces, each by itself (see ``Forces``). Without an objective the share
    is 1.
    """

    def __init__(
        self,
        preferences: Preferences,
        *,
        sigma: float = 1.0,
        share: float = 1.0,
        objective: Forces | None = None,
        normalise: str = "none",
    ) -> None:
        data = preferences.data
        pairs = preferences.listed
        self.listed = pairs
        self.sigma = float(sigma)
        self.share = share
        self.objective = objective
        self.normalise = normalise
        self.starts = data.query_starts
        self.query_weights = weights_of_queries(data)
        self.weight = pairs.weight
        if data.weights is not None:
            weights = data.by_query(data.weights)
            self.weight = pairs.weight * weights[pairs.better] * weights[pairs.worse]
        self.pulls = np.zeros(data.n_queries)
        self.forces = np.zeros(data.n_documents, dtype=dtypes.FORCE)
        self.curvatures = np.zeros(data.n_documents, dtype=dtypes.CURVATURE)

    @property
    def n_pairs(self) -> int:
        """How many listed pairs count, and those of the objective."""
        return int(np.count_nonzero(self.weight)) + (0 if self.objective is None else self.objective.n_pairs)

    def at(
        self, scores: np.ndarray, order: np.ndarray, iteration: int = 0, queries: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(forces, curvatures) as ``Forces.at`` gives them."""
        for array in (self.forces, self.curvatures, self.pulls):
            array.fill(0.0)
        scales = self.query_weights if queries is None else self.query_weights * queries
        pairs = self.listed
        over_queries(
            self.starts,
            lambda a, b: add_preference_forces(
                pairs.better, pairs.worse, pairs.probability, self.weight, pairs.starts, self.sigma, scores,
                scales, a, b, self.pulls, self.forces, self.curvatures,
            ),
        )  # fmt: skip
        normalise_forces(self.normalise, self.starts, self.pulls, self.query_weights, self.forces, self.curvatures)
        if self.objective is not None:
            forces, curvatures = self.objective.at(scores, order, iteration, queries)
            self.forces *= self.share
            self.forces += (1.0 - self.share) * forces
            self.curvatures *= self.share
            self.curvatures += (1.0 - self.share) * curvatures
        return self.forces, self.curvatures
