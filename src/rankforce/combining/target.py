"""What a combination is chosen for: the mean of a measure over the queries of a data set."""

from __future__ import annotations

import math

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import DataError
from rankforce.evaluation.request import refuse_blank_queries
from rankforce.evaluation.ties import RankedData
from rankforce.measures.judged import judged
from rankforce.measures.mean import weighted_mean, weights_of_queries
from rankforce.measures.measure import Measure


class MeanMeasure:
    """The weighted mean of a measure, blank queries by policy; equal scores in the order of the rows.

    ``shares`` is each query's weight in the mean and ``constant`` what blank queries add to it. ``queries``, a mask,
    leaves the others out.
    """

    def __init__(self, data: Dataset, measure: Measure, blank: str, queries: np.ndarray | None = None) -> None:
        self.data = data
        self.known = judged(data, measure)
        weights = weights_of_queries(data)
        asked = np.ones(data.n_queries, dtype=bool) if queries is None else queries
        is_blank = asked & (self.known.normalisers == 0.0)
        if blank == "raise":
            refuse_blank_queries(self.known, data, asked)
        self._blank = is_blank
        self._blank_value = {"zero": 0.0, "one": 1.0}.get(blank)
        scoring = asked & ~is_blank
        self._counted = asked if self._blank_value is not None else scoring
        self._weights = weights
        total = math.fsum(weights[self._counted].tolist())
        if not weights[scoring].any():
            raise DataError(f"{measure}: no query of the data can score, so that no combination is better than another")
        self.shares = np.where(scoring, weights / total, 0.0)
        self.constant = (self._blank_value or 0.0) * math.fsum(weights[is_blank].tolist()) / total

    def mean(self, scores: np.ndarray) -> float:
        """The mean of a ranking by these scores (``by_query`` order), as ``rf.evaluate`` computes it."""
        ranking = RankedData(self.data, scores, "stable", 0)
        values = ranking.values([self.known])[0].values
        if self._blank_value is not None:
            values[self._blank] = self._blank_value
        weights = None if self.data.query_weights is None else self._weights[self._counted]
        return weighted_mean(values[self._counted], weights)
