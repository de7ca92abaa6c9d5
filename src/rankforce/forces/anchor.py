"""Springs that tie the scores of a query's documents to their grades."""

from __future__ import annotations

import math

import numpy as np

from rankforce.collective import exact_total, union
from rankforce.forces.forces import TermForces, on_kept
from rankforce.kernels.forces.anchor import add_springs
from rankforce.threads import FEW_IN_A_PASS, over_queries

SPREAD = 3.0  # distance of scores, times σ, that stands for one standard deviation of the grades


class Anchor:
    """A spring at every labelled document, whose end rests where the document's grade belongs.

    With stiffness a, the spring of a document with score s adds the force a(t − (s − s̄)) and the curvature a; s̄ is the
    mean score of its query, and t its target: its grade minus the mean grade of its query, in units of the standard
    deviation of all those, times SPREAD/σ. The grade is the place of a label among all different ones of the data, by
    what they are worth, so that labels on any scale (click rates, times) serve as well as those from 0 to 4.

    Springs do not move a query as a whole, and all together they are a regression of the grades within queries. Pairs
    say which of two documents is better; a regression says how good each is, with a curvature that never vanishes, and
    that is what few and noisy labels need.

    ``stiffness`` is measured against the forces of the measure: at 1, both curve equally on the mean over all documents
    with all scores 0. Weights of documents and queries count as they do for pairs.
    """

    def __init__(
        self,
        term: TermForces,
        stiffness: float,
        sigma: float,
        curvatures: np.ndarray,
        weights: np.ndarray | None = None,
    ) -> None:
        """``curvatures`` are those of the measure with all scores 0 (``by_query`` order), ``weights`` what documents
        count there; by default those of the data.
        """
        judged = term.judged
        self.kept = judged.kept
        self.starts = judged.starts
        self.weights = term.document_weights if weights is None else weights
        if judged.source.any_missing:
            self.weights = np.where(judged.source.missing, 0.0, self.weights)
        # Unlabelled documents, NaN, come last. They weigh nothing.
        grades = np.searchsorted(union(term.standing), term.standing).astype(np.float64)
        query_of = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        totals = np.bincount(query_of, self.weights, len(self.starts) - 1)
        sums = np.bincount(query_of, self.weights * grades, len(self.starts) - 1).astype(np.float64)
        means = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0.0)
        self.targets = grades - means[query_of]
        # Exact sums, which do not depend on the order of the queries.
        total_weights = self.weights * term.query_weights[query_of]
        total = exact_total(total_weights)
        deviation = math.sqrt(exact_total(total_weights * self.targets**2) / total) if total > 0.0 else 0.0
        if deviation > 0.0:
            self.targets *= SPREAD / sigma / deviation
        curvature = exact_total(curvatures)
        self.stiffness = term.query_weights * (stiffness * curvature / total if total > 0.0 else 0.0)

    def add(self, scores: np.ndarray, queries: np.ndarray | None, forces: np.ndarray, curvatures: np.ndarray) -> None:
        """Add the forces and curvatures of the springs (``by_query`` order); ``queries``, a mask, leaves others out."""
        stiffness = self.stiffness if queries is None else self.stiffness * queries
        if self.kept is None:
            self._add(scores, stiffness, forces, curvatures)
            return
        with on_kept(self.kept, scores, forces, curvatures) as (own_scores, own_forces, own_curvatures):
            self._add(own_scores, stiffness, own_forces, own_curvatures)

    def _add(self, scores: np.ndarray, stiffness: np.ndarray, forces: np.ndarray, curvatures: np.ndarray) -> None:
        over_queries(
            self.starts,
            lambda first, last: add_springs(
                self.starts, scores, self.targets, self.weights, stiffness, first, last, forces, curvatures
            ),
            FEW_IN_A_PASS,
        )
