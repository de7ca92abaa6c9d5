"""One training of a net with one learning rate; several of them compete for the best validation value."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.data.random_streams import Stream
from rankforce.errors import ModelFileError
from rankforce.kernels.nets.network import score_documents
from rankforce.models.net_layout import Layout
from rankforce.nets.rate_schedule import Pace, Preset
from rankforce.nets.updates import Learning, Updates
from rankforce.threads import over_ranges
from rankforce.training.graded_monitoring import ahead
from rankforce.training.monitor import Followed, Monitor
from rankforce.training.monitoring import Watched

Cost = Callable[[np.ndarray, np.ndarray], float]  # of scores and their ranking, by_query order: what presets watch


class Scored(Followed):
    """A data set scored and ranked by changing weights, and its watched measure."""

    def __init__(self, data: Dataset, inputs: np.ndarray, layout: Layout, watched: Watched, seed: int) -> None:
        super().__init__(data, watched, seed)
        self.inputs = inputs
        self.hidden = layout.hidden

    def score(self, weights: np.ndarray) -> None:
        """Go on to the scores by these weights."""
        scores = self.scores
        over_ranges(len(scores), lambda a, b: score_documents(self.inputs, a, b, self.hidden, weights, scores))
        self.rank(scores)


@dataclasses.dataclass(frozen=True)
class Plan:
    """What the trainings of one ``fit`` share."""

    layout: Layout
    updates: Updates
    start: np.ndarray  # the first weights
    preset: Preset | None
    cost: Cost | None  # for presets
    patience: int | None
    keep_weights: bool
    seed: int


class Run:
    """A training with one learning rate."""

    def __init__(self, plan: Plan, rate: float, train: Scored, held_out: Scored | None) -> None:
        self.plan = plan
        self.train = train
        self.held_out = held_out
        self.pace = Pace.of(rate)
        self.learning = Learning.starting(plan.start, len(train.scores))
        self.monitor = Monitor(train, held_out, plan.patience)
        self.best_weights = plan.start.copy()
        self.kept: list[np.ndarray] = []
        self.restarts = 0
        self.diverged = False
        self.ended = False
        self.unmoved = False  # by its first epoch

    @property
    def rate(self) -> float:
        """The learning rate that it began with."""
        return self.pace.first_rate

    def epoch(self, number: int) -> None:
        """Learn once more; ``number`` counts epochs from 0. A training that has ended stays as it is."""
        if self.ended:
            return
        before = self.learning.weights.copy()
        self.plan.updates.epoch(self.learning, self.pace.rate, number)
        weights = self.learning.weights
        if not np.isfinite(weights).all():
            weights[:] = before
            self.diverged = self.ended = True
            return
        self.unmoved = number == 0 and np.array_equal(weights, before)
        self.train.score(weights)
        if self.held_out is not None:
            self.held_out.score(weights)
        self.monitor.record(number + 1)
        self.ended = self.monitor.ended
        if self.monitor.best_iteration == number + 1:
            self.best_weights = weights.copy()
        if self.plan.keep_weights:
            self.kept.append(weights.copy())
        self._pace(number)

    def _pace(self, number: int) -> None:
        plan = self.plan
        if plan.preset is None:
            return
        assert plan.cost is not None
        cost = plan.cost(self.train.scores, self.train.order)
        draw = float(Stream.NET_PACE.uniform(plan.seed, number))
        if self.pace.after(plan.preset, cost, self.monitor.values["validation"], draw):
            self.restarts += 1
            self.learning.restart(plan.layout.start(plan.seed, self.restarts))

    def state(self) -> dict[str, Any]:
        """All that the training must know to go on."""
        return {
            "pace": dataclasses.asdict(self.pace),
            "weights": self.learning.weights,
            "moments": self.learning.moments.ravel(),
            "steps": int(self.learning.steps[0]),
            "best_weights": self.best_weights,
            "kept": self.kept,
            "restarts": self.restarts,
            "diverged": self.diverged,
            "history": self.monitor.history,
            **self.monitor.memory(),
        }

    def resume(self, state: Mapping[str, Any], path: Any) -> None:
        """Go on from a state."""
        try:
            self.pace = Pace(**state["pace"])
            self.learning.weights[:] = state["weights"]
            self.learning.moments[:] = np.reshape(state["moments"], self.learning.moments.shape)
            self.learning.steps[0] = state["steps"]
            self.best_weights = np.array(state["best_weights"], dtype=np.float64)
            self.kept = [np.array(weights, dtype=np.float64) for weights in state["kept"]]
            self.restarts = int(state["restarts"])
            self.diverged = bool(state["diverged"])
            self.monitor.recall(state["history"], state)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"{path}: the checkpoint holds an impossible state of training: {error}") from None
        self.ended = self.monitor.ended or self.diverged


def leading(runs: list[Run]) -> Run:
    """The training with the best epoch on validation data so far; of equal ones, and without such data, the first."""
    begun = [run for run in runs if run.monitor.history]
    return begun[ahead([run.monitor.watch for run in begun])] if begun else runs[0]
