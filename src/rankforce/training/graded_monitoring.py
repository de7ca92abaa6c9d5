"""Early stopping by a graded measure: several measures in order of importance.

The first tier may be at most one standard error of the paired difference below its best so far; among the iterations
for which that holds the next tier decides, in the same way, and the last one by its mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError
from rankforce.measures.catalogue import measure
from rankforce.measures.measure import Measure
from rankforce.objectives.objective import Objective
from rankforce.training.monitoring import Watch, Watched, WatchedMeasure
from rankforce.written_forms import told_apart


def tiers_of(given: Any) -> tuple[Measure, ...]:
    """Measures in order of importance, from one, a list, or a graded objective; each once.

    Different ones that are written alike are refused: a history keeps their values by what is written.
    """
    if isinstance(given, Objective):
        return given.tier_measures
    if isinstance(given, Sequence) and not isinstance(given, str):
        if not given:
            raise SettingsError("validation_measure names no measure")
        return tuple(told_apart(measure(one) for one in given))
    return (measure(given),)


def watch_of(watched: Watched | None, patience: int | None) -> Watch:
    """The watch for what is watched on validation data (None: there is none)."""
    return GradedWatch(patience, tiers=watched) if isinstance(watched, WatchedTiers) else Watch(patience)


def ahead(watches: Sequence[Watch]) -> int:
    """Which of several trainings has the best iteration, by validation value or by tiers; of equals, the first."""
    left = list(range(len(watches)))
    graded = [watch for watch in watches if isinstance(watch, GradedWatch)]
    if not graded:
        return max(left, key=lambda one: watches[one].best_value)
    best = 0
    for tier, part in enumerate(graded[0].parts):
        values = {one: graded[one].chosen[tier] for one in left}
        means = {one: part.mean_of(values[one]) for one in left}
        best = max(left, key=means.__getitem__)
        left = [one for one in left if _within_error(part, values[best], values[one])]
    return best


def _within_error(part: WatchedMeasure, best: np.ndarray, values: np.ndarray) -> bool:
    """Whether values are at most one standard error of the paired difference below the best ones."""
    behind = best - values
    return part.mean_of(behind) <= part.error_of(behind)


class WatchedTiers(Watched):
    """Several measures of one data set, the most important first; ``mean`` is that of the first."""

    def __init__(self, data: Dataset, measures: Sequence[Measure]) -> None:
        self.measures = tuple(measures)
        self.measure = self.measures[0]
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

    def named(self, name: str) -> dict[str, str]:
        first, *later = map(str, self.measures)
        return {name: first} | {f"{name} {one}": one for one in later}


@dataclass
class GradedWatch(Watch):
    """A watch that keeps the best iteration by a graded measure.

    ``patience`` counts from the last iteration that was chosen, or in which the first tier was higher than ever.
    ``chosen`` are the values of the best iteration, per tier and query; ``best_value`` is the mean of its first tier.
    """

    tiers: WatchedTiers | None = None
    chosen: list[np.ndarray] = field(default_factory=list)
    _best: list[np.ndarray] = field(default_factory=list)  # per tier but the last, among those not ruled out
    _rose: int = 0

    @property
    def parts(self) -> list[WatchedMeasure]:
        """The tiers' measures."""
        assert self.tiers is not None
        return self.tiers.parts

    def memory(self) -> dict[str, Any]:
        return {
            "best_iteration": self.best_iteration,
            "best_value": self.best_value,
            "chosen": self.chosen,
            "best": self._best,
            "rose": self._rose,
        }

    def recall(self, history: Mapping[str, Sequence[float]], memory: Mapping[str, Any]) -> bool:
        self.history = {name: list(values) for name, values in history.items()}
        self.best_iteration = int(memory["best_iteration"])
        self.best_value = float(memory["best_value"])
        self.chosen = [np.array(values, dtype=np.float64) for values in memory["chosen"]]
        self._best = [np.array(values, dtype=np.float64) for values in memory["best"]]
        self._rose = int(memory["rose"])
        return self._exhausted(len(self.history["validation"]))

    def _choose(self, number: int, values: dict[str, float]) -> None:
        assert self.tiers is not None
        now = list(self.tiers.latest)
        if not self.chosen:
            self._take(number, now)
            self._best = now[:-1]
            self._rose = number
            return
        for place in range(len(now) - 1):
            part = self.parts[place]
            if part.mean_of(now[place]) > part.mean_of(self._best[place]):
                self._best[place] = now[place]
                self._rose = number if place == 0 else self._rose
                if not self._admits(place, self.chosen):  # what was chosen is ruled out, and what was best in it
                    self._take(number, now)
                    self._best[place:] = now[place:-1]
                    return
            if not self._admits(place, now):
                return
        last = self.parts[-1]
        if last.mean_of(now[-1]) > last.mean_of(self.chosen[-1]):
            self._take(number, now)

    def _last_progress(self) -> int:
        return max(self.best_iteration, self._rose)

    def _admits(self, place: int, values: Sequence[np.ndarray]) -> bool:
        """Whether a tier is at most one standard error of the paired difference below its best so far."""
        return _within_error(self.parts[place], self._best[place], values[place])

    def _take(self, number: int, values: list[np.ndarray]) -> None:
        self.best_iteration = number
        self.best_value = self.parts[0].mean_of(values[0])
        self.chosen = values
