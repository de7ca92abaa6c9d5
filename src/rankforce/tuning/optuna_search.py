"""Settings proposed by Optuna, which learns from earlier trials and stops those that fall behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankforce.data.random_streams import Stream
from rankforce.errors import missing_dependency
from rankforce.training.monitoring import Iteration
from rankforce.tuning.space import Choices, Range, Space, key_of


class OptunaSearch:
    """Trials asked of an Optuna study, and what became of them told to it."""

    def __init__(self, space: Space, count: int, seed: int) -> None:
        try:
            import optuna
        except ImportError:
            raise missing_dependency("optuna", "tune", "a search by Optuna") from None
        self._optuna = optuna
        self.space = space
        self.count = count
        self.seed = seed
        self.distributions = {name: self._distribution(part) for name, part in space.parts.items()}
        self._asked: Any = None
        self._earlier: list[dict[str, Any]] = []

    def remember(self, records: list[dict[str, Any]]) -> None:
        """Learn from the trials of a journal; they count as the first ones."""
        optuna = self._optuna
        before = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        try:
            self.study = optuna.create_study(
                direction="maximize",
                # another state after a resume: the same one would propose the same settings again
                sampler=optuna.samplers.TPESampler(seed=int(Stream.OPTUNA.words(self.seed, len(records))) % 2**32),
                pruner=optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=20, interval_steps=5),
            )
        finally:
            optuna.logging.set_verbosity(before)
        states = {"done": optuna.trial.TrialState.COMPLETE, "pruned": optuna.trial.TrialState.PRUNED}
        for record in records[: self.count]:
            settings = self._from_record(record["settings"])
            self._earlier.append(settings)
            if record["state"] in states:
                self.study.add_trial(
                    optuna.trial.create_trial(
                        params=self._to_optuna(settings),
                        distributions=self.distributions,
                        value=record["value"],
                        state=states[record["state"]],
                    )
                )

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self._asked = None
        yield from self._earlier
        for _ in range(self.count - len(self._earlier)):
            self._asked = self.study.ask(self.distributions)
            yield self._from_optuna(self._asked.params)

    def watching(self) -> Pruning:
        """The callback that tells Optuna how the trial goes."""
        return Pruning(self._asked)

    def learn(self, trial: Any) -> None:
        """Tell the study what became of the trial it was asked for."""
        if self._asked is None:
            return
        states = self._optuna.trial.TrialState
        if trial.state == "done":
            self.study.tell(self._asked, trial.value)
        else:
            self.study.tell(self._asked, state=states.PRUNED if trial.state == "pruned" else states.FAIL)

    def _distribution(self, part: Choices | Range) -> Any:
        kinds = self._optuna.distributions
        if isinstance(part, Choices):
            # by place: Optuna cannot hold measures, lists or functions
            return kinds.CategoricalDistribution(tuple(range(len(part.values))))
        if part.whole:
            return kinds.IntDistribution(int(part.low), int(part.high), log=part.log)
        return kinds.FloatDistribution(part.low, part.high, log=part.log)

    def _from_optuna(self, values: dict[str, Any]) -> dict[str, Any]:
        return {
            name: part.values[values[name]] if isinstance(part, Choices) else values[name]
            for name, part in self.space.parts.items()
        }

    def _from_record(self, written: dict[str, Any]) -> dict[str, Any]:
        """Settings of a journal, with the choices they stand for."""
        settings = dict(written)
        for name, part in self.space.parts.items():
            if isinstance(part, Choices):
                wanted = key_of({name: written[name]})
                settings[name] = next(value for value in part.values if key_of({name: value}) == wanted)
        return settings

    def _to_optuna(self, settings: dict[str, Any]) -> dict[str, Any]:
        result = {}
        for name, part in self.space.parts.items():
            if isinstance(part, Choices):
                keys = [key_of({name: value}) for value in part.values]
                result[name] = keys.index(key_of({name: settings[name]}))
            else:
                result[name] = settings[name]
        return result


class Pruning:
    """A callback of ``fit`` that ends a trial which Optuna gives no chance."""

    def __init__(self, trial: Any) -> None:
        self.trial = trial
        self.pruned = False

    def __call__(self, iteration: Iteration) -> None:
        self.trial.report(iteration.values["validation"], iteration.number)
        if self.trial.should_prune():
            self.pruned = True
            iteration.stop()
