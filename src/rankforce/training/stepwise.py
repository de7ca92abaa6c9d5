"""Rankers whose every step changes the whole model: PRank's epochs, XRank's changes. The best model is kept."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import ModelFileError
from rankforce.models.model import Model
from rankforce.models.provenance import Provenance
from rankforce.training.course import Course, check_not_beyond
from rankforce.training.inputs import as_dataset, as_validation, with_features
from rankforce.training.iterative import Iterative, Training
from rankforce.training.monitor import Monitor
from rankforce.training.monitoring import Callback, WatchedMeasure
from rankforce.training.settings import with_settings


class StepLearner(Protocol):
    """What learns, between its steps. Scores are float64 in ``by_query`` order."""

    def step(self, number: int) -> bool:
        """Learn; False if nothing is left to learn (and nothing was changed)."""

    def scores(self) -> np.ndarray:
        """Of the training documents, as they are now."""

    def held_out_scores(self) -> np.ndarray:
        """Of the validation documents."""

    def model(self) -> Model:
        """What was learned so far, as a model that later steps do not change."""

    def state(self) -> dict[str, Any]:
        """All that it must know to go on."""

    def resume(self, state: Mapping[str, Any], name: str) -> None:
        """Go on from a state that was read from a file of this name."""


class StepwiseCourse(Course):
    """A training that keeps the model of the best step, without validation data that of the last."""

    def __init__(
        self, learner: StepLearner, training: Training, *, unit: str, most: int, patience: int | None, seed: int
    ) -> None:
        super().__init__()
        self.unit = unit
        self.most = most
        self.learner = learner
        self.train, self.held_out = training.followed(seed)
        self._monitor = Monitor(self.train, self.held_out, patience)
        self.best: Model | None = None  # on validation data
        self.done = 0
        self.settled = {"watched": str(self._monitor.measure)}
        self.remarks = training.remarks

    @property
    def monitor(self) -> Monitor:
        return self._monitor

    def step(self, number: int) -> bool:
        if not self.learner.step(number):
            return False
        self.done = number + 1
        self.train.rank(self.learner.scores())
        if self.held_out is not None:
            self.held_out.rank(self.learner.held_out_scores())
        self._monitor.record(self.done)
        if self.held_out is not None and self._monitor.best_iteration == self.done:
            self.best = self.learner.model()
        return True

    def model(self, provenance: Provenance) -> Model:
        return dataclasses.replace(self.best or self.learner.model(), provenance=provenance)

    def state(self) -> dict[str, Any]:
        return {"steps": self.done, "learner": self.learner.state(), "monitor": self._monitor.memory()}

    def resume(self, model: Any, path: Any) -> int:
        try:
            state = model.provenance.settings["state"]
            self.done = int(state["steps"])
            self.learner.resume(state["learner"], str(path))
            self._monitor.recall(model.provenance.history, state["monitor"])
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelFileError(f"{path}: the checkpoint holds an impossible state of training: {error!r}") from None
        check_not_beyond(self.done, self.most, self.unit, path)
        if self.held_out is not None:
            self.best = model
        return self.done


@with_settings
class Stepwise(Iterative):
    """Base of rankers whose every step changes the model: with validation data, the best one is kept."""

    STEP: ClassVar[str]  # what a step is called

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        *,
        group: Any = None,
        validation: Any = None,
        weights: Any = None,
        query_weights: Any = None,
        callbacks: Sequence[Callback] = (),
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 50,
        resume: str = "auto",
    ) -> Self:
        """Learn from a Dataset, or from X, y and qid (or group).

        With ``validation`` (a Dataset or a tuple (X, y, qid)) the model with the highest watched measure on it is kept.
        ``callbacks`` are called after every step with an ``Iteration``. Ctrl-C stops after the current step and keeps
        what was learned. ``checkpoint`` is a path that what was learned is written to after every ``checkpoint_every``
        steps and that a later call goes on from, to the same bytes (``resume``: ``"auto"``, ``"never"``,
        ``"always"``).
        """
        data = with_features(as_dataset(X, y, qid, group=group, weights=weights, query_weights=query_weights))
        held_out = as_validation(validation, data)
        measure = self._watched_on(data, held_out)
        training = Training(
            data=data,
            held_out=held_out,
            watch=lambda watched: WatchedMeasure(watched, measure),
            objective=self._objective_name(),
            remarks=self._remarks_on(measure),
        )
        return self._fit(training, callbacks, checkpoint, checkpoint_every, resume)

    def _course(self, training: Training) -> StepwiseCourse:
        learner = self._learner(training.data, training.held_out)
        return StepwiseCourse(
            learner, training, unit=self.STEP, most=self._steps(), patience=self.early_stopping, seed=self.seed
        )

    def _conclude(self, training: Training, course: StepwiseCourse) -> None:
        super()._conclude(training, course)
        self._explain_nothing_learned(self.model_, training.data)

    def _explain_nothing_learned(self, model: Model, data: Dataset) -> None:
        """Warn if the model gives all documents one score."""

    @abc.abstractmethod
    def _learner(self, data: Dataset, held_out: Dataset | None) -> StepLearner:
        """What has not learned anything yet."""

    @abc.abstractmethod
    def _objective_name(self) -> str:
        """What is learned, in words."""
