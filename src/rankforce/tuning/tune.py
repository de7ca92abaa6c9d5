"""Search for a ranker's settings, chosen by a measure on queries that it does not learn from."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from rankforce.console.interruption import Interruption
from rankforce.console.progress import Progress
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import checked_seed
from rankforce.data.spread import SpreadData, bare_data
from rankforce.errors import ClusterError, DataError, RankforceError, SettingsError, warn
from rankforce.evaluation.evaluate import evaluate
from rankforce.evaluation.request import Request
from rankforce.kinds import check_choice, check_number, check_switches
from rankforce.measures.catalogue import measure as read_measure
from rankforce.measures.measure import Measure
from rankforce.models.provenance import NOT_KEPT, plain
from rankforce.remedies import NAME_ALONE, Argument
from rankforce.training.base_models import base_of, written_base
from rankforce.training.monitoring import TrainingWarning
from rankforce.training.own_code import OwnCode
from rankforce.tuning.cross_validation import (
    check_early_stopping,
    check_learns_from,
    check_ranker,
    cross_validate,
    dealt_folds,
    fit_on,
)
from rankforce.tuning.journal import Journal
from rankforce.tuning.proposals import Watching, proposals_of
from rankforce.tuning.space import Choices, Space, key_of
from rankforce.tuning.tuning_result import DONE, FAILED, PRUNED, Trial, Tuning

METHODS = ("random", "grid", "optuna")
MOST_PROCESSES = 256


def tune(
    ranker: Any,
    data: Dataset | SpreadData,
    space: Mapping[str, Any],
    *,
    validation: Dataset | SpreadData | None = None,
    folds: int = 5,
    validation_share: float | None = None,
    measure: str | Measure | None = None,
    method: str = "random",
    trials: int | None = None,
    seed: int = 0,
    journal: str | Path | None = None,
    processes: int = 1,
    refit: bool = True,
    progress: bool = True,
) -> Tuning:
    """Try settings of a ranker and keep the best.

    Parameters
    ----------
    ranker : the settings that are not searched; it is not changed
    data : Dataset to learn from, or what ``rf.shared`` gives: every trial is then trained by all workers
    space : mapping of setting to what to try
        A list of values, ``(low, high)``, or ``(low, high, "log")``; whole numbers if both ends are.
    validation : Dataset, shared data
        The value of a trial is the measure on this; it is also what early stopping watches. Without it the value is
        that of a cross-validation over ``folds`` parts of whole queries (``validation_share`` as there).
    measure : what decides; default: what the ranker watches
    method : "random", "grid" (all combinations of lists) or "optuna"
        Optuna learns from earlier trials where to look, and with ``validation`` stops trials that fall behind.
    trials : how many (20 for a random or Optuna search, all for a grid)
    journal : path
        Every finished trial is written there; the same search, called again, goes on after them.
    processes : how many trials are tried at once, each by a process of its own with its share of the threads
        All of them map the same store; other data is copied for each. Not for Optuna, which learns from trial to trial.
    refit : whether to fit the ranker with the best settings (with ``validation``: on ``data``, watching
        ``validation``; ``result.refit(data, validation)`` then learns from both)

    Same data, space and seed: same trials (Optuna: in one go). Ctrl-C ends the search after the current trial, which is
    tried to its end, and the best of the finished ones is taken; a warning and ``interrupted`` of the result say so. If
    none is finished, or at a second Ctrl-C, KeyboardInterrupt is raised; a journal has the trials until then.
    """
    check_ranker(ranker)
    _check_data(data, validation)
    check_learns_from(ranker, data)
    check_choice("method", method, METHODS)
    check_switches(refit=refit, progress=progress)
    check_number("trials", trials, 1, whole=True, optional=True)
    check_number("processes", processes, 1, MOST_PROCESSES, whole=True)
    if processes > 1 and method == "optuna":
        raise SettingsError(
            "Optuna learns from every trial before it proposes the next: give ", Argument("processes", 1)
        )
    seed = checked_seed(seed)
    search_space = Space(space, ranker)
    if isinstance(data, SpreadData):
        _check_shared(search_space, processes)
    target = _measure(measure, ranker, search_space)
    trying = _Trying(ranker, data, validation, folds, validation_share, target, seed)
    trying.check(search_space)
    proposals = proposals_of(method, search_space, trials, seed)
    identity = trying.identity() | {"space": search_space.written(), "method": method, "seed": seed}
    book = None if journal is None else Journal(journal, identity, trying.own_code(search_space))
    records = {} if book is None else {key_of(record["settings"]): record for record in book.records}
    trials_done: list[Trial] = []
    with Interruption("trial") as interruption, Progress("tune", proposals.count or 0, "trials", progress) as bar:
        earlier = [] if book is None else list(book.records)
        proposals.remember(earlier)
        with contextlib.closing(_tried(trying, proposals, records, processes)) as tried:
            for trial in tried:
                if book is not None and trial.number > len(earlier):
                    book.add(trial.record())
                proposals.learn(trial)
                trials_done.append(trial)
                best_value = max((done.value for done in trials_done if done.state == DONE), default=math.nan)
                bar.advance(trial.number, {"best": best_value})
                if interruption.wanted:
                    break
    interrupted = _interrupted(interruption, len(trials_done), proposals.count)
    if not any(trial.state == DONE for trial in trials_done):
        if interrupted:
            raise KeyboardInterrupt
        reason = trying.last_failure or (trials_done[-1].reason,)
        raise SettingsError("no trial could be finished; the last one: ", *reason)
    if interrupted:
        warn(TrainingWarning(f"interrupted {interrupted}: the best of these is taken"))
    result = Tuning(tuple(trials_done), target, trying.chosen_by, interrupted=interrupted)
    return dataclasses.replace(result, ranker=trying.fitted(result.settings)) if refit else result


def _interrupted(interruption: Interruption, done: int, count: int) -> str:
    return f"after {done:,} of {count:,} trials" if interruption.wanted and done < count else ""


def _tried(
    trying: _Trying, proposals: Any, records: dict[str, dict[str, Any]], processes: int
) -> Generator[Trial, None, None]:
    """The trials of all proposals, in their order; those that were recorded are not tried again."""
    if processes == 1:
        for number, settings in enumerate(proposals, start=1):
            record = records.get(key_of(settings))  # Optuna may propose the same twice
            if record is None:
                trial = trying.run(number, settings, proposals.watching())
                records[key_of(settings)] = trial.record()
            else:
                trial = Trial.of_record(record, number, settings)
            yield trial
        return
    from rankforce.tuning.trial_processes import TrialProcesses

    numbered = list(enumerate(proposals, start=1))
    unknown = {key_of(settings): (number, settings) for number, settings in reversed(numbered)}  # the first of each
    asked = sorted(one for key, one in unknown.items() if key not in records)
    with TrialProcesses(trying, processes) as pool, contextlib.closing(pool.trials(iter(asked))) as found:
        for number, settings in numbered:
            if key_of(settings) not in records:
                records[key_of(settings)] = next(found).record()
            yield Trial.of_record(records[key_of(settings)], number, settings)


def _check_data(data: Any, validation: Any) -> None:
    for name, documents in (("data", data), ("validation", validation)):
        if not isinstance(documents, (Dataset, SpreadData)) and not (name == "validation" and documents is None):
            raise DataError(
                f"{name} must be a Dataset: rf.Dataset(X, y, qid=...) or rf.read(path), not {documents!r:.80}"
            )
    if isinstance(validation, SpreadData) and not isinstance(data, SpreadData):
        raise DataError("the validation data is shared by several processes and the data is not: share both or none")


def _check_shared(space: Space, processes: int) -> None:
    """Raise for what cannot be searched where documents are in several processes."""
    if processes > 1:
        raise SettingsError(
            "a trial on shared data is trained by all who have it, one trial after the other: give ",
            Argument("processes", 1),
        )
    if "max_bins" in space.parts:
        raise SettingsError("shared data is cut into bins when it is shared: max_bins cannot be searched there")


class _Trying:
    """How one combination of settings is valued."""

    def __init__(
        self,
        ranker: Any,
        data: Any,
        validation: Any,
        folds: int,
        validation_share: float | None,
        measure: Measure,
        seed: int,
    ) -> None:
        if validation is not None and validation_share is not None:
            raise SettingsError(
                "a share for validation is for folds: leave ",
                Argument("validation_share", NAME_ALONE),
                " out with ",
                Argument("validation", NAME_ALONE),
            )
        self.ranker, self.data, self.validation = ranker, data, validation
        self.folds, self.validation_share, self.measure, self.seed = folds, validation_share, measure, seed
        self.last_failure: tuple[Any, ...] = ()  # what the error of the last trial that failed said
        # Shared data gives a fold that somebody still has again, with all that was found of it: every trial needs it.
        self._kept_folds: list[Any] = []
        self.chosen_by = "on the validation data" if validation is not None else f"over {folds} folds"

    def check(self, space: Space) -> None:
        """Raise what every trial would, before the first one."""
        judged = bare_data(self.data if self.validation is None else self.validation)
        known = Request.of(self.measure).on(judged)[0]
        if not known.normalisers.any():
            raise SettingsError(f"{self.measure} has no value: every query is blank to it")
        if self.validation is None:
            check_number("validation_share", self.validation_share, 0.0, 0.9, above=True, optional=True)
            parts = dealt_folds(self.data, self.folds, self.seed, self.validation_share)
            self._kept_folds = list(parts) if isinstance(self.data, SpreadData) else []
        if "early_stopping" not in space.parts:
            check_early_stopping(self.ranker, self.validation is not None or self.validation_share is not None)

    def identity(self) -> dict[str, Any]:
        settings = self.ranker.get_params(deep=True)
        return {
            "ranker": type(self.ranker).__name__,
            "settings": {name: _written(name, value) for name, value in settings.items() if name not in NOT_KEPT},
            "data": self.data.fingerprint,
            "validation": None if self.validation is None else self.validation.fingerprint,
            "folds": None if self.validation is not None else self.folds,
            "validation_share": self.validation_share,
            "measure": str(self.measure),
        }

    def own_code(self, space: Space) -> OwnCode:
        """The code of the user's in what is searched: in the settings, in those that are tried, in the measure."""
        holding = {name: value for name, value in self.ranker.get_params(deep=True).items() if name not in NOT_KEPT}
        for name, part in space.parts.items():
            if isinstance(part, Choices):
                holding[name] = [holding[name], *part.values]
        return OwnCode.of(holding | {"what decides": self.measure}, self.ranker)

    def run(self, number: int, settings: dict[str, Any], watching: Watching | None) -> Trial:
        began = time.monotonic()
        try:
            value, iterations = self._value(settings, watching)
        except ClusterError:  # not the fault of the settings
            raise
        except RankforceError as error:
            seconds = time.monotonic() - began
            self.last_failure = error.args
            return Trial(number, settings, math.nan, seconds, FAILED, reason=str(error))
        state = PRUNED if watching is not None and watching.pruned else DONE
        if math.isnan(value):
            raise SettingsError(f"{self.measure} has no value: every query is blank to it")
        return Trial(number, settings, value, time.monotonic() - began, state, iterations)

    def _value(self, settings: dict[str, Any], watching: Watching | None) -> tuple[float, int | None]:
        ranker = self.ranker.silent(**settings)
        if self.validation is None:
            result = cross_validate(
                ranker,
                self.data,
                self.measure,
                folds=self.folds,
                seed=self.seed,
                validation_share=self.validation_share,
                progress=False,
            )
            return result.mean[self.measure], None
        fit_on(ranker, self.data, self.validation, [watching] if watching is not None else [])
        value = evaluate(ranker, self.validation, self.measure).mean[self.measure]
        return value, getattr(ranker, "best_iteration_", None)

    def fitted(self, settings: dict[str, Any]) -> Any:
        """The ranker with these settings, fitted on all of the data."""
        ranker = self.ranker.unfitted(**settings)
        if self.validation is None and self.validation_share is not None:
            train, validation = self.data.split(1.0 - self.validation_share, self.validation_share, seed=self.seed)
            fit_on(ranker, train, validation)
        else:
            fit_on(ranker, self.data, self.validation)
        return ranker


def _measure(given: str | Measure | None, ranker: Any, space: Space) -> Measure:
    if given is not None:
        return read_measure(given)
    watched = getattr(ranker, "_watched_measure", None)
    deciding = {"measure", "validation_measure", "objective"} & {name.rpartition("__")[2] for name in space.parts}
    if watched is None or deciding:
        raise SettingsError("say which measure decides between the trials: ", Argument("measure", "NDCG@10"))
    return watched()


def _written(name: str, value: Any) -> Any:
    """A setting as a journal keeps it: models by what they hold."""
    return written_base(base_of(value)) if name.rpartition("__")[2] == "base_model" else plain(value)
