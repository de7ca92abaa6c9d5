"""LambdaRank: nets on the forces of any ranking measure."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.forces.forces import TermForces
from rankforce.lambdas.base import LambdaFunction
from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs
from rankforce.measures.cndcg import CNDCG
from rankforce.measures.measure import Measure
from rankforce.measures.ndcg import NDCG
from rankforce.models.net import Net
from rankforce.nets.course import NetTraining
from rankforce.nets.net_ranker import NetRanker
from rankforce.nets.runs import Cost, Run
from rankforce.nets.updates import Source
from rankforce.training.inputs import as_dataset, as_validation, with_features
from rankforce.training.maximising import TIERS, Maximising
from rankforce.training.monitoring import Callback, Instrument, WatchedMeasure, checked_instruments
from rankforce.training.settings import LAMBDA_FUNCTION, MEASURE, OBJECTIVE, PAIRS, checked, setting, with_settings


@with_settings
class LambdaRank(Maximising, NetRanker):
    """A net of one or two layers for any ranking measure.

    A pair i ▷ j pulls its documents apart with σρ|ΔZ|, where ΔZ is the change of the measure if they swapped ranks and
    ρ = 1/(1 + e^{σ(s_i − s_j)}). The forces on each document are summed, and the weights move to give way to them.

    Parameters
    ----------
    measure : str or Measure
        What to maximise: ``"NDCG"``, ``"NDCG@10"``, ``"MAP"``, ``"ERR@10"``, or a measure of your own.
    hidden : int
        Hidden units (tanh); 0 is a linear score.
    epochs : int, optional
        Passes over the training queries; default 100, or what the preset says.
    learning_rate : float, list of floats, or "auto"; optional
        Default 0.003 for Adam, 0.001 for gradient steps. Of several rates, each is tried and the one with the best
        validation value is kept (``learning_rate_``; ``rates_`` has all values); ``"auto"`` tries 0.0003, 0.001, 0.003
        and 0.01 (gradient: 10⁻⁵ … 10⁻²).
    optimiser : "adam" or "gradient", optional
        Adam's steps (the default, whatever the size of the forces), or learning rate × gradient.
    update : "query", "pair" or "batch"
        When weights change: after every query, in an order drawn anew for each epoch; after every pair; or once per
        epoch, on the mean gradient of all queries.
    scaling : "auto", "standard", "log1p", "query" or "none"
        How features become inputs: see ``docs/nets.md``. ``"auto"`` takes log1p if a feature has a heavy tail (a value
        more than 20 standard deviations from its mean or, with fewer than 2,000 documents, more than 100 interquartile
        ranges from its median), else standard, and says so (``scaling_``).
    preset : "2006" or "2009", optional
        Training as in two papers; needs validation data. By gradient steps; "2006": 300 epochs, rates 10⁻⁷ … 10⁻²,
        × 0.8 whenever NDCG@10 falls on the training data, whatever is trained for, anew from random weights after 50
        epochs without a new best; "2009": 700 epochs, rates 10⁻⁷ … 10⁻³, × 0.8 with probability 0.3 if the trained
        measure falls there, anew if the validation measure stays the same over 50 epochs. ``epochs``,
        ``learning_rate`` and ``optimiser`` override.
    sigma : float
        Steepness of the logistic cost.
    pairs : "all", ("top", k) or ("sample", m)
        Which pairs exert forces; the last two are for very long lists: more than 100 million pairs of a query are
        warned of.
    lambda_function : str or LambdaFunction, optional
        Another λ-function in place of ``RankNetWeightPairs(sigma)``.
    objective : Graded, Scheduled, Term or a list of terms, optional
        Several measures, label sources or λ-functions in place of ``measure``; a schedule counts epochs. Terms that
        name no λ-function or no pairs of their own take those of ``lambda_function``, ``sigma`` and ``pairs``.
    base_model : Net, ranker or Path, optional
        A net to go on from: its weights and its scaling.
    early_stopping : int, optional
        Stop after so many epochs without a higher validation value.
    validation_measure : str, Measure, list of them or Graded, optional
        What the history, early stopping and the choice of epoch and learning rate watch; default: what is maximised. Of
        several the first may be at most one standard error of the paired difference below its best so far, and then the
        next decides.
    keep_weights : bool
        Keep the weights after every epoch in ``weights_``, a list; ``model_.with_weights(weights_[4])`` is a model.
    seed, threads, progress
        The model depends on the data and the seed, not on the threads. Several learning rates are tried in parallel.

    With validation data the weights of the epoch with the highest value are kept (``best_iteration_``).
    """

    measure: str | Measure = dataclasses.field(default="NDCG", kw_only=False, metadata=checked(MEASURE))
    pairs: Any = setting("all", PAIRS, after="sigma")
    lambda_function: str | LambdaFunction | None = setting(None, LAMBDA_FUNCTION)
    objective: Any = setting(None, OBJECTIVE)
    validation_measure: Any = setting(None, TIERS, after="early_stopping")

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
        instruments: Sequence[Instrument] = (),
        callbacks: Sequence[Callback] = (),
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 50,
        resume: str = "auto",
    ) -> Self:
        """Learn from a Dataset, or from X, y and qid (or group).

        ``validation`` (a Dataset or a tuple (X, y, qid)) chooses the epoch that is kept, and the learning rate.
        ``instruments`` (``ForceAgreement``, ``ContributionsByGrade``, ``GradesInTop``, ``RankChanges`` of
        ``rf.diagnostics``) look at the training before every epoch and hold a table afterwards; they need a single
        learning rate. ``callbacks`` are called after every epoch with an ``Iteration`` (of several learning rates: of
        the one that leads). Ctrl-C stops after the current epoch and keeps what was learned. ``checkpoint`` is a path
        that what was learned is written to after every ``checkpoint_every`` epochs and that a later call goes on from,
        to the same bytes (``resume``: ``"auto"``, ``"never"``, ``"always"``).
        """
        data = with_features(as_dataset(X, y, qid, group=group, weights=weights, query_weights=query_weights))
        instruments = checked_instruments(instruments)
        held_out = as_validation(validation, data)
        objective, search = self._searched(self._objective(), data, held_out, checkpoint)
        training = NetTraining(
            data=data,
            held_out=held_out,
            watch=functools.partial(self._watched, objective, held_out),
            objective=str(objective),
            inputs=search,
            source=Source(objective, self.seed),
            instruments=instruments,
        )
        return self._fit(training, callbacks, checkpoint, checkpoint_every, resume)

    def _own_lambda_function(self) -> LambdaFunction:
        return RankNetWeightPairs(self.sigma)

    def _iterations(self) -> int:
        return self._epochs()

    def _runs(self, training: NetTraining, blank: Net) -> list[Run]:
        runs = super()._runs(training, blank)
        terms = training.source.objective.terms
        self._count_left_out(training.data, [TermForces(training.data, term, self.seed) for term in terms])
        return runs

    def _training_cost(self, source: Source, data: Dataset) -> Cost:
        preset = self._preset()
        assert preset is not None
        watched = WatchedMeasure(data, _watched_in_training(source.objective.main_measure, preset.cost_cutoff))

        def cost(scores: np.ndarray, order: np.ndarray) -> float:
            return -watched.mean(order)

        return cost


def _watched_in_training(trained: Measure, cutoff: int | None) -> Measure:
    """The measure of the training cost: the trained one, or NDCG at a cut-off, on the same labels.

    Gains and discounts are those of the trained measure, where it has any.
    """
    if cutoff is None:
        return trained
    if isinstance(trained, CNDCG):
        return dataclasses.replace(trained, cutoff=cutoff)
    alike: dict[str, Any] = {"label": trained.label, "judged_only": trained.judged_only}
    if isinstance(trained, NDCG):
        alike |= {"gain": trained.gain, "discount": trained.discount}
    return NDCG(cutoff, **alike)
