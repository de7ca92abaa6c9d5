"""What rankers share that learn in steps, each of which changes the whole model: PRank's epochs, XRank's changes."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from rankforce.console.interruption import Interruption
from rankforce.console.progress import Progress
from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError
from rankforce.forces.forces import RunningOrder
from rankforce.models.model import Model
from rankforce.models.provenance import Provenance
from rankforce.remedies import ValidationData
from rankforce.threads import THREADS, using_threads
from rankforce.training.inputs import as_dataset, as_validation, with_features
from rankforce.training.monitoring import (
    TIES,
    Callback,
    Watch,
    WatchedMeasure,
    checked_callbacks,
    in_words,
    watched_values,
)
from rankforce.training.ranker import Ranker
from rankforce.training.settings import setting, whole, with_settings


class Course(Protocol):
    """One training, between its steps. Scores are float64 in ``by_query`` order."""

    def step(self, number: int) -> bool:
        """Learn; False if nothing is left to learn (and nothing was changed)."""

    def scores(self) -> np.ndarray:
        """Of the training documents, as they are now."""

    def held_out_scores(self) -> np.ndarray:
        """Of the validation documents."""

    def model(self) -> Model:
        """What was learned so far, as a model that later steps do not change."""


@with_settings
class Stepwise(Ranker):
    """Base of rankers whose every step changes the model: with validation data, the best one is kept.

    A subclass gives ``_steps`` (how many there may be), ``_course`` and ``_watched_measure``.
    """

    STEP: ClassVar[str]  # what a step is called

    early_stopping: int | None = whole(None, least=1)
    threads: int | None = setting(None, THREADS, after="seed")

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
    ) -> Self:
        """Learn from a Dataset, or from X, y and qid (or group).

        With ``validation`` (a Dataset or a tuple (X, y, qid)) the model with the highest watched measure on it is kept.
        ``callbacks`` are called after every step with an ``Iteration``. Ctrl-C stops after the current step and keeps
        what was learned.
        """
        data = with_features(as_dataset(X, y, qid, group=group, weights=weights, query_weights=query_weights))
        held_out = as_validation(validation, data)
        callbacks = checked_callbacks(callbacks)
        self._check_settings()
        if self.early_stopping is not None and held_out is None:
            raise SettingsError("early_stopping needs validation data: ", ValidationData())
        with using_threads(self.threads):
            self._learn(data, held_out, callbacks)
        self._note_features(data)
        return self

    def _learn(self, data: Dataset, held_out: Dataset | None, callbacks: Sequence[Callback]) -> None:
        measure = self._watched_measure()
        course = self._course(data, held_out)
        watched, ranking = WatchedMeasure(data, measure), RunningOrder(data, self.seed)
        held_out_watched: WatchedMeasure | None = None
        if held_out is not None:
            held_out_watched, held_out_ranking = WatchedMeasure(held_out, measure), RunningOrder(held_out, self.seed)
        watch = Watch(self.early_stopping, callbacks)
        best: Model | None = None
        done = 0
        with (
            Interruption() as interruption,
            Progress(type(self).__name__, self._steps(), self.STEP, self.progress) as bar,
        ):
            names = watched_values(watched, held_out_watched)
            bar.in_words = functools.partial(in_words, watched=names)
            for number in range(self._steps()):
                if not course.step(number):
                    break
                done = number + 1
                values = {"train": watched.mean(ranking.update(course.scores()))}
                if held_out_watched is not None:
                    values["validation"] = held_out_watched.mean(held_out_ranking.update(course.held_out_scores()))
                stop = watch.record(done, values)
                if held_out is not None and watch.best_iteration == done:
                    best = course.model()
                bar.advance(done, values)
                if stop or interruption.wanted:
                    break
        self.history_ = watch.history
        self.watched_measure_ = measure
        self.best_iteration_ = done if held_out is None else watch.best_iteration
        kept = course.model() if held_out is None or best is None else best
        self._explain_nothing_learned(kept, data)
        provenance = Provenance.of_training(
            data,
            settings={"ranker": type(self).__name__, **self.get_params(deep=False)},
            objective=self._objective_name(),
            history=watch.history,
            watched=names,
            ties=TIES,
            seed=self.seed,
        )
        self.model_ = dataclasses.replace(kept, provenance=provenance)

    def _explain_nothing_learned(self, model: Model, data: Dataset) -> None:
        """Warn if the model gives all documents one score."""

    @abc.abstractmethod
    def _steps(self) -> int:
        """The most steps."""

    @abc.abstractmethod
    def _course(self, data: Dataset, held_out: Dataset | None) -> Course:
        """A training that has not begun."""

    @abc.abstractmethod
    def _objective_name(self) -> str:
        """What is learned, in words."""

    def _check_settings(self) -> None:
        """Raise where settings contradict each other."""
