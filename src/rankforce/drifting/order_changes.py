"""How differently two models order the documents of the same queries."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.measures.mean import weighted_mean

ROWS_AT_A_TIME = 512
_LISTED = 5  # queries


@dataclasses.dataclass(frozen=True, eq=False)
class OrderChanges:
    """Per query the share of pairs of documents that a former model orders the other way round.

    A pair that only one of the two ties counts one half. Queries of one document have no pairs: NaN.
    """

    query_ids: np.ndarray
    shares: np.ndarray

    @property
    def mean(self) -> float:
        """Over the queries that have pairs."""
        return weighted_mean(self.shares[~np.isnan(self.shares)], None)

    @property
    def most_changed(self) -> dict[Any, float]:
        """The queries of the largest shares."""
        order = np.argsort(-np.nan_to_num(self.shares, nan=-1.0), kind="stable")[:_LISTED]
        ids = self.query_ids.tolist()
        return {ids[place]: float(self.shares[place]) for place in order.tolist() if self.shares[place] > 0.0}

    def to_dict(self) -> dict[str, Any]:
        quantiles = [math.nan] * 3
        if not np.isnan(self.shares).all():
            quantiles = np.nanquantile(self.shares, (0.5, 0.9, 1.0)).tolist()
        names = ("mean", "median", "ninetieth_percentile", "largest")
        values = dict(zip(names, (self.mean, *quantiles), strict=True))
        plain = {name: None if math.isnan(value) else value for name, value in values.items()}
        return plain | {
            "most_changed": [{"query": query, "share": share} for query, share in self.most_changed.items()]
        }


def order_changes(data: Dataset, former: np.ndarray, scores: np.ndarray) -> OrderChanges:
    """Of two scores of the documents, in ``by_query`` order."""
    edges = itertools.pairwise(data.query_starts.tolist())
    shares = [changed_share(former[a:b], scores[a:b]) for a, b in edges]
    return OrderChanges(data.query_ids, np.array(shares))


def changed_share(one: np.ndarray, other: np.ndarray) -> float:
    """The share of pairs of documents that two scores order differently."""
    n = len(one)
    if n < 2:
        return math.nan
    changed = 0
    for first in range(0, n, ROWS_AT_A_TIME):
        rows = slice(first, first + ROWS_AT_A_TIME)
        directions = [
            (scores[rows, None] > scores[None, :]).astype(np.int8) - (scores[rows, None] < scores[None, :])
            for scores in (one, other)
        ]
        changed += int(np.abs(directions[0] - directions[1]).sum(dtype=np.int64))  # 2 where turned round, 1 where tied
    return changed / (2 * n * (n - 1))
