"""RankNet: nets on pairs of documents, from grades or from preferences."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from rankforce.data.dataset import MAIN_LABEL, Dataset
from rankforce.data.preferences import Preferences
from rankforce.errors import SettingsError
from rankforce.forces.forces import TermForces
from rankforce.kernels.nets.network import ranknet_costs
from rankforce.kinds import Whole
from rankforce.lambdas.every_pair import EveryPair
from rankforce.lambdas.ranknet import RankNetCost
from rankforce.measures.measure import Measure
from rankforce.models.net import MOST_HIDDEN
from rankforce.nets.course import NetTraining
from rankforce.nets.net_ranker import NetRanker
from rankforce.nets.runs import Cost
from rankforce.nets.updates import Source
from rankforce.objectives.objective import ALL_PAIRS, Objective, Pairs, Term
from rankforce.remedies import NAME_ALONE, Setting
from rankforce.threads import over_queries
from rankforce.training.inputs import as_dataset, with_features
from rankforce.training.long_lists import warn_of_many_pairs
from rankforce.training.monitoring import Callback, Instrument, Watched, WatchedMeasure, checked_instruments
from rankforce.training.preference_inputs import PreferenceInputs
from rankforce.training.settings import PAIRS, checked, label_source, measure_to_watch, setting, switch, with_settings
from rankforce.training.usual_measure import fitting_measure, usual_measure


@with_settings
class RankNet(NetRanker):
    """A net of one or two layers that learns which of two documents belongs above the other.

    P(i above j) = 1/(1 + e^{−σ(s_i − s_j)}); the cost of a pair is the cross entropy to the target P̄, its force
    σ(P̄ − P). All pairs of different grades count alike, with P̄ = 1; or listed preferences, each with its P̄.

    Parameters
    ----------
    hidden : int
        Hidden units (tanh); 0 is a linear score.
    label : str
        The label source whose grades make pairs.
    equal_grades : bool
        Also learn that documents of equal grade belong together: pairs with P̄ = ½. The pairs are listed in memory.
    pairs : "all", ("top", k) or ("sample", m)
        Which pairs of different grades exert forces; the last two are for very long lists: more than 100 million
        pairs of a query are warned of, and preferences that replace the grades leave none to choose from.
    validation_measure : str or Measure, optional
        The ranking measure that is watched; default NDCG of the label, or what fits the labels better, as for
        ``MART``.
    preset : "2006" or "2009", optional
        As for ``LambdaRank``; what they watch in training is the cost Σ log(1 + e^{−σ·gap}).
    epochs, learning_rate, optimiser, update, scaling, sigma, base_model, early_stopping, keep_weights, seed, threads,
    progress
        As for ``LambdaRank``.

    With validation data the weights of the epoch with the highest value are kept (``best_iteration_``).
    """

    hidden: int = dataclasses.field(default=10, kw_only=False, metadata=checked(Whole(0, MOST_HIDDEN)))
    label: str = label_source(MAIN_LABEL, after="sigma")
    equal_grades: bool = switch(False)
    pairs: Any = setting("all", PAIRS)
    validation_measure: str | Measure | None = measure_to_watch(after="early_stopping")

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
        preferences: Preferences | None = None,
        preference_share: float = 1.0,
        instruments: Sequence[Instrument] = (),
        callbacks: Sequence[Callback] = (),
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 50,
        resume: str = "auto",
    ) -> Self:
        """Learn from a Dataset, or from X, y and qid (or group); from its grades, or from preferences.

        ``preferences`` of this data set replace its grades; a ``preference_share`` p below 1 mixes: p × their forces +
        (1 − p) × those of the grades. Data without the labels of the watched measure is watched by the share of
        preferences that the ranking agrees with; so is ``validation``, if it is a Preferences object itself.

        ``validation`` (a Dataset, Preferences, or a tuple (X, y, qid)) chooses the epoch that is kept, and the
        learning rate; ``instruments``, ``callbacks``, Ctrl-C, ``checkpoint``, ``checkpoint_every`` and ``resume`` as
        for ``LambdaRank``.
        """
        data = with_features(as_dataset(X, y, qid, group=group, weights=weights, query_weights=query_weights))
        instruments = checked_instruments(instruments)
        inputs = PreferenceInputs.of(data, preferences, preference_share, validation)
        inputs.check_pairs(self.pairs)

        measure = self._watched_on(data, inputs.held_out)

        def watch(watched: Dataset) -> Watched:
            return inputs.watched(watched, measure) or WatchedMeasure(watched, measure)

        objective = f"RankNet (sigma={self.sigma:g})"
        if preferences is not None:
            if self.equal_grades:
                raise SettingsError(
                    Setting("equal_grades", NAME_ALONE), " makes pairs of grades: leave it out with preferences"
                )
            objective += " on preferences"
            if preference_share < 1:
                objective += f" ({preference_share:g}) and grades ({1 - preference_share:g})"
        elif self.equal_grades:
            if Pairs.read(self.pairs) != ALL_PAIRS:
                raise SettingsError(
                    Setting("equal_grades", NAME_ALONE),
                    " takes every pair of a query: leave it out, or leave ",
                    Setting("pairs", NAME_ALONE),
                    " out",
                )
            preferences = Preferences.from_grades(data, self.label, ties=True)
            objective += ", equal grades as ½"
        elif Pairs.read(self.pairs) == ALL_PAIRS and self.label in data.labels:
            warn_of_many_pairs(data, self.label)
        pairs = Objective((self._term(),))
        source = Source(pairs, self.seed, preferences, preference_share, self.sigma)
        training = NetTraining(
            data=data,
            held_out=inputs.held_out,
            watch=watch,
            objective=objective,
            inputs=inputs.written(),
            remarks=self._remarks_on(measure),
            source=source,
            instruments=instruments,
        )
        return self._fit(training, callbacks, checkpoint, checkpoint_every, resume)

    def _term(self) -> Term:
        every = EveryPair(label=self.label, judged_only=False)
        return Term(every, RankNetCost(self.sigma), pairs=Pairs.read(self.pairs))

    def _watched_measure(self) -> Measure:
        return usual_measure(self.validation_measure, self.label)

    def _watched_on(self, data: Dataset, held_out: Dataset | None) -> Measure:
        return fitting_measure(self.validation_measure, self.label, data, held_out)

    def _training_cost(self, source: Source, data: Dataset) -> Cost:
        parts: list[tuple[float, Cost]] = []
        if source.preferences is not None:
            parts.append((source.share, _preference_cost(source.preferences, self.sigma)))
        if source.preferences is None or source.share < 1:
            share = 1.0 if source.preferences is None else 1.0 - source.share
            parts.append((share, pair_cost(data, self._term(), self.seed)))

        def cost(scores: np.ndarray, order: np.ndarray) -> float:
            return math.fsum(share * part(scores, order) for share, part in parts)

        return cost


def pair_cost(data: Dataset, term: Term, seed: int) -> Cost:
    """Σ log(1 + e^{−σ·gap}) over all pairs of different grades, weighted."""
    pulling = TermForces(data, term, seed)
    ranges, starts = pulling.ranges, pulling.judged.starts
    assert isinstance(term.lambda_function, RankNetCost)
    sigma = term.lambda_function.sigma

    def cost(scores: np.ndarray, order: np.ndarray) -> float:
        costs = np.empty(data.n_queries)
        over_queries(
            starts,
            lambda a, b: ranknet_costs(
                scores, ranges.members, ranges.worse, starts, pulling.document_weights, sigma, a, b, costs
            ),
        )
        return math.fsum(costs * pulling.query_weights)

    return cost


def _preference_cost(preferences: Preferences, sigma: float) -> Cost:
    """Σ w·(−P̄σ·gap + log(1 + e^{σ·gap})) over the listed pairs."""
    listed, data = preferences.listed, preferences.data
    weight = listed.weight
    if data.query_weights is not None:
        weight = weight * np.repeat(data.query_weights, np.diff(listed.starts))
    if data.weights is not None:
        of_documents = data.by_query(data.weights)
        weight = weight * of_documents[listed.better] * of_documents[listed.worse]

    def cost(scores: np.ndarray, order: np.ndarray) -> float:
        x = sigma * (scores[listed.better] - scores[listed.worse])
        return math.fsum(weight * (np.logaddexp(0.0, x) - listed.probability * x))

    return cost
