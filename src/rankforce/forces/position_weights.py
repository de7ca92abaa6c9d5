"""What clicks and unclicked documents count in the pairs of a term, because of the positions at which they stood."""

from __future__ import annotations

import numpy as np

from rankforce.collective import collective, highest
from rankforce.data.dataset import Dataset
from rankforce.errors import MeasureError
from rankforce.kernels.forces.bundles import PairPlaces, ScoredQueries
from rankforce.kernels.forces.pair_costs import LARGE, SMALL, add_pair_costs
from rankforce.measures.judged import JudgedMeasure
from rankforce.objectives.objective import Term
from rankforce.objectives.position_bias import (
    SESSIONS,
    InversePropensities,
    JointRatios,
    PositionBias,
    checked_positions,
)
from rankforce.threads import FEW, over_queries


class PositionWeights:
    """Weights of the documents that a term sees (``by_query`` order); a pair counts the product of its two.

    ``fixed`` are those that hold throughout; None: they follow from the scores (``at``) of everybody's documents.
    """

    def __init__(self, data: Dataset, term: Term, bias: PositionBias, judgement: JudgedMeasure) -> None:
        self.bias = bias
        self.judged = judgement
        if bias.position not in data.labels:
            known = ", ".join(map(repr, data.labels)) or "none"
            raise MeasureError(
                f"{term.measure} takes the bias of positions out, but the data has no label source {bias.position!r} "
                f"that says where documents stood (it has: {known}): ",
                SESSIONS,
                " makes it of a log, and a column 'label:position' of a table is one",
            )
        given = judgement.of_kept(data.by_query(data.labels[bias.position]))
        self.positions = checked_positions(given, judgement.labels, bias, term.measure.label)
        self.clicked = judgement.labels == 1.0
        (self.count,) = highest(int(self.positions.max(initial=-1)) + 1)
        sigma = getattr(term.lambda_function, "sigma", 1.0)
        self.sigma = float(sigma) if isinstance(sigma, (int, float)) else 1.0
        self.fixed: np.ndarray | None = None
        if isinstance(bias, InversePropensities):
            self.fixed = self._of_clicks(bias)

    def _of_clicks(self, bias: InversePropensities) -> np.ndarray:
        known = bias.click_weights()
        deepest = int(self.positions[self.clicked].max(initial=-1)) + 1
        if deepest > len(known):
            raise MeasureError(
                f"there is a click at position {deepest}, but propensities of the first {len(known)} positions only"
            )
        return np.where(self.clicked, known[np.where(self.clicked, self.positions, 0)], 1.0)

    def at(self, queries: ScoredQueries, pairs: PairPlaces, column_count: int, costs_of: np.ndarray) -> np.ndarray:
        """The weights at the scores of ``queries``; ``costs_of`` are running totals of what each query takes."""
        if self.fixed is not None:
            return self.fixed
        assert isinstance(self.bias, JointRatios)
        clicked, unclicked = self.bias.ratios(self.costs(queries, pairs, column_count, costs_of))
        if not self.count:
            return np.ones(len(self.positions))
        place = np.maximum(self.positions, 0)
        weights = 1.0 / np.where(self.clicked, clicked[place], unclicked[place])
        return np.where(self.positions < 0, 1.0, weights)

    def costs(self, queries: ScoredQueries, pairs: PairPlaces, column_count: int, costs_of: np.ndarray) -> np.ndarray:
        """The cost of all pairs by the positions of the clicked and the other document: sums that no order changes."""
        measure = self.judged.kernel_tuple
        parts: list[np.ndarray] = []

        def add(first: int, last: int) -> None:
            sums = np.zeros((2, self.count, self.count), dtype=np.int64)
            add_pair_costs(measure, column_count, self.sigma, queries, pairs, self.positions, first, last, sums)
            parts.append(sums)

        over_queries(queries.starts, add, FEW, costs_of)
        large, small = collective().add(np.sum(parts, axis=0))
        return large * LARGE + small * SMALL
