"""LambdaMART: boosted regression trees on the forces of LambdaRank."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from rankforce.boosting.boosted_trees import BoostedTrees
from rankforce.boosting.course import BoostedTraining
from rankforce.boosting.lambda_learner import LambdaLearner
from rankforce.boosting.leaf_counts import LeafCounts
from rankforce.boosting.outputs import Learner
from rankforce.boosting.presets import TREE_PRESETS, TreePreset
from rankforce.boosting.settled import SettledLambdas
from rankforce.data.dataset import Dataset
from rankforce.data.preferences import Preferences
from rankforce.data.spread import trained_where_data_is
from rankforce.errors import SettingsError
from rankforce.lambdas.base import LambdaFunction
from rankforce.lambdas.near_pairs import NearPairs
from rankforce.measures.measure import Measure
from rankforce.migration import lambdamart as lambdamart_migration
from rankforce.migration.migration import FromOtherLibraries
from rankforce.objectives.objective import Objective
from rankforce.remedies import Setting
from rankforce.training.inputs import as_dataset, with_features
from rankforce.training.maximising import TIERS, Maximising
from rankforce.training.members_alike import check_alike
from rankforce.training.monitoring import Callback, Instrument, checked_instruments
from rankforce.training.preference_inputs import PreferenceInputs
from rankforce.training.settings import (
    LAMBDA_FUNCTION,
    MEASURE,
    OBJECTIVE,
    PAIRS,
    checked,
    choice,
    number,
    setting,
    steepness,
    with_settings,
)

MAX_STEP = 10.0  # times σ, without a preset


@with_settings
class LambdaMART(FromOtherLibraries, Maximising, BoostedTrees):
    """Boosted trees for any ranking measure.

    Each tree is grown on the forces λ over the whole training set at the current scores: a pair i ▷ j pulls its
    documents apart with σρ|ΔZ|, where ΔZ is the change of the measure if they swapped ranks. By default the pull of a
    pair is divided by the distance of its scores (``NearPairs``) and that of a query is damped (``normalise``), which
    learns faster, and with few documents scores are tied to the grades (``anchor``); ``preset="2010"`` is LambdaMART as
    published.

    Parameters
    ----------
    measure : str or Measure
        What to maximise: ``"NDCG"``, ``"NDCG@10"``, ``"MAP"``, ``"ERR@10"``, or a measure of your own.
    n_trees, n_leaves, learning_rate, min_documents, max_depth, l2, min_gain
        Size and shape of the ensemble; ``min_documents`` is the least number of documents in a leaf, exactly;
        those of queries of weight 0 do not count.
        ``n_leaves`` is the most leaves of a tree: one number, a list with one per tree (the last one serves for all
        after it), or a function of the tree's number, from 0, which is asked once for each before training begins.
    preset : "2010" or "2011", optional
        As in two papers: the pull of a pair is σρ|ΔZ| (``RankNetWeightPairs(sigma)``), trees are leafwise, split by
        least squares, there is neither an anchor nor a bound of the step. "2010": Newton's step, λ's as they are;
        "2011": the gradient step, for objectives that change. ``lambda_function``, ``growth``, ``split``, ``step``,
        ``max_step``, ``anchor`` and ``normalise`` override.
    growth : "auto", "leafwise" or "symmetric"
        Leafwise: the leaf that gains most is split next. Symmetric: all leaves of a level are split by the same test,
        the one with the largest sum of gains, on at most ⌈log₂ n_leaves⌉ levels; it asks fewer questions and so fits
        less noise. ``"auto"``: symmetric with fewer than 20,000 training documents, unless the objective has several
        measures, for the tests of a whole level would all be about the first one.
    split : "auto", "newton" or "least_squares"
        What a split maximises: (Σλ)²/(Σw + l2) on both sides, or the reduction of squared error of λ (as published).
        ``"auto"``: newton with Newton's step, least squares with the gradient step.
    step : "auto", "newton" or "gradient"
        A leaf's value: Σλ/(Σw + l2), bounded by ``max_step``/σ; or the mean λ after the λ's of each query were
        divided by their standard deviation. ``"auto"``: newton, unless the preset says otherwise, or a λ-function has
        no positive curvature.
    max_step : float, optional
        Bound of Newton's step, times σ; default 10, none with a preset.
    anchor : float, optional
        Stiffness of springs that tie the scores within a query to the grades, against the forces of the measure (1: as
        stiff as they are): part regression, part ranking, which learns more from few and noisy labels. Without it 1
        for symmetric trees, if nothing else about the forces was chosen (``step``, ``normalise``,
        ``lambda_function``, several terms, preferences, a base model), else 0.
    sigma : float
        Steepness of the logistic cost.
    normalise : "auto", "none", "log" or "deviation"
        How the λ's of a query are scaled against those of other queries: not at all; by log2(1 + P)/P with P twice the
        sum of its pairs' forces (as LightGBM does); or divided by their standard deviation, for the gradient step
        only. Query weights count in full. ``"auto"``: log with Newton's step, deviation with the gradient step.
    pairs : "all", ("top", k) or ("sample", m)
        Which pairs exert forces; the last two are for very long lists: more than 100 million pairs of a query are
        warned of.
    max_bins : int
        Feature values are sorted into at most so many bins (2 to 255).
    feature_fraction, query_fraction : float
        Share of features and of queries that each tree sees.
    monotone : mapping or sequence, optional
        +1 or −1 by feature: the score may only rise or fall with it. A mapping has names or numbers (``{"price": -1}``,
        ``{3: 1}``); a number is the feature's own: arrays and LETOR text count from 1. A sequence has a direction for
        every feature.
    category_smoothing : float
        Against chance in splits on sets of categories: each category is thought to have so many documents more, which
        are like its leaf.
    lambda_function : str or LambdaFunction, optional
        Another λ-function in place of ``NearPairs(sigma)``: ``"RankNetWeightPairs"``, ``"LocalCost(k=3)"``,
        ``rf.lambdas.Spring(delta=2)``, or your own. Those without curvature go with the gradient step.
    objective : Graded, Scheduled, Term or a list of terms, optional
        Several measures, label sources or λ-functions in place of ``measure``. Terms that name no λ-function or no
        pairs of their own take those of ``lambda_function``, ``sigma`` and ``pairs``.
    base_model : Model, ranker, Path or str, optional
        Where boosting starts: a model, the name of a model file (ending in .json or .json.gz, or a Path), or of a
        feature. It is kept inside the saved model.
    early_stopping : int, optional
        Stop after so many trees without a higher validation value, and keep the best.
    line_search, line_search_on : int, optional; "train" or "validation"
        Every so many trees (10 is a good number), weigh the tree by an exact sweep: the weight in (0, 10) with the
        highest watched measure on ``line_search_on``, ``"train"`` or ``"validation"``; 1 unless another is better.
    validation_measure : str, Measure, list of them or Graded, optional
        What early stopping and the history watch; default: what is maximised. Of several the first may be at most one
        standard error of the paired difference below its best so far, and then the next decides.
    memory : "auto", "fast", "low" or "mapped"
        Histograms may take 1 GiB, with ``"low"`` 64 MiB (or what the fewest need: about 10 kB per feature); beyond,
        they are made again when they are needed. ``"low"`` also does without the second, column-wise copy of the
        binned features, ``"mapped"`` leaves those of a store (``rf.bin``) on the disk. ``"auto"`` takes the first that
        fits what can be had. The model is the same.
    seed, threads, progress
        The model depends on the data and the seed, not on the threads.
    """

    _lightgbm_settings = staticmethod(lambdamart_migration.from_lightgbm)
    _xgboost_settings = staticmethod(lambdamart_migration.from_xgboost)

    measure: str | Measure = dataclasses.field(default="NDCG", kw_only=False, metadata=checked(MEASURE))
    preset: Literal["2010", "2011"] | None = choice(None, after="min_documents")
    split: Literal["auto", "newton", "least_squares"] = choice("auto")
    step: Literal["auto", "newton", "gradient"] = choice("auto")
    sigma: float = steepness(1.0)
    max_step: float | None = number(None, above=0.0)
    anchor: float | None = number(None, least=0.0)
    normalise: Literal["auto", "none", "log", "deviation"] = choice("auto", after="max_bins")
    pairs: Any = setting("all", PAIRS)
    lambda_function: str | LambdaFunction | None = setting(None, LAMBDA_FUNCTION, after="monotone")
    objective: Any = setting(None, OBJECTIVE)
    validation_measure: Any = setting(None, TIERS, after="line_search_on")

    @trained_where_data_is
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
        """Learn from a Dataset, or from X, y and qid (or group); from its labels, or from preferences.

        ``preferences`` of this data set replace its labels: a listed pair pulls with σ(P̄ − P), curvature σ²P(1 − P),
        P = 1/(1 + e^{−σ·gap}), as in RankNet. A ``preference_share`` p below 1 mixes: p × these forces + (1 − p) ×
        those of the measure. Data without the labels of the watched measure is watched by the share of preferences
        that the ranking agrees with; so is ``validation``, if it is a Preferences object itself.

        ``instruments`` (``ForceAgreement``, ``ContributionsByGrade``, ``GradesInTop``, ``RankChanges`` of
        ``rf.diagnostics``) look at the training before every tree and hold a table afterwards.

        Everything else is as in ``MART.fit``: ``validation`` (a Dataset, Preferences, or a tuple (X, y, qid))
        is what early stopping watches, ``callbacks`` are called after every tree with an ``Iteration``, Ctrl-C stops
        after the current tree and keeps what was learned, and ``checkpoint`` is a path that what was learned is written
        to after every ``checkpoint_every`` trees and that a later call goes on from (``resume``: ``"auto"``,
        ``"never"``, ``"always"``).
        """
        leaves = LeafCounts.of(self.n_leaves, self.n_trees)
        data = as_dataset(X, y, qid, group=group, weights=weights, query_weights=query_weights)
        check_alike(data, validation, preferences)
        data = with_features(data)
        instruments = checked_instruments(instruments)
        inputs = PreferenceInputs.of(data, preferences, preference_share, validation)
        inputs.check_pairs(self.pairs)
        labelled = preferences is None and not isinstance(validation, Preferences)
        objective = self._objective()
        settled = self._settle(objective, data, preferences, leaves)
        objective, search = self._searched(objective, data, inputs.held_out if labelled else None, checkpoint)
        settled = dataclasses.replace(settled, objective=objective)

        def start(data: Dataset) -> Sequence[Learner]:
            learner = LambdaLearner(data, settled, self, preferences, preference_share, instruments)
            self.trained_forces_ = learner.trained
            self._count_left_out(data, learner.terms)
            return [learner]

        training = BoostedTraining(
            data=data,
            held_out=inputs.held_out,
            watch=lambda watched: (
                inputs.watched(watched, self._tiers(objective)[0]) or self._watched(objective, inputs.held_out, watched)
            ),
            objective=inputs.in_words(str(objective), f"preferences (sigma={self.sigma:g})"),
            inputs=inputs.written() | search | settled.written(),
            settled=settled,
            start=start,
        )
        return self._fit(training, callbacks, checkpoint, checkpoint_every, resume)

    def _own_lambda_function(self) -> LambdaFunction:
        preset = self._preset()
        return NearPairs(self.sigma) if preset is None else preset.lambda_function(self.sigma)

    def _iterations(self) -> int:
        return self.n_trees

    def _preset(self) -> TreePreset | None:
        return None if self.preset is None else TREE_PRESETS[self.preset]

    def _chosen(self, name: str, otherwise: Any) -> Any:
        """A setting as it was given; left open, as the preset has it; without one, ``otherwise``."""
        value = getattr(self, name)
        if value is not None and value != "auto":
            return value
        preset = self._preset()
        return otherwise if preset is None else getattr(preset, name)

    def _settle(
        self, objective: Objective, data: Dataset, preferences: Preferences | None, leaves: LeafCounts
    ) -> SettledLambdas:
        """What is left open, settled on this data; raises where it contradicts itself."""
        chosen = self._chosen
        step = chosen("step", "newton" if objective.has_curvature else "gradient")
        normalise = chosen("normalise", "log" if step == "newton" else "deviation")
        several = len({str(term.measure) for term in objective.terms}) > 1
        growth = chosen("growth", "leafwise" if several else self._usual_growth(data))
        usual = step == "newton" and normalise == "log" and self.lambda_function is None
        alone = preferences is None and self.base_model is None and len(objective.terms) == 1
        settled = SettledLambdas(
            growth=growth,
            split=chosen("split", "newton" if step == "newton" else "least_squares"),
            leaves=leaves,
            objective=objective,
            lambda_function=self._chosen_lambda_function(),
            step=step,
            max_step=float(chosen("max_step", MAX_STEP)),
            normalise=normalise,
            anchor=float(chosen("anchor", 1.0 if usual and alone and growth == "symmetric" else 0.0)),
        )
        self._check_settled(settled)
        if settled.anchor > 0.0 and preferences is not None:
            raise SettingsError("an anchor ties scores to grades, which preferences replace: leave anchor out")
        return settled

    def _check_settled(self, settled: SettledLambdas) -> None:
        terms, newton = settled.objective.terms, settled.step == "newton"
        if newton and not settled.objective.has_curvature:
            without = sorted(
                {
                    str(term.lambda_function)
                    for term in terms
                    if term.lambda_function and not term.lambda_function.HAS_CURVATURE
                }
            )
            raise SettingsError(
                f"{' and '.join(without)} has no positive curvature, which Newton's step divides by: use ",
                Setting("step", "gradient"),
            )
        if newton and settled.normalise == "deviation":
            raise SettingsError(
                Setting("normalise", "deviation"),
                " goes with ",
                Setting("step", "gradient"),
                ": it leaves no curvature",
            )
        if self.anchor and (not newton or len(terms) > 1):
            raise SettingsError("an anchor goes with Newton's step and one measure: leave anchor out")
        if not newton and settled.split == "newton":
            raise SettingsError(
                "the gradient step goes with ", Setting("split", "least_squares"), " or ", Setting("split", "auto")
            )
