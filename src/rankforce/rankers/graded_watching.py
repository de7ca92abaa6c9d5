"""Early stopping by a graded measure: several measures in order of importance.

The first tier may be at most one standard error of the paired difference below its best so far; among the iterations
for which that holds the next tier decides, in the same way, and the last one by its mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError
from rankforce.lambdas.objective import Objective
from rankforce.measures.catalogue import measure
from rankforce.measures.measure import Measure
from rankforce.rankers.watching import Watch, WatchedMeasure


def tiers_of(given: Any) -> tuple[Measure, ...]:
    """Measures in order of importance, from one, a list, or a graded objective; each once."""
    if isinstance(given, Objective):
        return given.tier_measures
    if isinstance(given, Sequence) and not isinstance(given, str):
        if not given:
            raise SettingsError("validation_measure names no measure")
        return tuple(dict.fromkeys(measure(one) for one in given))
    return (measure(given),)


class WatchedTiers:
    """Several measures of one data set, the most important first; ``mean`` is that of the first."""

    def __init__(self, data: Dataset, measures: Sequence[Measure]) -> None:
        self.measures = tuple(measures)
        self.parts = [WatchedMeasure(data, one) for one in measures]
        self.latest: list[np.ndarray] = []  # the value of every query, per tier, when it was last noted

    def mean(self, order: np.ndarray) -> float:
        """The mean of the first tier at this ranking."""
        return self.parts[0].mean(order)

    def values(self, order: np.ndarray) -> list[np.ndarray]:
        """The value of every query, for each tier."""
        return [part.values(order) for part in self.parts]

    def noted(self, order: np.ndarray, name: str) -> dict[str, float]:
        """The means at this ranking, as a history names them: ``name``, then ``name`` and the measure."""
        self.latest = self.values(order)
        first, *later = [part.mean_of(values) for part, values in zip(self.parts, self.latest, strict=True)]
        return {name: first} | {f"{name} {one}": mean for one, mean in zip(self.measures[1:], later, strict=True)}


@dataclass
class GradedWatch(Watch):
    """A watch that keeps the best iteration by a graded measure.

    ``patience`` counts from the last iteration that was chosen, or in which the first tier was higher than ever.
    """

    tiers: WatchedTiers | None = None
    _chosen: list[np.ndarray] = field(default_factory=list)
    _best: list[np.ndarray] = field(default_factory=list)  # per tier but the last, among those not ruled out
    _rose: int = 0

    def _choose(self, number: int, values: dict[str, float]) -> None:
        assert self.tiers is not None
        now = list(self.tiers.latest)
        if not self._chosen:
            self._take(number, now)
            self._best = now[:-1]
            self._rose = number
            return
        for place in range(len(now) - 1):
            part = self.tiers.parts[place]
            if part.mean_of(now[place]) > part.mean_of(self._best[place]):
                self._best[place] = now[place]
                self._rose = number if place == 0 else self._rose
                if not self._admits(place, self._chosen):  # what was chosen is ruled out, and what was best in it
                    self._take(number, now)
                    self._best[place:] = now[place:-1]
                    return
            if not self._admits(place, now):
                return
        last = self.tiers.parts[-1]
        if last.mean_of(now[-1]) > last.mean_of(self._chosen[-1]):
            self._take(number, now)

    def _last_progress(self) -> int:
        return max(self.best_iteration, self._rose)

    def _admits(self, place: int, values: Sequence[np.ndarray]) -> bool:
        """Whether a tier is at most one standard error of the paired difference below its best so far."""
        assert self.tiers is not None
        part = self.tiers.parts[place]
        behind = self._best[place] - values[place]
        return part.mean_of(behind) <= part.error_of(behind)

    def _take(self, number: int, values: list[np.ndarray]) -> None:
        self.best_iteration = number
        self._chosen = values
