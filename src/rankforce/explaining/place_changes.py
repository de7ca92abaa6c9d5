"""The smallest change of one feature by which two documents would change places.

With trees a score is constant between the thresholds of a feature: one value per interval, the nearest to what the
document has, is tried with the model itself, and the answer is exact. Where a smooth function reads the feature, the
line through its range is searched in even steps, and the first step that swaps the two is halved down to neighbouring
float32 numbers.

Of a categorical feature all categories of the data are tried, and the most common one that does it is the nearest.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.explaining.attribution import members_of
from rankforce.models.dag import RankingGraph
from rankforce.models.model import Model
from rankforce.models.net import Net
from rankforce.models.perceptron import Perceptron
from rankforce.models.tree_ensemble import TreeEnsemble

STEPS = 64  # along the range of a feature that a smooth function reads
STEPS_BY_QUERY = 16  # where every step scores the whole query again
ROWS_AT_A_TIME = 1 << 15


@dataclasses.dataclass(frozen=True)
class PlaceChange:
    """If ``feature`` of ``document`` were ``value`` instead of ``present``, it would change places with the other.

    ``passed`` is the size of the change that features can be compared by: the share of the documents of the data whose
    value it passes or reaches (from a missing value on, those between the median and the new value); of a category, the
    share of those that have another one than the new one. ``exact``: no smaller change of this feature of this document
    would do.
    """

    feature: str
    document: Any
    present: float
    value: float
    passed: float
    exact: bool


@dataclasses.dataclass(frozen=True, eq=False)
class Readers:
    """How a model reads each of its features: at which thresholds, and whether a smooth function reads it, too."""

    thresholds: list[np.ndarray]
    smooth: np.ndarray
    categorical: np.ndarray

    @classmethod
    def of(cls, model: Model) -> Readers:
        found: list[list[np.ndarray]] = [[] for _ in range(model.n_features)]
        smooth = np.zeros(model.n_features, dtype=bool)
        categorical = np.array([name in model.categories for name in model.feature_names], dtype=bool)
        categorical[list(model.unnamed_categories)] = True
        place_of = {name: place for place, name in enumerate(model.feature_names)}

        def visit(part: Model) -> None:
            places = [place_of[name] for name in part.feature_names]
            if isinstance(part, (TreeEnsemble, RankingGraph)):
                for feature in np.unique(part.feature):
                    found[places[feature]].append(part.threshold[part.feature == feature])
            if isinstance(part, (Net, Perceptron)):
                smooth[places] = True
            if isinstance(part, TreeEnsemble) and part.base_feature is not None:
                smooth[place_of[part.base_feature]] = True
            for member in members_of(part):
                visit(member)

        visit(model)
        nothing = np.empty(0, dtype=np.float32)
        return cls([np.unique(np.concatenate(each)) if each else nothing for each in found], smooth, categorical)

    def candidates(self, place: int, present: float, column: np.ndarray, steps: int) -> np.ndarray:
        """Values to try in place of the present one, float32, rising; ``column`` has those of the data, if needed."""
        if self.categorical[place]:
            codes = np.unique(column[column >= 0])
            return codes[codes != present]
        low, high = (float(column.min()), float(column.max())) if len(column) else (0.0, 0.0)
        thresholds = self.thresholds[place]
        with np.errstate(over="ignore"):  # beyond the largest number is infinity, which is not tried
            above = np.nextafter(thresholds, np.float32(np.inf))
        tried = [thresholds, above[-1:]]
        if not np.isnan(present):
            tried = [thresholds[thresholds < present], above[thresholds >= present]]
        if self.smooth[place] and low < high:
            tried.append(np.linspace(low, high, steps + 1).astype(np.float32))
        values = np.unique(np.concatenate(tried))
        return values[np.isfinite(values) & (values != present)]


class ChangedPair:
    """Two documents of a query, of which one has a feature changed: is the order of their scores another?"""

    def __init__(self, model: Model, query: np.ndarray, higher: int, lower: int) -> None:
        self.model, self.query, self.higher, self.lower = model, query, higher, lower
        self.by_query = isinstance(model, Net) and model.needs_queries
        self.scores = (0.0, 0.0) if self.by_query else tuple(model._scores(query[[higher, lower]]).tolist())

    def swapped(self, document: int, places: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Whether the lower document would stand above the higher one, for each change of one feature alone."""
        found = np.empty(len(values), dtype=bool)
        step = max(1, ROWS_AT_A_TIME // (len(self.query) if self.by_query else 1))
        for first in range(0, len(values), step):
            part = slice(first, first + step)
            gaps = self._gaps_in_query if self.by_query else self._gaps
            found[part] = gaps(document, places[part], values[part]) > 0.0
        return found

    def _gaps(self, document: int, places: np.ndarray, values: np.ndarray) -> np.ndarray:
        changed = np.repeat(self.query[document : document + 1], len(values), axis=0)
        changed[np.arange(len(values)), places] = values
        changed.setflags(write=False)
        scores = self.model._scores(changed)
        return scores - self.scores[0] if document == self.lower else self.scores[1] - scores

    def _gaps_in_query(self, document: int, places: np.ndarray, values: np.ndarray) -> np.ndarray:
        net: Any = self.model
        size = len(self.query)
        starts = size * np.arange(len(values) + 1)
        changed = np.tile(self.query, (len(values), 1))
        changed[starts[:-1] + document, places] = values
        inputs = net.scaling.inputs(changed, starts)
        scores = [net._scores_of_inputs(inputs[starts[:-1] + row]) for row in (self.lower, self.higher)]
        return np.asarray(scores[0] - scores[1])


def smallest_changes(
    model: Model, data: Dataset, query: np.ndarray, higher: int, lower: int, names: tuple[Any, Any]
) -> list[PlaceChange]:
    """For every feature that can do it alone, the smallest change of it that swaps the two, the smallest first.

    query float32 (documents, features), as ``model.matrix`` gives them; ``higher`` and ``lower`` are rows of it, and
    ``names`` what the two are called. Either document may change. Sizes are compared by the documents that are passed.
    """
    readers, pair = Readers.of(model), ChangedPair(model, query, higher, lower)
    matrix = model.matrix(data)
    changes = []
    for document, name in ((lower, names[1]), (higher, names[0])):
        nearest = _nearest(readers, pair, document, matrix)
        for place, value in nearest.items():
            present = float(query[document, place])
            passed = _passed(matrix[:, place], present, value, bool(readers.categorical[place]))
            changes.append(
                PlaceChange(model.feature_names[place], name, present, value, passed, not readers.smooth[place])
            )
    changes.sort(key=lambda one: one.passed)  # stable: of equal ones the lower document's come first
    first_of: dict[str, PlaceChange] = {}
    for change in changes:
        first_of.setdefault(change.feature, change)
    return list(first_of.values())


def _passed(column: np.ndarray, present: float, value: float, categorical: bool) -> float:
    """The share of the documents whose value lies between the present one and another, that one included."""
    if categorical:
        return float((column != value).sum() / len(column))
    known = column[~np.isnan(column)]
    origin = float(np.median(known)) if np.isnan(present) and len(known) else present
    within = (known > origin) & (known <= value) if value > origin else (known < origin) & (known >= value)
    return float(within.sum() / len(column))


def _nearest(readers: Readers, pair: ChangedPair, document: int, matrix: np.ndarray) -> dict[int, float]:
    """For each feature the value nearest to the document's that swaps the two; features without one are left out.

    From a missing value, nearness is that to the median of the feature.
    """
    steps = STEPS_BY_QUERY if pair.by_query else STEPS
    values: list[np.ndarray] = []
    origins = np.zeros(matrix.shape[1])
    for place in range(matrix.shape[1]):
        present = float(pair.query[document, place])
        known = np.empty(0, dtype=np.float32)
        if readers.smooth[place] or readers.categorical[place] or np.isnan(present):
            known = matrix[~np.isnan(matrix[:, place]), place]
            origins[place] = float(np.median(known)) if len(known) else 0.0
        if not np.isnan(present):
            origins[place] = present
        values.append(readers.candidates(place, present, known, steps))
    places = np.repeat(np.arange(len(values)), [len(each) for each in values])
    tried = np.concatenate(values) if values else np.empty(0, dtype=np.float32)
    swapped = pair.swapped(document, places, tried)
    nearest: dict[int, float] = {}
    for place in np.unique(places[swapped & readers.categorical[places]]).tolist():
        codes = tried[swapped & (places == place)]
        counts = [np.count_nonzero(matrix[:, place] == code) for code in codes]
        nearest[place] = float(codes[np.argmax(counts)])
    swapped &= ~readers.categorical[places]
    sides: dict[tuple[int, bool], tuple[float, float]] = {}  # (place, upwards): value that does not swap, one that does
    for place in np.unique(places[swapped]):
        mine = tried[places == place].astype(np.float64)
        does = swapped[places == place]
        for upwards in (False, True):
            reached = np.flatnonzero(does & ((mine > origins[place]) == upwards))
            if len(reached):
                at = reached[0] if upwards else reached[-1]
                between = (
                    mine[(mine > origins[place]) & (mine < mine[at])]
                    if upwards
                    else mine[(mine < origins[place]) & (mine > mine[at])]
                )
                start = origins[place] if not len(between) else float(between[-1] if upwards else between[0])
                sides[int(place), upwards] = (start, float(mine[at]))
    halved = _halved(pair, document, {key: ends for key, ends in sides.items() if readers.smooth[key[0]]})
    for (place, upwards), (_, value) in sides.items():
        found = halved.get((place, upwards), value)
        if place not in nearest or abs(found - origins[place]) < abs(nearest[place] - origins[place]):
            nearest[place] = found
    return nearest


def _halved(
    pair: ChangedPair, document: int, sides: dict[tuple[int, bool], tuple[float, float]]
) -> dict[tuple[int, bool], float]:
    """The end of each range that swaps, moved towards the other until no float32 number lies between."""
    if not sides:
        return {}
    places = np.array([place for place, _ in sides])
    near, far = (np.array([ends[end] for ends in sides.values()], dtype=np.float32) for end in (0, 1))
    while True:
        middle = ((near.astype(np.float64) + far.astype(np.float64)) / 2.0).astype(np.float32)
        between = (middle != near) & (middle != far)
        if not between.any():
            return dict(zip(sides, far.astype(np.float64).tolist(), strict=True))
        does = pair.swapped(document, places, middle)
        far = np.where(between & does, middle, far)
        near = np.where(between & ~does, middle, near)
