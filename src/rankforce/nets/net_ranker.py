"""What RankNet and LambdaRank share: settings of nets, and the loop over epochs."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rankforce.console.interruption import Interruption
from rankforce.console.progress import Progress
from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError, warn
from rankforce.forces.trained_forces import TrainedForces
from rankforce.models.net import MOST_HIDDEN, Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.models.provenance import Provenance
from rankforce.nets.rate_schedule import PRESETS, Preset
from rankforce.nets.runs import Cost, Plan, Run, Scored, leading
from rankforce.nets.updates import Source, Updates, updates_of
from rankforce.objectives.objective import ALL_PAIRS, DEFAULT_LAMBDA_FUNCTION
from rankforce.remedies import NAME_ALONE, Argument, Setting, ValidationData
from rankforce.threads import over_pieces
from rankforce.training.base_models import base_of
from rankforce.training.checkpoint import Checkpoint
from rankforce.training.monitoring import (
    TIES,
    Callback,
    Instrument,
    Iteration,
    TrainingWarning,
    Watched,
    in_words,
    show_forces,
)
from rankforce.training.resumable import Resumable
from rankforce.training.settings import choice, rates, steepness, switch, whole, with_settings

EPOCHS = 100
RATE = {"adam": 0.003, "gradient": 0.001}
RATES_TRIED = {"adam": (0.0003, 0.001, 0.003, 0.01), "gradient": (1e-5, 1e-4, 1e-3, 1e-2)}


@dataclasses.dataclass(frozen=True)
class Training:
    """What one call of ``fit`` learns from and watches."""

    data: Dataset
    held_out: Dataset | None
    source: Source
    watch: Callable[[Dataset], Watched]
    objective: str  # in words
    inputs: dict[str, Any] = dataclasses.field(default_factory=dict)  # beside settings and data, as files keep them
    instruments: Sequence[Instrument] = ()


@with_settings
class NetRanker(Resumable):
    """Base of RankNet and LambdaRank: a subclass says what pulls at the documents."""

    hidden: int = whole(10, least=0, most=MOST_HIDDEN)
    epochs: int | None = whole(None, least=1)
    learning_rate: Any = rates(None)
    optimiser: Literal["adam", "gradient"] | None = choice(None)
    update: Literal["query", "pair", "batch"] = choice("query")
    scaling: Literal["auto", "standard", "log1p", "query", "none"] = choice("auto")
    preset: Literal["2006", "2009"] | None = choice(None)
    sigma: float = steepness(1.0)
    keep_weights: bool = switch(False, after="early_stopping")

    settled_: dict[str, Any] = dataclasses.field(init=False)  # what "auto" and None became, and what is watched
    model_: Net = dataclasses.field(init=False)

    def _learn(self, training: Training, callbacks: Sequence[Callback], checkpoint: Checkpoint | None) -> None:
        data = training.data
        epochs = self._epochs()
        if training.instruments and len(self._rates()) > 1:
            raise SettingsError("instruments look into one training, not into several: give a single learning_rate")
        with Interruption() as interruption, Progress(type(self).__name__, epochs, "epochs", self.progress) as bar:
            base = self._base(data)
            scaling = self._scaling(data, base, bar)
            blank = Net(
                feature_names=data.feature_names,
                scaling=scaling,
                hidden=self.hidden,
                weights=Layout(data.n_features, self.hidden).start(self.seed) if base is None else base.weights,
                sigma=self.sigma,
            )
            runs = self._runs(training, blank)
            self.trained_forces_ = self._trained(training.source)
            show_forces(training.instruments, self.trained_forces_)
            bar.in_words = functools.partial(in_words, watched=runs[0].watched)
            self.settled_ = {
                "scaling": scaling.kind,
                "optimiser": self._optimiser(),
                "epochs": epochs,
                "learning_rate": self._rates()[0] if len(self._rates()) == 1 else list(self._rates()),
                "lambda_function": str(self.trained_forces_.lambda_function),
                "watched": str(runs[0].watched_measure),
            }
            bar.explain(self.settled_)
            done, stop = 0, False
            if checkpoint is not None and (last := checkpoint.last()) is not None:
                done = _resumed(last, runs, epochs, checkpoint.path)
            while done < epochs and not stop and not all(run.ended for run in runs):
                runs[0].train.show(training.instruments, runs[0].learning.weights, done)
                over_pieces(range(len(runs) + 1), lambda place, _: runs[place].epoch(done))  # noqa: B023
                done += 1
                best = leading(runs)
                if not best.history:
                    break
                told = Iteration(done, best.values, best.history, best.best_iteration)
                for callback in callbacks:
                    callback(told)
                bar.advance(done, best.values)
                stop = told.stopped or interruption.wanted
                ending = stop or done == epochs or all(run.ended for run in runs)
                if checkpoint is not None and (ending or done % checkpoint.every == 0):
                    state = {"epochs": done, "runs": [run.state() for run in runs]}
                    written = functools.partial(_net, blank, best)
                    checkpoint.write(best.history, best.watched, written, state)
        self._conclude(training, blank, runs)

    def _runs(self, training: Training, blank: Net) -> list[Run]:
        """One training for every learning rate to be tried."""
        data, held_out, layout = training.data, training.held_out, blank.layout
        inputs = blank.scaling.of_data(data)
        if not inputs.any():
            warn(
                f"no feature varies{' within a query' if blank.scaling.by_query else ''}: all documents of the "
                f"{data.n_queries} training queries look alike to the net, and get the same score",
                TrainingWarning,
            )
        held_out_inputs = None if held_out is None else blank.scaling.of_data(held_out)
        preset = self._preset()
        plan = Plan(
            layout=layout,
            updates=self._updates(data, inputs, blank, training.source),
            start=np.array(blank.weights),
            preset=preset,
            cost=None if preset is None else self._training_cost(training.source, data),
            patience=self.early_stopping,
            keep_weights=self.keep_weights,
            seed=self.seed,
        )
        runs = []
        for rate in self._rates():
            validating = None
            if held_out is not None:
                assert held_out_inputs is not None
                validating = Scored(held_out, held_out_inputs, layout, training.watch(held_out), self.seed)
            runs.append(Run(plan, rate, Scored(data, inputs, layout, training.watch(data), self.seed), validating))
        return runs

    def _updates(self, data: Dataset, inputs: np.ndarray, blank: Net, source: Source) -> Updates:
        """What an epoch does to the weights; ``blank`` is the net with the first ones."""
        return updates_of(self.update, data, inputs, blank.layout, source, adam=self._optimiser() == "adam")

    def _conclude(self, training: Training, blank: Net, runs: list[Run]) -> None:
        best = leading(runs)
        for run in runs:
            if run.diverged and (run is best or len(runs) == 1):
                self._explain_divergence(run, training.objective)
        self.history_ = best.history
        self.watched_measure_ = best.watched_measure
        self.best_iteration_ = best.best_iteration
        self.learning_rate_ = best.rate
        self.rates_ = {run.rate: run.watch.best_value for run in runs} if training.held_out is not None else {}
        self.scaling_ = blank.scaling.kind
        self.restarts_ = best.restarts
        if self.keep_weights:
            self.weights_ = best.kept
        provenance = Provenance.of_training(
            training.data,
            settings=self._settings()
            | training.inputs
            | self._notes()
            | self.trained_forces_.setting()
            | {"scaling_chosen": self.scaling_, "learning_rate_chosen": self.learning_rate_},
            objective=training.objective,
            history=best.history,
            watched=best.watched,
            ties=TIES,
            seed=self.seed,
        )
        self.model_ = _net(blank, best, provenance)

    def _explain_divergence(self, run: Run, objective: str | None) -> None:
        told: list[Any] = [
            "the weights grew without bound at ",
            Setting("learning_rate", run.rate),
            ": use a lower one",
        ]
        if self.scaling == "none":
            told += [", or ", Setting("scaling", "auto")]
        if not run.history:
            raise SettingsError(
                *told,
                f". If the measure or λ-function of {objective} is your own, it must give finite numbers; ",
                Setting("sigma", self.sigma),
                " and the weights of the data must not be too large, either",
            )
        told.append(f". Training ended after epoch {len(run.history['train'])}")
        warn(TrainingWarning(*told))

    def predict_pairs(self, X_a: Any, X_b: Any) -> np.ndarray:
        """P that each document of ``X_a`` belongs above the one of ``X_b`` in the same row (``Net.predict_pairs``)."""
        self._fitted()
        return self.model_.predict_pairs(X_a, X_b)

    # ---------------------------------------------------------------------------------------- what a subclass gives

    @abc.abstractmethod
    def _training_cost(self, source: Source, data: Dataset) -> Cost:
        """What presets watch on the training data: the lower the better."""

    def _trained(self, source: Source) -> TrainedForces:
        """What an epoch pulls with."""
        objective = source.objective if source.preferences is None or source.share < 1 else None
        first = source.objective.terms[0].settled(DEFAULT_LAMBDA_FUNCTION, ALL_PAIRS)
        assert first.lambda_function is not None
        assert first.pairs is not None
        return TrainedForces(
            objective, first.lambda_function, first.pairs, sigma=self.sigma, seed=self.seed, ranker=type(self).__name__
        )

    # --------------------------------------------------------------------------------------------- settings resolved

    def _preset(self) -> Preset | None:
        return None if self.preset is None else PRESETS[self.preset]

    def _epochs(self) -> int:
        preset = self._preset()
        return self.epochs or (EPOCHS if preset is None else preset.epochs)

    def _optimiser(self) -> str:
        return self.optimiser or ("adam" if self.preset is None else "gradient")

    def _rates(self) -> tuple[float, ...]:
        given, preset = self.learning_rate, self._preset()
        if (given is None or isinstance(given, str)) and preset is not None:
            return preset.rates
        if given is None:
            return (RATE[self._optimiser()],)
        if isinstance(given, str):
            return RATES_TRIED[self._optimiser()]
        return tuple(float(rate) for rate in given) if isinstance(given, (list, tuple, np.ndarray)) else (float(given),)

    def _base(self, data: Dataset) -> Net | None:
        base = base_of(self.base_model)
        if base is None:
            return None
        if not isinstance(base, Net):
            raise SettingsError(f"a net can only go on from a net: base_model cannot be {base!r}")
        if base.hidden != self.hidden:
            raise SettingsError(f"base_model has {base.hidden} hidden units: use ", Setting("hidden", base.hidden))
        if base.feature_names != data.feature_names:
            raise SettingsError("base_model was trained on other features, or on these in another order")
        if self.scaling not in ("auto", base.scaling.kind):
            raise SettingsError(
                f"base_model scales its features by {base.scaling.kind!r}: leave ",
                Setting("scaling", NAME_ALONE),
                " out",
            )
        return base

    def _scaling(self, data: Dataset, base: Net | None, bar: Progress) -> Scaling:
        if base is not None:
            return base.scaling
        if self.scaling != "auto":
            return Scaling.of(data, self.scaling)
        chosen, reason = Scaling.chosen(data)
        bar.say(f"scaling='{chosen.kind}' ({reason})")
        return chosen

    def _check_settings(self, data: Dataset, held_out: Dataset | None) -> None:
        if held_out is None:
            needs: dict[Any, bool] = {
                "early_stopping": self.early_stopping is not None,
                Setting("preset", self.preset): self.preset is not None,
                "a choice of learning rates": len(self._rates()) > 1,
            }
            for name, needed in needs.items():
                if needed:
                    raise SettingsError(name, " needs validation data: ", ValidationData())


def _net(blank: Net, run: Run, provenance: Provenance) -> Net:
    return dataclasses.replace(blank, weights=run.best_weights, provenance=provenance)


def _resumed(model: Any, runs: list[Run], epochs: int, path: Path) -> int:
    """Bring the trainings to the state of a checkpoint; returns how many epochs were done."""
    state = model.provenance.settings.get("state")
    if not isinstance(state, dict) or len(state.get("runs", ())) != len(runs):
        raise SettingsError(f"{path} is no checkpoint of this training: choose another path for it")
    done = int(state["epochs"])
    if done > epochs:
        raise SettingsError(
            f"{path}: the checkpoint is one of {done} epochs, and a net cannot go back to epoch {epochs}: "
            "give another path, or ",
            Argument("resume", "never"),
            " to begin anew",
        )
    for run, one in zip(runs, state["runs"], strict=True):
        run.resume(one, path)
    return done
