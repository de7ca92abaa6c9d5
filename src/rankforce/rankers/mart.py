"""MART: boosted regression trees on a cost of single documents."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from rankforce import text_values
from rankforce.boosting.boosted_trees import BoostedTrees
from rankforce.boosting.course import BoostedTraining
from rankforce.boosting.document_costs import (
    BinaryPull,
    Documents,
    OwnPull,
    RegressionPull,
    grade_pulls,
)
from rankforce.boosting.leaf_counts import LeafCounts
from rankforce.boosting.outputs import Learner
from rankforce.boosting.settled import Settled
from rankforce.collective import alone, anybody, union
from rankforce.data.dataset import MAIN_LABEL, Dataset, check_dataset
from rankforce.data.spread import trained_where_data_is
from rankforce.errors import DataError, MeasureError, SettingsError
from rankforce.kinds import FunctionOf, Number, Several, Understood, check_choice, shown
from rankforce.measures.catalogue import measure
from rankforce.measures.gains import gains
from rankforce.measures.measure import Measure
from rankforce.migration import mart as mart_migration
from rankforce.migration.migration import FromOtherLibraries
from rankforce.models.expected_grade import ExpectedGrade, GradeLink, logistic
from rankforce.remedies import NAME_ALONE, Setting
from rankforce.training.inputs import as_dataset, as_validation, with_features
from rankforce.training.members_alike import check_alike
from rankforce.training.monitoring import Callback, WatchedMeasure
from rankforce.training.settings import (
    checked,
    choice,
    label_source,
    measure_to_watch,
    number,
    setting,
    steepness,
    with_settings,
)
from rankforce.training.usual_measure import fitting_measure, usual_measure
from rankforce.written_forms import name_of

TARGETS = ("grades", "gains")
COSTS = ("regression", "binary", "balanced", "multiclass", "ordinal")
LINK_OF = {"multiclass": "softmax", "ordinal": "ordinal"}
MOST_GRADES = 64  # more different labels are no scale of grades, and every one costs a tree per round


def _check_cost(cost: Any) -> None:
    if isinstance(cost, str) or not (callable(cost) or hasattr(cost, "pull")):
        check_choice("cost", cost, COSTS)
    pull = getattr(cost, "pull", cost)
    if not isinstance(cost, str) and not FunctionOf(3).holds(pull):
        raise SettingsError(f"a cost of your own is a function of (scores, labels, data), not {shown(cost)}")


def _check_target(target: Any) -> None:
    if not (FunctionOf(1).holds(target) or isinstance(target, (str, Measure))):
        raise SettingsError(f"target must be 'grades', 'gains', a measure or a function, not {shown(target)}")
    if isinstance(target, str) and target not in TARGETS:
        try:
            measure(target)
        except MeasureError as error:
            near = difflib.get_close_matches(target.lower(), TARGETS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f" ({error})"
            raise SettingsError(
                f"target must be 'grades', 'gains', a measure or a function, not {target!r}{hint}"
            ) from None


def _check_values(values: Any) -> None:
    if isinstance(values, str):
        check_choice("values", values, ("grades", "gains"))
    elif not FunctionOf(1).holds(values) and not Several(Number()).holds(values):
        raise SettingsError(
            f"values must be 'grades', 'gains', one number per grade, or a function of grades, not {shown(values)}"
        )


@with_settings
class MART(FromOtherLibraries, BoostedTrees):
    """Boosted trees that learn every document's label: regression or classification.

    Each round adds a tree (or one per output) that is grown on the forces −∂C/∂F at the current scores F; the value
    of a leaf is one Newton step.

    Parameters
    ----------
    cost : str or an object of your own
        ``"regression"``: least squares on the ``target``. The score is the expected target.
        ``"binary"``: is the label at least ``relevant``? Labels y = ±1, forces ȳ = 2yσ/(1 + e^{2yσF}), leaf value
        Σȳ / Σ|ȳ|(2σ − |ȳ|); P(relevant) = 1/(1 + e^{−2σF}).
        ``"balanced"``: as binary, both classes with the same total weight.
        ``"multiclass"``: K grades, K trees per round, softmax; leaf value ((K−1)/K) Σr / Σ|r|(1 − |r|) with
        r = 1[y = k] − p_k. The score is the expected grade Σ k·P(k|x).
        ``"ordinal"``: K − 1 binary models of y > k, one tree each per round; the score is the expected grade.
        For an own cost see below.
    target : "grades", "gains", a measure or a function
        What regression learns: the label, 2^label − 1, what a label is worth to a measure (``rf.ERR()``), or a
        function of an array of labels.
    relevant : float
        Least label of a relevant document, for binary and balanced.
    values : "grades", "gains", a sequence or a function
        What grades are worth in the score of multiclass and ordinal, Σ_k values_k·P(k|x): one number per grade of the
        training data, from the lowest, which must not fall; or a function of an array of grades.
    label : str
        The label source that is learned.
    sigma : float
        Steepness of the logistic cost of binary, balanced and ordinal.
    max_step : float
        Bound of a leaf's value in classification (over σ where there is one): a leaf of confident errors would leap.
    split : "auto", "least_squares" or "newton"
        What a split maximises: the reduction of squared error of the forces (as published), or (Σf)²/(Σc + l2) with
        the curvatures c that the leaf value has. ``"auto"``: least squares, but newton where ``monotone`` is given.
    n_trees : int
        Rounds: multiclass and ordinal add one tree per output in each.
    min_documents : int
        Least number of documents in a leaf, exactly; documents without a label or with weight 0 do not count.
    validation_measure : str or Measure, optional
        The ranking measure that early stopping and the history watch; default NDCG of the label: with a linear gain
        where 2^label would be infinite (labels above about 1000) or some label is negative, and the pairwise accuracy
        in place of NDCG where no label is positive but some are negative. ``watched_measure_`` says which it was.
    n_leaves, learning_rate, l2, min_gain, max_depth, growth, max_bins, feature_fraction, query_fraction, monotone,
    category_smoothing, base_model, early_stopping, line_search, line_search_on, memory, seed, threads, progress
        As for ``LambdaMART``; all trees of a round have the same ``n_leaves``. Multiclass cannot be ``monotone``;
        ordinal can. A ``base_model`` of multiclass and ordinal must be a model of the same cost and grades.

    Notes
    -----
    Without a base model, scores start at the best constant (mean target, log-odds, shares of the grades).

    A document counts query weight × document weight. Unlabelled documents (NaN) and those of weight 0 take part in
    nothing, but get scores and keep their ranks in the watched measure.

    **A cost of your own** is a function, or an object with a method ``pull``: scores and labels in (one per row of
    ``data``, which also has queries and features), forces out (positive: the score should rise), and curvatures >= 0
    if there are any. Weights are none of its business. Without curvatures a leaf's value is the mean force. An object
    may also have ``start(labels, weights)``, the number that scores start from::

        def huber(scores, labels, data):
            error = labels - scores
            return np.clip(error, -1, 1), (np.abs(error) < 1).astype(float) + 0.1

        rf.MART(huber).fit(train)

    What it returns for unlabelled documents is ignored.

    Attributes
    ----------
    grades_ : float64
        The grades that multiclass and ordinal learned, rising: the columns of ``predict_proba``.
    """

    _lightgbm_settings = staticmethod(mart_migration.from_lightgbm)
    _xgboost_settings = staticmethod(mart_migration.from_xgboost)

    cost: Any = dataclasses.field(default="regression", kw_only=False, metadata=checked(Understood(_check_cost)))
    target: str | Measure | Callable[[np.ndarray], Any] = setting("grades", Understood(_check_target))
    relevant: float = number(1.0)
    values: Any = setting("grades", Understood(_check_values, text_values.python_value))
    label: str = label_source(MAIN_LABEL)
    sigma: float = steepness(1.0)
    max_step: float = number(10.0, above=0.0)
    split: Literal["auto", "newton", "least_squares"] = choice("auto")
    validation_measure: str | Measure | None = measure_to_watch(after="line_search_on")

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
        callbacks: Sequence[Callback] = (),
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 50,
        resume: str = "auto",
    ) -> Self:
        """Learn from a Dataset, or from X, y and qid (or group).

        ``validation`` (a Dataset or a tuple (X, y, qid)) is what early stopping watches. ``callbacks`` are called
        after every tree with an ``Iteration``. Ctrl-C stops after the current tree and keeps what was learned.

        ``checkpoint`` is a path that what was learned is written to after every ``checkpoint_every`` trees, safe
        against a crash at any moment. Called again, ``fit`` goes on from it (``resume="auto"``; ``"never"`` begins
        anew, ``"always"`` wants one) and ends with the same bytes as without the interruption. A checkpoint of
        other data, settings or processor is refused.
        """
        leaves = LeafCounts.of(self.n_leaves, self.n_trees)
        data = as_dataset(X, y, qid, group=group, weights=weights, query_weights=query_weights)
        check_alike(data, validation)
        data = with_features(data)
        held_out = as_validation(validation, data)
        watched = self._watched_on(data, held_out)
        growth = self._usual_growth(data) if self.growth == "auto" else self.growth
        settled = Settled(growth=growth, split=self._split(), leaves=leaves)
        training = BoostedTraining(
            data=data,
            held_out=held_out,
            watch=lambda data: WatchedMeasure(data, watched),
            objective=self._objective_name(),
            inputs=settled.written(),
            settled=settled,
            start=self._start,
            remarks=self._remarks_on(watched),
        )
        return self._fit(training, callbacks, checkpoint, checkpoint_every, resume)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities, float64, in the order of the rows.

        (documents, 2) for binary and balanced: not relevant, relevant. (documents, grades) for multiclass and
        ordinal: one column for each of ``grades_``.
        """
        self._fitted()
        if isinstance(self.model_, ExpectedGrade):
            return self.model_.predict_proba(X)
        if self.cost not in ("binary", "balanced"):
            raise SettingsError(
                f"{name_of(self.cost)} gives no probabilities: use ",
                Setting("cost", "binary"),
                ", multiclass or ordinal",
            )
        relevant = logistic(2.0 * self.sigma * self.model_.predict(X))
        return np.column_stack([1.0 - relevant, relevant])

    def balanced_error(self, data: Dataset) -> float:
        """Of binary and balanced: FP/(2n₋) + FN/(2n₊), the mean of the shares of both classes that are taken for the
        other one. Documents without a label do not count; NaN if a class has none.
        """
        check_dataset(data)
        labels = data.label(self.label)
        known = ~np.isnan(labels)
        relevant = labels[known] >= self.relevant
        taken = self.predict_proba(data)[known, 1] > 0.5
        if relevant.all() or not relevant.any():
            return math.nan
        return float((np.mean(taken[~relevant]) + np.mean(~taken[relevant])) / 2.0)

    @property
    def learns_from_values(self) -> bool:
        """Whether a training asks for the values of features; a cost of your own is handed the data, and may."""
        return super().learns_from_values or callable(getattr(self.cost, "pull", self.cost))

    @property
    def grades_(self) -> np.ndarray:
        """The grades that multiclass and ordinal learned, rising."""
        self._fitted()
        if not isinstance(self.model_, ExpectedGrade):
            raise AttributeError(f"{name_of(self.cost)} learns no grades")
        return self.model_.link.grades

    def _start(self, data: Dataset) -> Sequence[Learner]:
        """What pulls at the documents: one learner for every output, all with the same link."""
        options: dict[str, Any] = {"split": self._split(), "l2": self.l2}
        if self.cost == "regression":
            targets, labels, source = self._targets(data)
            documents = Documents(data, labels, source)
            return [RegressionPull(documents, data.by_query(targets), **options)]
        labels = data.label(self.label)
        documents = Documents(data, labels, self.label)
        if self.cost in ("binary", "balanced"):
            relevant = documents.labels >= self.relevant
            longest = self.max_step / self.sigma
            balanced = self.cost == "balanced"
            return [
                BinaryPull(documents, relevant, sigma=self.sigma, balanced=balanced, longest_step=longest, **options)
            ]
        if self.cost in LINK_OF:
            return grade_pulls(documents, self._link(documents), options, self.max_step)
        return [OwnPull(documents, self.cost, labels, **options)]

    def _targets(self, data: Dataset) -> tuple[np.ndarray, np.ndarray, str]:
        """(what regression learns, the labels, the name of their source), by row."""
        if isinstance(self.target, (str, Measure)) and self.target not in TARGETS:
            chosen = measure(self.target)
            labels = data.label(chosen.label)
            return np.asarray(chosen.worth(labels), dtype=np.float64), labels, chosen.label
        labels = data.label(self.label)
        if self.target == "grades":
            return np.where(np.isnan(labels), 0.0, labels), labels, self.label
        if self.target == "gains":
            return gains(labels, "exponential", "target='gains'"), labels, self.label
        assert callable(self.target)
        targets = np.asarray(self.target(np.where(np.isnan(labels), 0.0, labels)), dtype=np.float64)
        if targets.shape != labels.shape or not np.isfinite(targets).all():
            raise SettingsError("the target function must return one finite number for every label it is given")
        if not alone() and anybody(not np.array_equal(targets, self._target_of_everybody(labels))):
            raise SettingsError(
                "the target function gives a label another number beside other labels; where several train together "
                "it must be a function of the label alone"
            )
        return targets, labels, self.label

    def _target_of_everybody(self, labels: np.ndarray) -> np.ndarray:
        """What the target function makes of labels among those of all members."""
        labels = np.where(np.isnan(labels), 0.0, labels)
        everything = union(labels)
        assert callable(self.target)
        targets: np.ndarray = np.asarray(self.target(everything), dtype=np.float64)[np.searchsorted(everything, labels)]
        return targets

    def _link(self, documents: Documents) -> GradeLink:
        grades = union(documents.labels[documents.active])
        if len(grades) < 2:
            raise DataError(f"nothing to learn from: every labelled document has the grade {grades[0]:g}")
        if len(grades) > MOST_GRADES:
            raise DataError(
                f"{len(grades)} different labels are too many for the cost {self.cost} (at most {MOST_GRADES}): "
                "round them to grades, or use ",
                Setting("cost", "regression"),
            )
        values: Any = self.values
        if isinstance(values, str):
            values = grades if values == "grades" else gains(grades, "exponential", "values='gains'")
        elif callable(values):
            values = values(grades)
        try:
            return GradeLink(LINK_OF[self.cost], grades, np.asarray(values, dtype=np.float64), self.sigma)
        except (TypeError, ValueError) as error:
            raise SettingsError(f"values do not fit the grades {grades.tolist()}: {error}") from None

    def _split(self) -> str:
        if self.split == "auto":
            return "least_squares" if self.monotone is None else "newton"
        return self.split

    def _watched_measure(self) -> Measure:
        return usual_measure(self.validation_measure, self.label)

    def _watched_on(self, data: Dataset, held_out: Dataset | None) -> Measure:
        return fitting_measure(self.validation_measure, self.label, data, held_out)

    def _objective_name(self) -> str:
        """What is learned, in words."""
        name = name_of(self.cost)
        if self.cost == "regression":
            return f"{name} on {name_of(self.target)}"
        return f"{name}, {name_of(self.values)}" if self.cost in LINK_OF else name

    def _settings(self) -> dict[str, Any]:
        named = {
            name: name_of(value)
            for name in ("cost", "target", "values")
            if callable(value := getattr(self, name)) or hasattr(value, "pull")
        }
        return super()._settings() | named

    def _check_settings(self, data: Dataset, held_out: Dataset | None) -> None:
        super()._check_settings(data, held_out)
        if self.cost != "regression" and not (isinstance(self.target, str) and self.target == "grades"):
            raise SettingsError(Setting("target", NAME_ALONE), " goes with ", Setting("cost", "regression"))
        if self.cost not in LINK_OF and not (isinstance(self.values, str) and self.values == "grades"):
            raise SettingsError(
                Setting("values", NAME_ALONE),
                " goes with ",
                Setting("cost", "multiclass"),
                " or ",
                Setting("cost", "ordinal"),
            )
        if self.cost == "multiclass" and self.monotone is not None:
            raise SettingsError(
                Setting("cost", "multiclass"), " cannot be monotone in a feature: use ", Setting("cost", "ordinal")
            )
