"""What RankNet and LambdaRank share: the settings of nets, and how their training begins and ends."""

from __future__ import annotations

import abc
import dataclasses
from typing import Any, ClassVar, Literal

import numpy as np

from rankforce import dtypes
from rankforce.boosting.finite_forces import check_finite
from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError, warn
from rankforce.forces.forces import RunningOrder
from rankforce.forces.trained_forces import TrainedForces
from rankforce.kinds import Understood
from rankforce.models.net import MOST_HIDDEN, Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.nets.course import NetCourse, NetTraining
from rankforce.nets.rate_schedule import PRESETS, Preset
from rankforce.nets.runs import Cost, Plan, Run, Scored
from rankforce.nets.updates import Source, Updates, updates_of
from rankforce.objectives.objective import ALL_PAIRS, DEFAULT_LAMBDA_FUNCTION
from rankforce.remedies import NAME_ALONE, Setting, ValidationData
from rankforce.training.base_models import base_of, checked_base
from rankforce.training.iterative import Iterative
from rankforce.training.monitoring import TrainingWarning, show_forces
from rankforce.training.refitting import unrepeatable
from rankforce.training.settings import choice, rates, setting, steepness, switch, whole, with_settings

EPOCHS = 100
RATE = {"adam": 0.003, "gradient": 0.001}
RATES_TRIED = {"adam": (0.0003, 0.001, 0.003, 0.01), "gradient": (1e-5, 1e-4, 1e-3, 1e-2)}


@with_settings
class NetRanker(Iterative):
    """Base of RankNet and LambdaRank: a subclass says what pulls at the documents."""

    WHY_ALONE: ClassVar[str] = "a net changes after a query, and the next query sees the change"

    hidden: int = whole(10, least=0, most=MOST_HIDDEN)
    epochs: int | None = whole(None, least=1)
    learning_rate: Any = rates(None)
    optimiser: Literal["adam", "gradient"] | None = choice(None)
    update: Literal["query", "pair", "batch"] = choice("query")
    scaling: Literal["auto", "standard", "log1p", "query", "none"] = choice("auto")
    preset: Literal["2006", "2009"] | None = choice(None)
    sigma: float = steepness(1.0)
    base_model: Any = setting(None, Understood(checked_base))
    keep_weights: bool = switch(False, after="early_stopping")

    model_: Net = dataclasses.field(init=False)

    def _steps_name(self) -> str:
        return "epochs"

    def _steps(self) -> int:
        return self._epochs()

    def _found_on_validation(self) -> dict[str, Any]:
        if self.preset is not None:
            raise unrepeatable(Setting("preset", self.preset), "the learning rate follows it")
        return super()._found_on_validation() | {"learning_rate": self.learning_rate_, "scaling": self.scaling_}

    def _course(self, training: NetTraining) -> NetCourse:
        data = training.data
        if training.instruments and len(self._rates()) > 1:
            raise SettingsError("instruments look into one training, not into several: give a single learning_rate")
        base = self._base(data)
        scaling, reason = self._scaling(data, base)
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
        settled = {"scaling": scaling.kind, **self._settled_updates(), "watched": str(runs[0].monitor.measure)}
        remarks = training.remarks + ((f"scaling='{scaling.kind}' ({reason})",) if reason else ())
        return NetCourse(blank, runs, self._epochs(), training.instruments, settled, remarks)

    def _runs(self, training: NetTraining, blank: Net) -> list[Run]:
        """One training for every learning rate to be tried."""
        data, held_out, preset = training.data, training.held_out, self._preset()
        inputs = blank.scaling.of_data(data)
        if not inputs.any():
            warn(
                f"no feature varies{' within a query' if blank.scaling.by_query else ''}: all documents of the "
                f"{data.n_queries} training queries look alike to the net, and get the same score",
                TrainingWarning,
            )
        held_out_inputs = None if held_out is None else blank.scaling.of_data(held_out)
        plan = Plan(
            layout=blank.layout,
            updates=self._updates(data, inputs, blank, training.source),
            start=np.array(blank.weights),
            preset=preset,
            cost=None if preset is None else self._training_cost(training.source, data),
            patience=self.early_stopping,
            keep_weights=self.keep_weights,
            seed=self.seed,
        )

        def scored(data: Dataset, inputs: np.ndarray) -> Scored:
            return Scored(data, inputs, blank.layout, training.watch(data), self.seed)

        return [
            Run(
                plan,
                rate,
                scored(data, inputs),
                None if held_out is None or held_out_inputs is None else scored(held_out, held_out_inputs),
            )
            for rate in self._rates()
        ]

    def _updates(self, data: Dataset, inputs: np.ndarray, blank: Net, source: Source) -> Updates:
        """What an epoch does to the weights; ``blank`` is the net with the first ones."""
        return updates_of(self.update, data, inputs, blank.layout, source, adam=self._optimiser() == "adam")

    def _conclude(self, training: NetTraining, course: NetCourse) -> None:
        best, runs = course.best, course.runs
        for run in runs:
            if run.diverged and (run is best or len(runs) == 1):
                self._explain_divergence(run, training, course.blank)
        self.learning_rate_ = best.rate
        self.rates_ = {run.rate: run.monitor.watch.best_value for run in runs} if training.held_out is not None else {}
        self.scaling_ = course.blank.scaling.kind
        self.restarts_ = best.restarts
        if self.keep_weights:
            self.weights_ = best.kept
        super()._conclude(training, course)

    def _chosen_settings(self, course: NetCourse) -> dict[str, Any]:
        return self.trained_forces_.setting() | {
            "scaling_chosen": self.scaling_,
            "learning_rate_chosen": self.learning_rate_,
        }

    def _explain_divergence(self, run: Run, training: NetTraining, blank: Net) -> None:
        told: list[Any] = [
            "the weights grew without bound at ",
            Setting("learning_rate", run.rate),
            ": use a lower one",
        ]
        if self.scaling == "none":
            told += [", or ", Setting("scaling", "auto")]
        if not run.monitor.history:
            self._check_first_forces(training, blank)
            raise SettingsError(
                *told,
                f". If the measure or λ-function of {training.objective} is your own, it must give finite numbers; ",
                Setting("sigma", self.sigma),
                " and the weights of the data must not be too large, either",
            )
        told.append(f". Training ended after epoch {len(run.monitor.history['train'])}")
        warn(TrainingWarning(*told))

    def _check_first_forces(self, training: NetTraining, blank: Net) -> None:
        """Refuse forces that are no numbers at the scores of the first weights: no learning rate helps."""
        data, source = training.data, training.source
        scores = np.ascontiguousarray(data.by_query(blank.predict(data)), dtype=dtypes.SCORE)
        order = RunningOrder(data, self.seed).of(scores)
        forces, curvatures = source.forces(data, source.preferences).at(scores, order)
        check_finite(self, str(training.objective), data, forces, curvatures, "before the first epoch")

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

    def _settled_updates(self) -> dict[str, Any]:
        """What settings of the updates that were left open became."""
        return {
            "optimiser": self._optimiser(),
            "epochs": self._epochs(),
            "learning_rate": self._rates()[0] if len(self._rates()) == 1 else list(self._rates()),
            "lambda_function": str(self.trained_forces_.lambda_function),
        }

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

    def _scaling(self, data: Dataset, base: Net | None) -> tuple[Scaling, str]:
        """The scaling, and why it was chosen; "" if it was given."""
        if base is not None:
            return base.scaling, ""
        if self.scaling != "auto":
            return Scaling.of(data, self.scaling), ""
        return Scaling.chosen(data)

    def _check_settings(self, data: Dataset, held_out: Dataset | None) -> None:
        super()._check_settings(data, held_out)
        if held_out is None:
            needs: dict[Any, bool] = {
                Setting("preset", self.preset): self.preset is not None,
                "a choice of learning rates": len(self._rates()) > 1,
            }
            for name, needed in needs.items():
                if needed:
                    raise SettingsError(name, " needs validation data: ", ValidationData())
