"""What all rankers share that learn step by step: checks, threads and checkpoint around the loop, and the model."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from rankforce.collective import alone, is_first
from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError, warn
from rankforce.inspection.column_guards import warn_of_suspect_columns
from rankforce.measures.measure import Measure
from rankforce.models.kept_data import knowing_scores
from rankforce.models.provenance import COLUMNS, INTERRUPTED, Provenance
from rankforce.remedies import ValidationData
from rankforce.threads import THREADS, using_threads
from rankforce.training.base_models import base_of, written_base
from rankforce.training.checkpoint import MAY_CHANGE, Checkpoint, Identity
from rankforce.training.course import Course
from rankforce.training.loop import run
from rankforce.training.monitor import Followed
from rankforce.training.monitoring import TIES, Callback, TrainingWarning, Watched, checked_callbacks
from rankforce.training.own_code import OwnCode
from rankforce.training.ranker import Ranker
from rankforce.training.settings import setting, whole, with_settings
from rankforce.training.unfinished import handing_over


@dataclasses.dataclass(frozen=True, kw_only=True)
class Training:
    """What one call of ``fit`` learns from and watches.

    objective : what is learned, in words
    inputs : what belongs to its identity beside settings and data, as files keep it
    remarks : what is worth saying before it begins
    """

    data: Dataset
    held_out: Dataset | None
    watch: Callable[[Dataset], Watched]
    objective: str
    inputs: dict[str, Any] = dataclasses.field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def interrupted(self) -> str:
        """How far the search for weights came, if Ctrl-C ended it; else empty."""
        return str(self.inputs.get("weight_search", {}).get("interrupted", ""))

    def followed(self, seed: int) -> tuple[Followed, Followed | None]:
        """The data sets, as their rankings are followed: training and validation."""
        held_out = self.held_out
        return (
            Followed(self.data, self.watch(self.data), seed),
            None if held_out is None else Followed(held_out, self.watch(held_out), seed),
        )


def warn_of_interruption(how_far: str) -> None:
    """Say that a model is that of a training which Ctrl-C cut short."""
    warn(TrainingWarning(f"interrupted {how_far}: the model is what was learned until then"))


@with_settings
class Iterative(Ranker):
    """Base of rankers that learn step by step: a subclass gives the steps, the loop around them is everyone's."""

    early_stopping: int | None = whole(None, least=1)
    threads: int | None = setting(None, THREADS, after="seed")

    settled_: dict[str, Any] = dataclasses.field(init=False)  # what "auto" and None became, and what is watched
    history_: dict[str, list[float]] = dataclasses.field(init=False)
    seconds_: list[float] = dataclasses.field(init=False)  # since the loop began, after every iteration
    best_iteration_: int = dataclasses.field(init=False)
    _refit_of: dict[str, Any] = dataclasses.field(init=False)  # while it is fitted again: what the earlier fit found

    def _fit(
        self,
        training: Any,
        callbacks: Sequence[Callback],
        checkpoint: str | Path | None,
        checkpoint_every: int,
        resume: str,
    ) -> Self:
        """Learn, from the checkpoint on if it holds something, and leave ``model_`` and what else a fit leaves."""
        callbacks = checked_callbacks(callbacks)
        self._refuse_categories(training.data)
        warn_of_suspect_columns(training.data)
        self._check_settings(training.data, training.held_out)
        with using_threads(self.threads):
            identity = kept = None
            if checkpoint is not None or not alone():
                settings = self._settings() | training.inputs
                steps = self._steps() if self._steps_name() in MAY_CHANGE else None
                identity = Identity.of(settings, self._own_code(), training.data, training.held_out, steps)
                identity.check_members()
            if identity is not None and checkpoint is not None:
                kept = Checkpoint(checkpoint, checkpoint_every, resume, identity)
            course = self._course(training)
            self.settled_ = dict(course.settled)
            name = type(self).__name__
            with handing_over(course, identity):
                self.seconds_ = run(
                    course, self._steps(), name, callbacks=callbacks, checkpoint=kept, shown=self.progress
                )
                self._conclude(training, course)
        self._note_features(training.data)
        if course.interrupted and not course.announced and is_first():
            warn_of_interruption(course.interrupted)
        return self

    def _conclude(self, training: Any, course: Any) -> None:
        """Leave what was learned."""
        monitor = course.monitor
        self.history_ = {name: [] for name in monitor.names} | monitor.history  # there may have been no step
        self.watched_measure_ = monitor.measure
        self.best_iteration_ = course.best_iteration
        settings = self._settings() | self._chosen_settings(course) | training.inputs
        columns = {COLUMNS: dict(training.data.roles)} if training.data.roles else {}
        interrupted = " and ".join(filter(None, (training.interrupted, course.interrupted)))
        self.interrupted_ = bool(interrupted)
        marked = {INTERRUPTED: interrupted} if interrupted else {}
        provenance = Provenance.of_training(
            training.data,
            settings=settings | self._notes() | self._earlier() | columns | marked,
            objective=training.objective,
            history=monitor.history,
            watched=monitor.names,
            ties=TIES,
            seed=self.seed,
        )
        self.model_ = knowing_scores(course.model(provenance), training.held_out)

    def refit(self, *data: Dataset, scaled: bool = False) -> Self:
        """A ranker with the settings of this one that learns from all this data, as many steps as were best here.

        After ``ranker.fit(train, validation=validation)`` with early stopping, ``ranker.refit(train, validation)`` also
        learns from the validation data: ``best_iteration_`` trees (epochs, steps, models), nothing watched, whatever
        was left open or chosen on validation data (a learning rate, weights) as it was settled here. The data sets are
        joined by ``Dataset.concat``, queries of the same id kept apart. ``scaled``: steps in proportion to the
        documents, the first data set being the one that was learned from. This ranker stays as it is. The model's
        provenance says ``refit``.
        """
        from rankforce.training.refitting import refitted

        return refitted(self, data, scaled)

    def _found_on_validation(self) -> dict[str, Any]:
        """Settings as the fit settled them where it looked at its data; raises where they need validation data."""
        return {}

    def _earlier(self) -> dict[str, Any]:
        return {"refit": self._refit_of} if hasattr(self, "_refit_of") else {}

    def _settings(self) -> dict[str, Any]:
        """All settings by name, as the model file keeps them."""
        settings = {"ranker": type(self).__name__, **self.get_params(deep=False)}
        if "base_model" in settings:
            settings["base_model"] = written_base(base_of(settings["base_model"]))
        return settings

    def _own_code(self) -> OwnCode:
        """The code of the user's that decides what is learned."""
        elsewhere = MAY_CHANGE | {"base_model"}  # of which the settings hold a digest
        given = self.get_params(deep=False)
        return OwnCode.of({name: value for name, value in given.items() if name not in elsewhere}, self)

    def _chosen_settings(self, course: Any) -> dict[str, Any]:
        """What training chose, as the model file keeps it beside the settings."""
        return {}

    def _check_settings(self, data: Dataset, held_out: Dataset | None) -> None:
        """Raise where settings contradict each other, or do not fit the data."""
        if self.early_stopping is not None and held_out is None:
            raise SettingsError("early_stopping needs validation data: ", ValidationData())

    def _remarks_on(self, watched: Measure) -> tuple[str, ...]:
        """What to say of a watched measure that nobody asked for."""
        return () if watched == self._watched_measure() else (f"watching {watched}, which fits the labels",)

    @abc.abstractmethod
    def _steps_name(self) -> str:
        """The setting that says the most steps."""

    def _steps(self) -> int:
        """The most steps."""
        return int(getattr(self, self._steps_name()))

    @abc.abstractmethod
    def _course(self, training: Any) -> Course:
        """A training that has not begun."""
