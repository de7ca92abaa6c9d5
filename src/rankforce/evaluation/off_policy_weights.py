"""What a log says about another ranking: weights, support, and sums per session or query.

Users look at position k with a probability that is θ_k times that of the first position, and click what they look at
with a probability that depends on the query and the document alone (the position-based model): at position k with
θ_k·γ, γ being the probability at the first. Of query q the log has N views; document d was shown at positions that give
it T = Σ θ_k looks, and was clicked C times. A ranking that shows d at position j would have had

    θ_j·γ = θ_j·E[C]/T  clicks on it per view,

so that every click counts w = θ_j/(T/N): how much a user of the new ranking looks at d, over how much users of the log
did, on average over the views of the query. If d always stood at position k, that is θ_j/θ_k.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from rankforce.data.clicks.logged_views import LoggedViews
from rankforce.data.dataset import Dataset

COLUMNS = ("views", "clicks", "ips", "clipped", "accounted", "examination", "dr", "model")


@dataclasses.dataclass(frozen=True)
class Support:
    """How well a log supports statements about a ranking.

    impressions : of the log, as many as the next number would be if all weights were equal
    effective : (Σ w)²/Σ w² over these impressions
    largest_weight : before clipping
    clipped : the share of the new ranking's looks that clipping takes away
    unsupported_places : the share of its places with documents that the log never showed for their query
    unsupported : the share of its looks that fall on them
    unknown : the share of the log's impressions with documents that the data does not have
    """

    impressions: int
    effective: float
    largest_weight: float
    clipped: float
    unsupported_places: float
    unsupported: float
    unknown: float


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What was shown and clicked, by row of the data and by query.

    examination : θ of the first positions
    cutoff : places of a list that count, at most as many
    looks, clicks : float64 (rows of the data): T and C
    views : int64 (queries): N
    """

    data: Dataset
    logged: LoggedViews
    examination: np.ndarray
    cutoff: int
    looks: np.ndarray
    clicks: np.ndarray
    views: np.ndarray

    @classmethod
    def of(cls, logged: LoggedViews, data: Dataset, examination: np.ndarray, cutoff: int) -> Evidence:
        """From impressions at positions that all have a probability."""
        known = logged.row >= 0
        looks = np.bincount(logged.row[known], examination[logged.position[known] - 1], data.n_documents)
        clicks = np.bincount(logged.row[known], logged.clicked[known], data.n_documents)
        views = np.bincount(logged.view_query, logged.view_count, data.n_queries).astype(np.int64)
        return cls(data, logged, examination, cutoff, looks, clicks, views)

    def shrunken_rates(self, looks: float) -> np.ndarray:
        """γ of each row: (C + s·m)/(T + s) for s looks at the mean m of its query. A document never shown has m.

        m = (C_q + s·r)/(T_q + s), with the clicks and looks of the query, and r those of the log, clicks over looks.
        """
        query = self.data.row_queries
        clicks, seen = (np.bincount(query, one, self.data.n_queries) for one in (self.clicks, self.looks))
        overall = math.fsum(self.clicks.tolist()) / math.fsum(self.looks.tolist())
        mean = ((clicks + looks * overall) / (seen + looks))[query]
        return (self.clicks + looks * mean) / (self.looks + looks)

    def columns(
        self, place: np.ndarray, relevance: np.ndarray, clip: float, units: str, n_units: int
    ) -> tuple[np.ndarray, Support]:
        """``COLUMNS`` summed per unit (units, columns) for a ranking, and how well it is supported.

        ``place`` (rows): the place of each document in the new ranking, from 0; −1: not shown.
        """
        logged, query = self.logged, self.data.row_queries
        new = np.where(place >= 0, self.examination[place], 0.0)
        supported = self.looks > 0.0
        weight = np.zeros(len(new))
        weight[supported] = new[supported] * self.views[query][supported] / self.looks[supported]
        clipped = np.minimum(weight, clip)
        per_query = {"examination": new, "model": new * relevance}
        view_values = {name: np.bincount(query, one, self.data.n_queries) for name, one in per_query.items()}
        known = logged.row >= 0
        rows = np.maximum(logged.row, 0)
        looked = np.where(known, self.examination[logged.position - 1], 0.0)
        clicks = np.where(known, logged.clicked, 0.0)
        unit, view_unit = (
            (logged.session, logged.view_session) if units == "session" else (logged.query, logged.view_query)
        )
        by_view = {name: values[logged.view_query] * logged.view_count for name, values in view_values.items()}
        residual = clipped[rows] * (clicks - looked * relevance[rows])
        sums = {
            "views": np.bincount(view_unit, logged.view_count, n_units),
            "clicks": np.bincount(unit, logged.clicked & (logged.position <= self.cutoff), n_units),
            "ips": np.bincount(unit, clicks * weight[rows], n_units),
            "clipped": np.bincount(unit, clicks * clipped[rows], n_units),
            "accounted": np.bincount(unit, looked * weight[rows], n_units),
            "examination": np.bincount(view_unit, by_view["examination"], n_units),
            "model": np.bincount(view_unit, by_view["model"], n_units),
        }
        sums["dr"] = sums["model"] + np.bincount(unit, residual, n_units)
        support = self._support(place, new, weight, clipped, supported)
        return np.stack([sums[name] for name in COLUMNS], axis=1), support

    def _support(
        self, place: np.ndarray, new: np.ndarray, weight: np.ndarray, clipped: np.ndarray, supported: np.ndarray
    ) -> Support:
        views = self.views[self.data.row_queries].astype(np.float64)
        looks = views * new
        total = math.fsum(looks.tolist())
        places = views * (place >= 0)
        lost = np.where(weight > 0.0, looks * (1.0 - clipped / np.where(weight > 0.0, weight, 1.0)), 0.0)
        weights = weight[self.logged.row[self.logged.row >= 0]]
        squares = math.fsum((weights**2).tolist())
        return Support(
            impressions=len(weights),
            effective=math.fsum(weights.tolist()) ** 2 / squares if squares > 0.0 else 0.0,
            largest_weight=float(weight.max()),
            clipped=math.fsum(lost.tolist()) / total,
            unsupported_places=math.fsum(places[~supported].tolist()) / math.fsum(places.tolist()),
            unsupported=math.fsum(looks[~supported].tolist()) / total,
            unknown=float((self.logged.row < 0).mean()),
        )
