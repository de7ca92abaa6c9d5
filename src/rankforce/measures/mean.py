"""From values per query to one number: the weighted mean over the queries that can score.

Sums are exact before they are rounded, so that neither the order of the queries nor threads matter, nor who has them.
"""

from __future__ import annotations

import math

import numpy as np

from rankforce.collective import exact_total, total
from rankforce.data.dataset import Dataset
from rankforce.measures.judged import JudgedMeasure


def weighted_mean(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Σ w·x / Σ w; NaN for no values or no weight."""
    if weights is None:
        count = total(len(values))
        return exact_total(values) / count if count else math.nan
    weight = exact_total(weights)
    return exact_total(weights * values) / weight if weight > 0.0 else math.nan


def weights_of_queries(data: Dataset) -> np.ndarray:
    """One weight per query; 1 for all where the data has none."""
    return np.ones(data.n_queries) if data.query_weights is None else data.query_weights


class QueriesInMean:
    """The queries of a data set that can score under a measure.

    ``weights`` has one entry per query, 0 for the blank ones; ``total`` is their sum; ``shares`` what each query
    counts in the mean.
    """

    def __init__(self, data: Dataset, judged: JudgedMeasure) -> None:
        self.can_score = judged.normalisers != 0.0
        self.weights = np.where(self.can_score, weights_of_queries(data), 0.0)
        self.total = exact_total(self.weights)

    @property
    def shares(self) -> np.ndarray:
        return self.weights / self.total

    def sum(self, values: np.ndarray) -> float:
        """Σ w·x over the queries that can score; ``values`` of the others are not looked at."""
        return exact_total((values * self.weights)[self.can_score])

    def mean(self, values: np.ndarray) -> float:
        """The weighted mean of values, one per query; the total must not be 0."""
        return self.sum(values) / self.total

    def means(self, values: np.ndarray) -> np.ndarray:
        """Such a mean of each row, (..., queries) with numbers for all queries; as NumPy adds, for many rows."""
        return (values * self.weights).sum(axis=-1) / self.total
