"""What boosted trees share: running scores, subsamples, and the loop that adds one tree after another."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from rankforce import dtypes, text_values
from rankforce.binning.binned import Binned
from rankforce.boosting.finite_forces import explaining
from rankforce.boosting.line_search import best_weight, check_searchable
from rankforce.boosting.outputs import BaseScores, Ensemble, Learner, Rounds
from rankforce.console.interruption import Interruption
from rankforce.console.progress import Progress
from rankforce.data.dataset import Dataset
from rankforce.data.random_streams import Stream
from rankforce.errors import SettingsError, warn
from rankforce.evaluation.agreement import AGREEMENT
from rankforce.forces.forces import RunningOrder
from rankforce.kernels.trees.leaves import add_leaf_values
from rankforce.kinds import Number, Understood, shown
from rankforce.measures.measure import Measure
from rankforce.models.expected_grade import GradeLink
from rankforce.models.provenance import Provenance
from rankforce.remedies import Setting, ValidationData
from rankforce.threads import FEW_IN_A_PASS, over_ranges
from rankforce.training.checkpoint import Checkpoint
from rankforce.training.graded_monitoring import GradedWatch, watch_of
from rankforce.training.inputs import as_dataset, as_validation, with_features
from rankforce.training.monitoring import (
    TIES,
    Callback,
    TrainingWarning,
    Watched,
    WatchedMeasure,
    in_words,
    watched_values,
)
from rankforce.training.resumable import Resumable
from rankforce.training.settings import choice, number, setting, whole, with_settings
from rankforce.trees.first_tree import expect_first_tree
from rankforce.trees.grower import Grower, Grown
from rankforce.trees.histogram_pool import HISTOGRAM_BYTES
from rankforce.trees.tree import Tree

FEW_DOCUMENTS = 20_000  # below, trees that fit less noise are worth more than trees that fit more detail


class RunningScores:
    """The scores of a data set while trees are added, its ranking by them, and the watched measure.

    Everything is in ``by_query`` order. ``outputs`` (outputs, documents) are the sums of trees; ``scores`` is the
    only output, or what the link makes of several.
    """

    def __init__(
        self, data: Dataset, base: np.ndarray, watched: Watched, seed: int, link: GradeLink | None = None
    ) -> None:
        self.data = data
        self.link = link
        self.outputs = np.empty(base.shape, dtype=dtypes.SCORE)
        self.ranking = RunningOrder(data, seed)
        self.watched = watched
        self.restart(base)

    def restart(self, outputs: np.ndarray) -> None:
        """Go on from other outputs, given by row."""
        for mine, given in zip(self.outputs, outputs, strict=True):
            mine[:] = self.data.by_query(given)
        self._rank()

    def add(self, trees: Sequence[Tree], leaves: Sequence[np.ndarray]) -> None:
        """Add one tree to every output; the leaf of every document is known."""
        added = list(zip(self.outputs, trees, leaves, strict=True))

        def add(first: int, last: int) -> None:
            for output, tree, leaf_of in added:
                add_leaf_values(tree.leaf_value, leaf_of, first, last, output)

        over_ranges(self.data.n_documents, add, FEW_IN_A_PASS)
        self._rank()

    def value_with(self, tree: Tree, leaf_of: np.ndarray) -> float:
        """The watched measure if this tree were added to the only output; nothing is added."""
        return self.watched.mean(self.ranking.of(self.outputs[0] + tree.leaf_value[leaf_of]))

    def _rank(self) -> None:
        self.scores = self.outputs[0] if self.link is None else self.link.scores(self.outputs)
        self.order = self.ranking.update(self.scores)

    def revisit(self, outputs: np.ndarray) -> None:
        """Be once more where the outputs (by row) were these, and look at what is watched."""
        self.restart(outputs)
        self.noted("")

    def value(self) -> float:
        """The watched measure at the current scores."""
        return self.watched.mean(self.order)

    def noted(self, name: str) -> dict[str, float]:
        """What is watched at the current scores, as a history names it."""
        return self.watched.noted(self.order, name)


@dataclasses.dataclass(frozen=True)
class Training:
    """What one call of ``fit`` learns from and watches."""

    data: Dataset
    held_out: Dataset | None
    start: Callable[[Dataset], Sequence[Learner]]
    watch: Callable[[Dataset], Watched]
    inputs: dict[str, Any] = dataclasses.field(default_factory=dict)  # beside settings and data, as files keep them
    objective: str | None = None  # in words, if it is not what the settings say


def _check_directions(wanted: Any) -> None:
    """Raise unless ``monotone`` is a list of directions or maps features to them."""
    mapped = isinstance(wanted, Mapping)
    if not mapped and not isinstance(wanted, (list, tuple)) and getattr(wanted, "ndim", 0) != 1:
        raise SettingsError(
            f"monotone must be one direction per feature, or map features to directions, not {shown(wanted)}"
        )
    for direction in wanted.values() if mapped else wanted:
        if not Number(-1, 1).holds(direction) or direction not in (-1, 0, 1):
            raise SettingsError(f"a direction of monotone is +1 (rising), -1 (falling) or 0, not {shown(direction)}")


@with_settings
class BoostedTrees(Resumable):
    """Base of MART and LambdaMART: a subclass gives the learners, which pull at documents and value the leaves."""

    n_trees: int = whole(1000, least=1)
    n_leaves: int = whole(31, least=2)
    learning_rate: float = number(0.1, above=0.0)
    min_documents: int = whole(20, least=1)
    l2: float = number(0.0, least=0.0)
    min_gain: float = number(0.0, least=0.0)
    max_depth: int | None = whole(None, least=1)
    growth: Literal["auto", "leafwise", "symmetric"] = choice("auto")
    max_bins: int = whole(255, least=2, most=255)
    feature_fraction: float = number(1.0, above=0.0, most=1.0)
    query_fraction: float = number(1.0, above=0.0, most=1.0)
    monotone: Any = setting(None, Understood(_check_directions, text_values.python_value))
    line_search: int | None = whole(None, least=1, after="early_stopping")
    line_search_on: Literal["train", "validation"] = choice("train")
    memory: Literal["fast", "low"] = choice("fast")

    settled_: dict[str, Any] = dataclasses.field(init=False)  # what "auto" and None became, and what is watched
    model_: Any = dataclasses.field(init=False)  # a TreeEnsemble, or an ExpectedGrade of several

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
        data = with_features(as_dataset(X, y, qid, group=group, weights=weights, query_weights=query_weights))
        held_out = as_validation(validation, data)
        watched = self._watched_on(data, held_out)
        training = Training(data, held_out, self._start, lambda data: WatchedMeasure(data, watched))
        return self._fit(training, callbacks, checkpoint, checkpoint_every, resume)

    def _watched_on(self, data: Dataset, held_out: Dataset | None) -> Measure:
        """The measure that is watched on these data."""
        return self._watched_measure()

    def _learn(self, training: Training, callbacks: Sequence[Callback], checkpoint: Checkpoint | None) -> None:
        data, held_out = training.data, training.held_out
        growth = self._growth(data)
        expect_first_tree(growth)
        learners = training.start(data)
        link = learners[0].link
        bases = BaseScores.of_outputs(self.base_model, learners)
        running = RunningScores(data, bases.of(data), training.watch(data), self.seed, link)
        binned = Binned.of(data, self.max_bins, self.memory)
        grower = Grower(
            binned,
            n_leaves=self.n_leaves,
            growth=growth,
            min_documents=self.min_documents,
            max_depth=self.max_depth,
            l2=self.l2,
            min_gain=self.min_gain,
            split=learners[0].split,
            monotone=_monotone(self.monotone, data),
            seed=self.seed,
            histogram_bytes=HISTOGRAM_BYTES[self.memory],
        )
        if held_out is not None:
            validating = RunningScores(held_out, bases.of(held_out), training.watch(held_out), self.seed, link)
            held_out_bins = Binned.by(binned.binning, held_out, "low")
        if self.line_search is not None:
            searched = running if self.line_search_on == "train" else validating
            check_searchable(searched.watched, len(learners))
        watch = watch_of(None if held_out is None else validating.watched, self.early_stopping)
        rounds: Rounds = []
        ensemble = Ensemble(data.feature_names, bases, link)
        stop = False
        if checkpoint is not None and (last := checkpoint.last()) is not None:
            last = _shortened(last, self.n_trees)
            rounds = ensemble.rounds_of(last)
            running.restart(ensemble.outputs_of(last, data))
            if isinstance(watch, GradedWatch):  # it compares queries, which a history does not hold
                steps = ensemble.steps(rounds, validating.data)
                stop = watch.replay(last.provenance.history, lambda: validating.revisit(next(steps)))
            else:
                stop = watch.replay(last.provenance.history)
            if held_out is not None:
                validating.restart(ensemble.outputs_of(last, held_out))
        watch.callbacks = callbacks
        watched = running.watched.measure if held_out is None else validating.watched.measure
        names = watched_values(running.watched, None if held_out is None else validating.watched)
        self.settled_ = {"growth": growth, "split": learners[0].split} | self._settles(data, learners[0])
        self.settled_["watched"] = str(watched)
        with Interruption() as interruption, Progress(type(self).__name__, self.n_trees, "trees", self.progress) as bar:
            bar.in_words = functools.partial(in_words, watched=names)
            bar.explain(self.settled_)
            if watched != self._watched_measure() and watched != AGREEMENT:
                bar.say(f"watching {watched}, which fits the labels")
            for m in range(len(rounds), 0 if stop else self.n_trees):
                queries, rows = _sampled_queries(data, self.query_fraction, self.seed, m)
                features = _sampled_features(data.n_features, self.feature_fraction, self.seed, m)
                grown_trees: list[Grown] = []
                trees: list[Tree] = []
                for place, learner in enumerate(learners):
                    pull, curvature = learner.pull(running, m, queries)
                    number = m * len(learners) + place
                    taking_part = learner.documents if rows is None else learner.among(rows)
                    with explaining(self, data, pull, curvature, f"at tree {m + 1}"):
                        grown = grower.grow(pull, curvature, tree_number=number, rows=taking_part, features=features)
                    step = np.clip(learner.leaf_values(pull, curvature, grown), grown.lower, grown.upper)
                    grown_trees.append(grown)
                    trees.append(grown.structure.with_values(self._shrunk(step)))
                if queries is None and features is None and all(tree.n_leaves == 1 for tree in trees):
                    self._explain_no_split(m, data)
                    break
                leaves = [grown.leaf_of for grown in grown_trees]
                held_out_leaves = [] if held_out is None else [grown.route(held_out_bins) for grown in grown_trees]
                if self.line_search is not None and (m + 1) % self.line_search == 0:

                    def weighed(weight: float, grown: Grown = grown, step: np.ndarray = step) -> Tree:
                        return grown.structure.with_values(weight * (self.learning_rate * step))

                    where = leaves if searched is running else held_out_leaves
                    trees = [weighed(best_weight(searched, trees[0], where[0], weighed))]
                rounds.append(tuple(trees))
                running.add(trees, leaves)
                values = {"train": running.value()}
                if held_out is not None:
                    validating.add(trees, held_out_leaves)
                    values |= validating.noted("validation")
                stop = watch.record(m + 1, values)
                bar.advance(m + 1, values)
                ending = stop or interruption.wanted or m + 1 == self.n_trees
                if checkpoint is not None and (ending or (m + 1) % checkpoint.every == 0):
                    checkpoint.write_rounds(watch.history, names, rounds, ensemble.model, whole=ending)
                if ending:
                    break
        self.history_ = watch.history
        self.watched_measure_ = watched
        self.best_iteration_ = min(watch.best_iteration, len(rounds)) if self.early_stopping else len(rounds)
        provenance = Provenance.of_training(
            data,
            settings=self._settings()
            | {"growth": growth}
            | dict(learners[0].settled)
            | training.inputs
            | self._notes(),
            objective=training.objective or self._objective_name(),
            history=watch.history,
            watched=names,
            ties=TIES,
            seed=self.seed,
        )
        self.model_ = ensemble.model(rounds[: self.best_iteration_], provenance)

    def _growth(self, data: Dataset) -> str:
        if self.growth == "auto":
            return "symmetric" if data.n_documents < FEW_DOCUMENTS else "leafwise"
        return self.growth

    def predict(self, X: Any, n_trees: int | None = None) -> np.ndarray:
        """Scores, float64, in the order of the rows; of the first ``n_trees`` trees only, if given."""
        self._fitted()
        return self.model_.predict(X, n_trees=n_trees)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of the total gain that each feature brought."""
        self._fitted()
        gains = np.array(list(self.model_.feature_importance("gain").values()))
        return gains / gains.sum() if gains.sum() > 0 else gains

    # ------------------------------------------------------------------------------------- what a subclass gives

    @abc.abstractmethod
    def _start(self, data: Dataset) -> Sequence[Learner]:
        """What pulls at the documents: one learner for every output, all with the same link."""

    @abc.abstractmethod
    def _objective_name(self) -> str:
        """What is maximised, in its written form."""

    def _check_settings(self, data: Dataset, held_out: Dataset | None) -> None:
        if self.early_stopping is not None and held_out is None:
            raise SettingsError("early_stopping needs validation data: ", ValidationData())
        if self.line_search is not None and self.line_search_on == "validation" and held_out is None:
            raise SettingsError(Setting("line_search_on", "validation"), " needs validation data: ", ValidationData())

    def _settles(self, data: Dataset, learner: Learner) -> dict[str, Any]:
        """What else was left open and is settled now, by setting."""
        return {}

    def _shrunk(self, step: np.ndarray) -> np.ndarray:
        """Leaf values: steps times the learning rate."""
        values = self.learning_rate * step
        if not (np.abs(values) <= np.finfo(np.float32).max).all():
            raise SettingsError(
                Setting("learning_rate", self.learning_rate), " is too large: the values of leaves leave float32"
            )
        return values

    def _explain_no_split(self, m: int, data: Dataset) -> None:
        if m == 0:
            warn(
                TrainingWarning(
                    f"no split of the {data.n_documents} training documents raises the objective: the model is empty. "
                    "Are all features constant, or is ",
                    Setting("min_documents", self.min_documents),
                    " too large?",
                )
            )


def _shortened(model: Any, n_trees: int) -> Any:
    """A checkpoint's model and history of at most ``n_trees`` trees."""
    if model.n_trees <= n_trees:
        return model
    history = {name: values[:n_trees] for name, values in model.provenance.history.items()}
    return dataclasses.replace(
        model.truncate(n_trees), provenance=dataclasses.replace(model.provenance, history=history)
    )


def _sampled_queries(
    data: Dataset, fraction: float, seed: int, tree: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """(mask of queries, their documents in ``by_query`` order), by hash of seed, tree and query id; None for all."""
    if fraction >= 1.0:
        return None, None
    draws = Stream.TREE_QUERIES.uniform(seed, tree, data.query_hashes)
    mask = draws < fraction
    if not mask.any():
        mask[np.argmin(draws)] = True
    return mask, np.flatnonzero(np.repeat(mask, data.query_sizes)).astype(dtypes.INDEX)


def _sampled_features(n_features: int, fraction: float, seed: int, tree: int) -> np.ndarray | None:
    """A mask of at least one feature, by hash of seed, tree and feature number; None for all."""
    if fraction >= 1.0:
        return None
    count = max(1, round(fraction * n_features))
    mask = np.zeros(n_features, dtype=bool)
    mask[np.argsort(Stream.TREE_FEATURES.words(seed, tree, np.arange(n_features)), kind="stable")[:count]] = True
    return mask


def _monotone(wanted: Any, data: Dataset) -> np.ndarray | None:
    """+1, 0 or −1 per feature, from a sequence or a mapping of feature to direction."""
    if wanted is None:
        return None
    directions = np.zeros(data.n_features, dtype=np.int8)
    if isinstance(wanted, Mapping):
        for feature, direction in wanted.items():
            directions[data.feature_place(feature)] = int(direction)
        return directions
    if len(wanted) != data.n_features:
        raise SettingsError(f"monotone must have one direction per feature ({data.n_features}), not {len(wanted)}")
    directions[:] = [int(direction) for direction in wanted]
    return directions
