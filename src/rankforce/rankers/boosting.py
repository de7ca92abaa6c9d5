"""What boosted trees share: running scores, subsamples, and the loop that adds one tree after another."""

from __future__ import annotations

import abc
import hashlib
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.binning.binned import MEMORY, Binned
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import combine, uniform
from rankforce.errors import DataError, SettingsError
from rankforce.lambdas.forces import Ranking
from rankforce.measures.measure import Measure
from rankforce.models.model import Model
from rankforce.models.provenance import Provenance
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.rankers.checkpoint import Checkpoint, Identity
from rankforce.rankers.inputs import as_dataset, as_validation, with_features
from rankforce.rankers.interruption import Interruption
from rankforce.rankers.progress import Progress
from rankforce.rankers.ranker import Ranker
from rankforce.rankers.settings import check_choice, check_number
from rankforce.rankers.watching import Callback, Watch, WatchedMeasure
from rankforce.threads import using_threads
from rankforce.trees.grower import Grower
from rankforce.trees.tree import Tree


class TrainingWarning(UserWarning):
    """Training ended for a reason the user should know."""


class RunningScores:
    """The scores of a data set while trees are added, its ranking by them, and the watched measure.

    Everything is in ``by_query`` order.
    """

    def __init__(self, data: Dataset, base: np.ndarray, measure: Measure, seed: int) -> None:
        self.scores = np.ascontiguousarray(data.by_query(base), dtype=dtypes.SCORE).copy()
        self.ranking = Ranking(data, seed)
        self.watched = WatchedMeasure(data, measure)
        self.order = self.ranking.update(self.scores)

    def restart(self, scores: np.ndarray, data: Dataset) -> None:
        """Go on from other scores, given by row."""
        self.scores[:] = data.by_query(scores)
        self.order = self.ranking.update(self.scores)

    def add(self, tree: Tree, leaf_of: np.ndarray) -> None:
        """Add a tree whose leaf is known for every document."""
        self.scores += tree.leaf_value[leaf_of]
        self.order = self.ranking.update(self.scores)

    def value(self) -> float:
        """The watched measure at the current scores."""
        return self.watched.mean(self.order)


class BoostedTrees(Ranker):
    """Base of MART and LambdaMART: a subclass gives the pull on every document, and what a leaf makes of it."""

    # Settings that all boosted trees have; scikit-learn wants them in each subclass's __init__.
    n_trees: int
    n_leaves: int
    learning_rate: float
    min_documents: int
    l2: float
    min_gain: float
    max_depth: int | None
    max_bins: int
    feature_fraction: float
    query_fraction: float
    monotone: Any
    base_model: Any
    early_stopping: int | None
    memory: str
    seed: int
    threads: int | None
    progress: bool

    model_: TreeEnsemble

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
    ) -> Any:
        """Learn from a Dataset, or from X, y and qid (or group).

        ``validation`` (a Dataset or a tuple (X, y, qid)) is what early stopping watches. ``callbacks`` are called
        after every tree with an ``Iteration``. Ctrl-C stops after the current tree and keeps what was learned.

        ``checkpoint`` is a path that what was learned is written to after every ``checkpoint_every`` trees, safe
        against a crash at any moment. Called again, ``fit`` goes on from it (``resume="auto"``; ``"never"`` begins
        anew, ``"always"`` wants one) and ends with the same bytes as without the interruption. A checkpoint of
        other data, settings or processor is refused.
        """
        data = with_features(as_dataset(X, y, qid, group=group, weights=weights, query_weights=query_weights))
        held_out = as_validation(validation)
        self._check_settings(data, held_out)
        with using_threads(self.threads):
            kept = None
            if checkpoint is not None:
                identity = Identity.of(self._settings(), data, held_out)
                kept = Checkpoint(checkpoint, checkpoint_every, resume, identity)
            self._boost(data, held_out, callbacks, kept)
        self._note_features(data)
        return self

    def _settings(self) -> dict[str, Any]:
        """All settings by name, as the model file keeps them."""
        base = BaseScores(self.base_model).written()
        return {"ranker": type(self).__name__, **self.get_params(deep=False), "base_model": base}

    def _boost(
        self,
        data: Dataset,
        held_out: Dataset | None,
        callbacks: Sequence[Callback],
        checkpoint: Checkpoint | None,
    ) -> None:
        base = BaseScores(self.base_model)
        learner = self._start(data)
        measure = self._watched_measure()
        running = RunningScores(data, base.of(data), measure, self.seed)
        binned = Binned.of(data, self.max_bins, self.memory)
        grower = Grower(
            binned,
            n_leaves=self.n_leaves,
            min_documents=self.min_documents,
            max_depth=self.max_depth,
            l2=self.l2,
            min_gain=self.min_gain,
            split=self._split(),
            monotone=_monotone(self.monotone, data),
            seed=self.seed,
        )
        if held_out is not None:
            validating = RunningScores(held_out, base.of(held_out), measure, self.seed)
            held_out_bins = Binned.by(binned.binning, held_out, "low")
        watch = Watch(self.early_stopping)
        trees: list[Tree] = []
        stop = False
        if checkpoint is not None and (last := checkpoint.last(self.n_trees)) is not None:
            trees = last.trees
            running.restart(last.predict(data), data)
            if held_out is not None:
                validating.restart(last.predict(held_out), held_out)
            stop = watch.replay(last.provenance.history)
        watch.callbacks = callbacks
        with Interruption() as interruption, Progress(type(self).__name__, self.n_trees, "trees", self.progress) as bar:
            for m in range(len(trees), 0 if stop else self.n_trees):
                queries, rows = _sampled_queries(data, self.query_fraction, self.seed, m)
                features = _sampled_features(data.n_features, self.feature_fraction, self.seed, m)
                pull, curvature = learner.pull(running, m, queries)
                grown = grower.grow(pull, curvature, tree_number=m, rows=rows, features=features)
                if grown.structure.n_leaves == 1 and queries is None and features is None:
                    self._explain_no_split(m, data)
                    break
                step = np.clip(learner.leaf_values(pull, curvature, grown), grown.lower, grown.upper)
                tree = grown.structure.with_values(self.learning_rate * step)
                trees.append(tree)
                running.add(tree, grown.leaf_of)
                values = {"train": running.value()}
                if held_out is not None:
                    validating.add(tree, grown.route(held_out_bins))
                    values["validation"] = validating.value()
                stop = watch.record(m + 1, values)
                bar.advance(m + 1, values)
                ending = stop or interruption.wanted or m + 1 == self.n_trees
                if checkpoint is not None and (ending or (m + 1) % checkpoint.every == 0):
                    checkpoint.write(trees, watch.history, data.feature_names, base.model)
                if ending:
                    break
        self.history_ = watch.history
        self.watched_measure_ = measure
        self.best_iteration_ = min(watch.best_iteration, len(trees)) if self.early_stopping else len(trees)
        self.model_ = TreeEnsemble.from_trees(
            trees[: self.best_iteration_],
            data.feature_names,
            base_model=base.model,
            provenance=Provenance.of_training(
                data,
                settings=self._settings(),
                objective=self._objective_name(),
                history=watch.history,
                seed=self.seed,
            ),
        )

    def predict(self, X: Any, n_trees: int | None = None) -> np.ndarray:
        """Scores, float64, in the order of the rows; of the first ``n_trees`` trees only, if given."""
        model = self._fitted()
        assert isinstance(model, TreeEnsemble)
        return model.predict(X, n_trees=n_trees)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of the total gain that each feature brought."""
        model = self._fitted()
        assert isinstance(model, TreeEnsemble)
        gains = np.array(list(model.feature_importance("gain").values()))
        return gains / gains.sum() if gains.sum() > 0 else gains

    # ------------------------------------------------------------------------------------- what a subclass gives

    @abc.abstractmethod
    def _start(self, data: Dataset) -> Any:
        """An object with ``pull(running, iteration, queries)`` and ``leaf_values(pull, curvature, grown)``."""

    @abc.abstractmethod
    def _watched_measure(self) -> Measure:
        """The measure of the history and of early stopping."""

    @abc.abstractmethod
    def _split(self) -> str:
        """``"newton"`` or ``"least_squares"``."""

    @abc.abstractmethod
    def _objective_name(self) -> str:
        """What is maximised, in its written form."""

    def _check_settings(self, data: Dataset, held_out: Dataset | None) -> None:
        check_number("n_trees", self.n_trees, 1, whole=True)
        check_number("n_leaves", self.n_leaves, 2, whole=True)
        check_number("learning_rate", self.learning_rate, 0.0, above=True)
        check_number("min_documents", self.min_documents, 1, whole=True)
        check_number("l2", self.l2, 0.0)
        check_number("min_gain", self.min_gain, 0.0)
        check_number("max_depth", self.max_depth, 1, whole=True, optional=True)
        check_number("max_bins", self.max_bins, 2, 255, whole=True)
        check_number("feature_fraction", self.feature_fraction, 0.0, 1.0, above=True)
        check_number("query_fraction", self.query_fraction, 0.0, 1.0, above=True)
        check_number("early_stopping", self.early_stopping, 1, whole=True, optional=True)
        check_number("seed", self.seed, 0, whole=True)
        check_choice("memory", self.memory, MEMORY)
        if self.early_stopping is not None and held_out is None:
            raise SettingsError("early_stopping needs validation data: fit(train, validation=...)")
        if held_out is not None and held_out.n_features != data.n_features:
            raise DataError(
                f"the validation data has {held_out.n_features} features, the training data {data.n_features}"
            )

    def _explain_no_split(self, m: int, data: Dataset) -> None:
        if m == 0:
            warnings.warn(
                f"no split of the {data.n_documents} training documents raises the objective: the model is empty. "
                f"Are all features constant, or is min_documents={self.min_documents} too large?",
                TrainingWarning,
                stacklevel=4,
            )


class BaseScores:
    """The scores that boosting starts from: a model's, a feature's, or 0."""

    def __init__(self, base: Any) -> None:
        if isinstance(base, Ranker):
            base = base._fitted()
        if isinstance(base, Path):
            from rankforce.models.storage import load

            base = load(base)
        if base is not None and not isinstance(base, (str, Model)):
            raise SettingsError(
                f"base_model must be a rankforce model, a fitted ranker, a Path, or a feature's name, not {base!r}"
            )
        self.model: Model | str | None = base

    def written(self) -> str | None:
        """The base as a model file names it: a feature by its name, a model by a digest of its file."""
        if not isinstance(self.model, Model):
            return self.model
        from rankforce.models.storage import to_bytes

        digest = hashlib.blake2b(to_bytes(self.model), digest_size=8).hexdigest()
        return f"{self.model!r}, {digest}"

    def of(self, data: Dataset) -> np.ndarray:
        """One score per row."""
        if self.model is None:
            return np.zeros(data.n_documents)
        if isinstance(self.model, str):
            scores = data.features[:, data.feature_place(self.model)].astype(dtypes.SCORE)
            missing = np.flatnonzero(np.isnan(scores))
            if len(missing):
                raise DataError(
                    f"feature {self.model!r} of row {missing[0]} is missing, but scores start from it: fill it in"
                )
            return scores
        return self.model.predict(data)


def _sampled_queries(
    data: Dataset, fraction: float, seed: int, tree: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """(mask of queries, their documents in ``by_query`` order), by hash of seed, tree and query id; None for all."""
    if fraction >= 1.0:
        return None, None
    draws = uniform(combine(seed, 1, tree, data.query_hashes))
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
    mask[np.argsort(combine(seed, 2, tree, np.arange(n_features)), kind="stable")[:count]] = True
    return mask


def _monotone(wanted: Any, data: Dataset) -> np.ndarray | None:
    """+1, 0 or −1 per feature, from a sequence or a mapping of feature to direction."""
    if wanted is None:
        return None
    directions = np.zeros(data.n_features, dtype=np.int8)
    if isinstance(wanted, dict):
        for feature, direction in wanted.items():
            directions[data.feature_place(feature)] = _direction(direction)
        return directions
    given = list(wanted)
    if len(given) != data.n_features:
        raise SettingsError(f"monotone must have one direction per feature ({data.n_features}), not {len(given)}")
    directions[:] = [_direction(direction) for direction in given]
    return directions


def _direction(direction: Any) -> int:
    if direction not in (-1, 0, 1):
        raise SettingsError(f"a direction of monotone is +1 (rising), -1 (falling) or 0, not {direction!r}")
    return int(direction)
