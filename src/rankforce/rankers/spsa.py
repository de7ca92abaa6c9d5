"""SPSA: nets trained on the measure itself, by values of it alone."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError
from rankforce.forces.trained_forces import ASSUMED, TrainedForces
from rankforce.lambdas.every_pair import EveryPair
from rankforce.lambdas.ranknet import RankNetCost
from rankforce.measures.catalogue import measure
from rankforce.measures.judged import judged
from rankforce.measures.measure import Measure
from rankforce.models.net import MOST_HIDDEN, Net
from rankforce.nets.course import NetTraining
from rankforce.nets.net_ranker import NetRanker
from rankforce.nets.runs import Cost, Scored
from rankforce.nets.updates import Learning, Source, Updates
from rankforce.objectives.objective import ALL_PAIRS, Objective, Term
from rankforce.optimising.differences import differences
from rankforce.optimising.perturbations import perturbed, signs
from rankforce.optimising.stochastic_approximation import STABILITY, Function, Gains, Slope, first_gain
from rankforce.rankers.ranknet import pair_cost
from rankforce.remedies import Setting
from rankforce.training.checkpoint import ALL_STEPS
from rankforce.training.inputs import as_dataset, as_validation, with_features
from rankforce.training.monitoring import Callback, WatchedMeasure
from rankforce.training.settings import MEASURE, checked, choice, measure_to_watch, number, rates, whole, with_settings

FIRST_MOVES = (0.003, 0.01, 0.03, 0.1)


@with_settings
class SPSA(NetRanker):
    """A net of one or two layers that climbs any measure directly, without forces or gradients.

    Each step takes two values of the measure on all training queries, at w ± c_kΔ with random signs Δ, and moves the
    weights by a_k times the slope between them (Spall's simultaneous perturbation; see ``rf.optimising.spsa``). It
    knows nothing of pairs, so that it optimises whatever can be computed; and for the same reason it learns far more
    slowly than LambdaRank, and is for nets with few weights.

    Parameters
    ----------
    measure : str or Measure
        What to maximise.
    hidden : int
        Hidden units (tanh); 0 (default) is a linear score.
    epochs : int
    steps : int
        Steps per epoch: epochs × steps in all, over which Spall's sequences fall. The measures of the history are
        taken after each epoch.
    learning_rate : float, list of floats, or "auto"
        How far the first steps move a weight in the mean; Spall's constant a follows from it and from ten estimates of
        the first slope. Of several, the one with the best validation value is kept (``learning_rate_``); ``"auto"``
        tries 0.003, 0.01, 0.03 and 0.1.
    distance : float
        Spall's constant c: how far from the weights the measure is looked at. Too small, and no ranking changes.
    target : "measure" or "cross_entropy"
        ``"cross_entropy"`` lowers RankNet's cost instead, the sum of log(1 + e^{−gap}) over all pairs of different
        grades, which RankNet lowers by its gradient. The measure is then only watched.
    slope : "perturbation" or "differences"
        ``"differences"`` estimates the slope by central differences, weight by weight: 2d values for d weights in place
        of two, without chance.
    scaling : "auto", "standard", "log1p", "query" or "none"
        How features become inputs, as for LambdaRank.
    base_model : Net, ranker or Path, optional
        A net to go on from.
    early_stopping : int, optional
        Stop after so many epochs without a higher validation value.
    validation_measure : str or Measure, optional
        What is watched; default: what is maximised.
    keep_weights : bool
        Keep the weights after every epoch in ``weights_``.
    seed, threads, progress
        The model depends on the data and the seed, not on the threads.

    With validation data the weights of the epoch with the highest value are kept (``best_iteration_``).
    """

    WHY_ALONE: ClassVar[str] = "each of its steps measures all queries at the same weights"

    measure: str | Measure = dataclasses.field(default="NDCG", kw_only=False, metadata=checked(MEASURE))
    hidden: int = whole(0, least=0, most=MOST_HIDDEN)
    epochs: int = whole(100, least=1)
    steps: int = whole(10, least=1, after="epochs")
    learning_rate: Any = rates(0.03)
    distance: float = number(0.1, above=0.0, after="learning_rate")
    target: Literal["measure", "cross_entropy"] = choice("measure", after="distance")
    slope: Literal["perturbation", "differences"] = choice("perturbation", after="target")
    validation_measure: str | Measure | None = measure_to_watch(after="early_stopping")

    # what other nets can be told, and this one has no use for
    optimiser: Literal["adam", "gradient"] | None = dataclasses.field(default=None, init=False)
    update: Literal["query", "pair", "batch"] = dataclasses.field(default="batch", init=False)
    preset: Literal["2006", "2009"] | None = dataclasses.field(default=None, init=False)
    sigma: float = dataclasses.field(default=1.0, init=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        *,
        group: Any = None,
        validation: Any = None,
        query_weights: Any = None,
        callbacks: Sequence[Callback] = (),
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 50,
        resume: str = "auto",
    ) -> Self:
        """Learn from a Dataset, or from X, y and qid (or group). Arguments as in ``LambdaRank.fit``.

        Query weights count; weights of documents do not, as no measure knows them.
        """
        data = with_features(as_dataset(X, y, qid, group=group, query_weights=query_weights))
        watched = self._watched_measure()
        maximised = measure(self.measure)
        training = NetTraining(
            data=data,
            held_out=as_validation(validation, data),
            watch=lambda data: WatchedMeasure(data, watched),
            objective=str(maximised) if self.target == "measure" else "cross entropy",
            # The sequences depend on the number of all steps: nobody goes on with more.
            inputs={ALL_STEPS: self._epochs() * self.steps},
            source=Source(Objective((Term(maximised),)), self.seed),
        )
        return self._fit(training, callbacks, checkpoint, checkpoint_every, resume)

    def _updates(self, data: Dataset, inputs: np.ndarray, blank: Net, source: Source) -> Updates:
        total = self._epochs() * self.steps
        cost = None
        if self.target == "cross_entropy":
            every = EveryPair(label=source.objective.main_measure.label, judged_only=False)
            cost = pair_cost(data, Term(every, RankNetCost(), pairs=ALL_PAIRS), self.seed)
        by_differences = self.slope == "differences"
        return SimultaneousPerturbation(
            data, inputs, blank, source, total, self.steps, self.distance, cost=cost, by_differences=by_differences
        )

    def _rates(self) -> tuple[float, ...]:
        return FIRST_MOVES if isinstance(self.learning_rate, str) else super()._rates()

    def _settled_updates(self) -> dict[str, Any]:
        unknown = ("optimiser", "lambda_function")  # to SPSA
        return {name: value for name, value in super()._settled_updates().items() if name not in unknown}

    def _trained(self, source: Source) -> TrainedForces:
        return ASSUMED  # nothing pulls: it looks at the measure itself

    def _watched_measure(self) -> Measure:
        return measure(self.measure if self.validation_measure is None else self.validation_measure)

    def _training_cost(self, source: Source, data: Dataset) -> Cost:
        raise AssertionError("presets are not for SPSA")


class SimultaneousPerturbation(Updates):
    """Some steps of SPSA. All that a step depends on is its number and the weights: it can go on from any epoch."""

    def __init__(
        self,
        data: Dataset,
        inputs: np.ndarray,
        blank: Net,
        source: Source,
        total: int,
        steps: int,
        distance: float,
        *,
        cost: Cost | None = None,
        by_differences: bool = False,
    ) -> None:
        super().__init__(data, inputs, blank.layout, source, adam=False)
        self.steps = steps
        self.cost = cost
        self.by_differences = by_differences
        self._measured = threading.local()  # scores and ranking: each training that runs beside others has its own
        stability = STABILITY * total
        self._check_orders_matter()
        try:
            a = first_gain(self._slope, self.value, blank.weights, distance, stability, 1.0)
        except SettingsError:
            raise SettingsError(
                f"{source.objective.main_measure} is the same everywhere at ",
                Setting("distance", distance),
                " of the first weights: give a larger one, if the features are not constant",
            ) from None
        self.gains = Gains(a, distance, stability)  # for first moves of 1; those of a training are its learning rate

    def _check_orders_matter(self) -> None:
        applied = judged(self.data, self.source.objective.main_measure)
        order, starts = applied.source.ideal_order(applied.worth), applied.starts
        ranked = applied.worth[order]
        falls = np.flatnonzero(ranked[1:] != ranked[:-1]) + 1
        if np.isin(falls, starts).all():
            raise DataError(
                "nothing to learn from: no query has two documents with different labels that matter to "
                f"{applied.measure} ({applied.measure.label})"
            )

    @property
    def n_pairs(self) -> int:
        return 0

    def value(self, weights: np.ndarray) -> float:
        """What is climbed, on all training queries: the measure, or minus the cost."""
        if not hasattr(self._measured, "scored"):
            watched = WatchedMeasure(self.data, self.source.objective.main_measure)
            self._measured.scored = Scored(self.data, self.inputs, self.layout, watched, self.source.seed)
        scored: Scored = self._measured.scored
        scored.score(weights)
        return scored.value() if self.cost is None else -self.cost(scored.scores, scored.order)

    def epoch(self, learning: Learning, rate: float, number: int) -> None:
        for k in range(number * self.steps + 1, (number + 1) * self.steps + 1):
            slope = self._slope(self.value, learning.weights, self.gains.distance(k), k)
            learning.weights += rate * self.gains.rate(k) * slope.gradient

    def _slope(self, function: Function, weights: np.ndarray, distance: float, step: int) -> Slope:
        if self.by_differences:
            return differences(function, weights, distance)
        return perturbed(function, weights, distance, signs(len(weights), step, self.source.seed))
