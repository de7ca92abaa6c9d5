"""What is watched while a ranker learns: history, early stopping, callbacks, instruments."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from rankforce.collective import anybody
from rankforce.console.progress import numbers
from rankforce.data.dataset import Dataset
from rankforce.data.preferences import Preferences
from rankforce.errors import DataError, RankforceWarning, SettingsError
from rankforce.evaluation.agreement import AGREEMENT, Agreement, ListedAgreement
from rankforce.evaluation.significance import standard_error
from rankforce.evaluation.ties import HASHED
from rankforce.forces.trained_forces import TrainedForces
from rankforce.kinds import shown
from rankforce.measures.judged import judged
from rankforce.measures.mean import QueriesInMean
from rankforce.measures.measure import Measure

TIES = HASHED  # what ``evaluate`` calls the order of equal scores that histories are counted in


class TrainingWarning(RankforceWarning):
    """Training ended, or leaves something out, for a reason the user should know."""


class Instrument(Protocol):
    """What may look into a training: see ``rankforce.diagnostics.instruments``."""

    def look(self, iteration: int, data: Dataset, scores: np.ndarray, order: np.ndarray) -> None:
        """Called before every tree or epoch. One that has ``settle`` is told first what the training pulls with."""


class Watched(abc.ABC):
    """A value of a ranking, the higher the better.

    Equal scores are in the order of the ranking: while training by a hash of the seed (``forces.forces.RunningOrder``),
    the policy that ``evaluate`` calls ``TIES``.
    """

    measure: Measure | Agreement

    @abc.abstractmethod
    def mean(self, order: np.ndarray) -> float:
        """The value of a ranking, documents in ``by_query`` order."""

    def noted(self, order: np.ndarray, name: str) -> dict[str, float]:
        """What a history holds of a ranking, under this name."""
        return {name: self.mean(order)}

    def named(self, name: str) -> dict[str, str]:
        """What the numbers of such a history are values of, by their names."""
        return {name: str(self.measure)}


class WatchedPreferences(Watched):
    """The agreement of a ranking with listed preferences."""

    measure = AGREEMENT

    def __init__(self, preferences: Preferences) -> None:
        self._listed = ListedAgreement(preferences)
        self._rank = np.empty(preferences.data.n_documents, dtype=np.int64)

    def mean(self, order: np.ndarray) -> float:
        """The agreement with this ranking."""
        self._rank[order] = np.arange(len(order))
        return self._listed.of_ranks(self._rank)


class WatchedMeasure(Watched):
    """The mean of a measure over the queries of a data set, for a ranking kept elsewhere.

    Blank queries are left out, query weights count.
    """

    def __init__(self, data: Dataset, measure: Measure) -> None:
        self.measure = measure
        self.judged = judged(data, measure)
        self._queries = QueriesInMean(data, self.judged)
        if self._queries.total == 0 and anybody(bool(self._queries.can_score.any())):
            raise DataError(f"{measure} cannot be watched: every query that can score has the query weight 0")
        if self._queries.total == 0:
            raise SettingsError(
                f"{measure} cannot be watched: no query of the data has a document that is worth anything to it"
            )
        self.shares = self._queries.shares  # of each query in the mean

    def mean(self, order: np.ndarray) -> float:
        """The weighted mean at this ranking."""
        return self.mean_of(self.values(order))

    def values(self, order: np.ndarray) -> np.ndarray:
        """The value of every query at this ranking; NaN for blank queries."""
        return self.judged.values(self.judged.order_of_kept(order))

    def mean_of(self, values: np.ndarray) -> float:
        """The weighted mean of such values."""
        return self._queries.mean(values)

    def error_of(self, differences: np.ndarray) -> float:
        """The standard error of the mean of paired differences; 0 where a single query counts."""
        weights = self._queries.weights
        error = standard_error(differences[weights > 0], weights[weights > 0])
        return 0.0 if math.isnan(error) else error


def watched_values(train: Watched, held_out: Watched | None) -> dict[str, str]:
    """What the numbers of a history are values of, by their names."""
    return {"train": str(train.measure)} | ({} if held_out is None else held_out.named("validation"))


def in_words(values: Mapping[str, float], watched: Mapping[str, str], ties: str = TIES) -> str:
    """Values of a history with what they are: "NDCG (ties hashed): train 0.8123, validation 0.7712"."""
    measures = {watched[name] for name in ("train", "validation") if name in values and name in watched}
    if len(measures) != 1:  # name each, but those whose name in the history is the measure's
        named = {name: name if of in name else f"{name} {of}" for name, of in watched.items()}
        return f"{numbers({named.get(name, name): value for name, value in values.items()})} (ties {ties})"
    return f"{measures.pop()} (ties {ties}): {numbers(values)}"


def titled(watched: Mapping[str, str], ties: str = TIES) -> str:
    """What a history is of: "NDCG@10, ties hashed"."""
    return f"{', '.join(dict.fromkeys(watched.values()))}, ties {ties}"


@dataclass
class Iteration:
    """What a callback is told after every iteration."""

    number: int  # iterations done
    values: dict[str, float]  # "train" and "validation" where they are watched; equal scores by a hash of the seed
    history: dict[str, list[float]]
    best_iteration: int
    stopped: bool = False
    interrupted: bool = False  # stopped by Ctrl-C that came to somebody else than the loop

    def stop(self) -> None:
        """Make this the last iteration."""
        self.stopped = True

    def interrupt(self) -> None:
        """As ``stop``, after Ctrl-C: the model is marked as one that was cut short. Who calls it tells the user."""
        self.stopped = self.interrupted = True


Callback = Callable[[Iteration], Any]


def _listed(given: Any, name: str) -> tuple[Any, ...]:
    try:
        return tuple(given)
    except Exception as error:  # an array of no dimension, an object that only promises to be a list
        raise SettingsError(f"{name} must be a list, not {shown(given)}: {error}") from error


def checked_callbacks(given: Any) -> tuple[Callback, ...]:
    """Callbacks as a tuple, or an error: a list of functions."""
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise SettingsError(f"callbacks must be a list of functions of an Iteration, not {given!r:.80}")
    callbacks = _listed(given, "callbacks")
    for one in callbacks:
        if not callable(one):
            raise SettingsError(f"a callback is a function of an Iteration, not {one!r:.80}")
    return callbacks


def checked_instruments(given: Any) -> tuple[Instrument, ...]:
    """Instruments as a tuple, or an error: a list of what has ``look``."""
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise SettingsError(
            f"instruments must be a list, for example [rf.diagnostics.GradesInTop(3)], not {type(given).__name__}"
        )
    instruments = _listed(given, "instruments")
    for one in instruments:
        if not callable(getattr(one, "look", None)) or isinstance(one, type):
            raise SettingsError(
                "an instrument is one of rf.diagnostics (ForceAgreement(), ContributionsByGrade(), GradesInTop(k), "
                f"RankChanges()), or has look(iteration, data, scores, order); not {one!r:.80}"
            )
    return instruments


def show_forces(instruments: Sequence[Instrument], trained: TrainedForces) -> None:
    """Tell those instruments that ask for it (by ``settle``) with what forces a training is about to begin."""
    for instrument in instruments:
        settle = getattr(instrument, "settle", None)
        if settle is not None:
            settle(trained)


@dataclass
class Watch:
    """History, the best iteration and its validation value, and when to stop.

    ``patience`` iterations without a higher validation value end training; None never does.
    """

    patience: int | None
    history: dict[str, list[float]] = field(default_factory=dict)
    best_iteration: int = 0
    best_value: float = -math.inf

    def replay(self, history: Mapping[str, Sequence[float]], revisit: Callable[[], Any] | None = None) -> bool:
        """Take over the history of a training that was interrupted; returns whether it had come to its end.

        ``revisit`` is called before each of its iterations.
        """
        stop = False
        for number, values in enumerate(zip(*history.values(), strict=True), start=1):
            if revisit is not None:
                revisit()
            stop = self.record(number, dict(zip(history, values, strict=True)))
        return stop

    def record(self, number: int, values: dict[str, float]) -> bool:
        """Note the values after iteration ``number`` (from 1); returns whether patience is at its end."""
        for name, value in values.items():
            self.history.setdefault(name, []).append(value)
        self._choose(number, values)
        return self._exhausted(number)

    def memory(self) -> dict[str, Any]:
        """What it must know to go on, beside the history."""
        return {}

    def recall(self, history: Mapping[str, Sequence[float]], memory: Mapping[str, Any]) -> bool:
        """As ``replay``, without looking at anything again."""
        return self.replay(history)

    def _exhausted(self, number: int) -> bool:
        return self.patience is not None and number - self._last_progress() >= self.patience

    def _choose(self, number: int, values: dict[str, float]) -> None:
        """Make ``best_iteration`` this one if it is."""
        decisive = values.get("validation")
        if decisive is None or decisive > self.best_value:
            self.best_iteration = number
            self.best_value = -math.inf if decisive is None else decisive

    def _last_progress(self) -> int:
        """The iteration that patience counts from."""
        return self.best_iteration
