"""Boosting: one tree after another, each grown on the forces at the scores of those before it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce.binning.binned import Binned
from rankforce.boosting.finite_forces import explaining
from rankforce.boosting.line_search import best_weight, check_searchable
from rankforce.boosting.memory_choice import chosen_memory
from rankforce.boosting.monotone import directions_of
from rankforce.boosting.outputs import BaseScores, Ensemble, Learner, Rounds
from rankforce.boosting.running_scores import RunningScores
from rankforce.boosting.sampling import TreeSample
from rankforce.boosting.settled import Settled
from rankforce.collective import total
from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError, warn
from rankforce.models.model import Model
from rankforce.models.provenance import Provenance
from rankforce.remedies import Setting
from rankforce.threads import thread_count, using_threads
from rankforce.training.checkpoint import Kept
from rankforce.training.course import Course
from rankforce.training.iterative import Training
from rankforce.training.monitor import Monitor
from rankforce.training.monitoring import TrainingWarning
from rankforce.trees.first_tree import expect_first_tree
from rankforce.trees.grower import Grower
from rankforce.trees.grown import Grown
from rankforce.trees.histogram_pool import HISTOGRAM_BYTES
from rankforce.trees.tree import Tree

if TYPE_CHECKING:
    from rankforce.boosting.boosted_trees import BoostedTrees

ENTRIES_PER_THREAD = 150_000  # of the binned matrix: half a millisecond per tree; below, threads mostly wait


@dataclasses.dataclass(frozen=True, kw_only=True)
class BoostedTraining(Training):
    """What one call of ``fit`` boosts on: ``start`` gives one learner for every output, all with the same link."""

    settled: Settled
    start: Callable[[Dataset], Sequence[Learner]]


class BoostingCourse(Course):
    """Trees that are added to the scores of the training data, and to those of the validation data."""

    unit = "trees"

    def __init__(self, settings: BoostedTrees, training: BoostedTraining) -> None:
        super().__init__()
        expect_first_tree(
            training.settled.growth,
            categorical=bool(training.data.categories),
            then=lambda: self.running.watched.mean(self.running.order),
        )
        self.settings = settings
        self.training = training
        self.data, self.held_out = training.data, training.held_out
        self.learners = training.start(self.data)
        self.bases = BaseScores.of_outputs(settings.base_model, self.learners)
        self.ensemble = Ensemble(self.data.feature_names, self.bases, self.learners[0].link, self.data.categories)
        self.running = self._running(self.data)
        memory, said = chosen_memory(settings.memory, self.data)
        self.grower = self._grower(memory)
        self.validating: RunningScores | None = None
        if self.held_out is not None:
            self.validating = self._running(self.held_out)
            self.held_out_bins = Binned.by(self.grower.binned.binning, self.held_out, "low")
        if settings.line_search is not None:
            self.searched = self.running if settings.line_search_on == "train" else self.validating
            assert self.searched is not None
            check_searchable(self.searched.watched, len(self.learners))
        self._monitor = Monitor(self.running, self.validating, settings.early_stopping)
        self.rounds: Rounds = []
        self.settled = training.settled.in_words() | {"watched": str(self._monitor.measure)}
        self.remarks = (*training.remarks, *filter(None, [said]))

    def _running(self, data: Dataset) -> RunningScores:
        training, link = self.training, self.learners[0].link
        return RunningScores(data, self.bases.of(data), training.watch(data), self.settings.seed, link)

    def _grower(self, memory: str) -> Grower:
        settings = self.settings
        return Grower(
            Binned.of(self.data, settings.max_bins, memory),
            n_leaves=self.training.settled.leaves.most,
            growth=self.training.settled.growth,
            min_documents=settings.min_documents,
            max_depth=settings.max_depth,
            l2=settings.l2,
            min_gain=settings.min_gain,
            split=self.learners[0].split,
            monotone=directions_of(settings.monotone, self.data),
            category_smoothing=settings.category_smoothing,
            seed=settings.seed,
            histogram_bytes=HISTOGRAM_BYTES[memory],
        )

    # ------------------------------------------------------------------------------------------------ the paper's box

    def step(self, number: int) -> bool:
        """Draw a sample; per output forces, a tree on them, a value per leaf; weigh the tree; add it."""
        sample = TreeSample.of(
            self.data, self.settings.query_fraction, self.settings.feature_fraction, self.settings.seed, number
        )
        steps = [self._step_of(output, number, sample) for output in range(len(self.learners))]
        if sample.everything and all(grown.structure.n_leaves == 1 for grown, _ in steps):
            self._explain_no_split(number)
            return False
        leaves = [grown.leaf_of for grown, _ in steps]
        held_out_leaves = [] if self.validating is None else [grown.route(self.held_out_bins) for grown, _ in steps]
        trees = tuple(grown.structure.with_values(self._shrunk(values)) for grown, values in steps)
        if self.settings.line_search is not None and (number + 1) % self.settings.line_search == 0:
            trees = (self._weighed(trees[0], *steps[0], leaves if self.searched is self.running else held_out_leaves),)
        self.running.add(trees, leaves)
        if self.validating is not None:
            self.validating.add(trees, held_out_leaves)
        self._monitor.record(number + 1)
        self.rounds.append(trees)
        return True

    def _step_of(self, output: int, number: int, sample: TreeSample) -> tuple[Grown, np.ndarray]:
        """A tree for one output, grown on the forces at the current scores, and the step of every leaf."""
        learner = self.learners[output]
        forces, curvatures = learner.pull(self.running, number, sample.queries)
        when = f"at tree {number + 1}"
        with (
            using_threads(self._growing_threads()),
            explaining(self.settings, self.training.objective, self.data, forces, curvatures, when),
        ):
            grown = self.grower.grow(
                forces,
                curvatures,
                n_leaves=self.training.settled.leaves(number),
                tree_number=number * len(self.learners) + output,
                rows=learner.documents if sample.documents is None else learner.among(sample.documents),
                features=sample.features,
            )
        return grown, np.clip(learner.leaf_values(forces, curvatures, grown), grown.lower, grown.upper)

    def _growing_threads(self) -> int:
        """As many threads as have enough to do."""
        binned = self.grower.binned
        return max(1, min(thread_count(), binned.n_documents * len(binned.binning.features) // ENTRIES_PER_THREAD))

    def _shrunk(self, step: np.ndarray) -> np.ndarray:
        """Leaf values: steps times the learning rate."""
        rate = self.settings.learning_rate
        values = rate * step
        if not (np.abs(values) <= np.finfo(np.float32).max).all():
            raise SettingsError(Setting("learning_rate", rate), " is too large: the values of leaves leave float32")
        return values

    def _weighed(self, tree: Tree, grown: Grown, step: np.ndarray, leaves: Sequence[np.ndarray]) -> Tree:
        """The tree times the weight that is best for the watched measure."""

        def weighed(weight: float) -> Tree:
            return grown.structure.with_values(weight * (self.settings.learning_rate * step))

        assert self.searched is not None
        return weighed(best_weight(self.searched, tree, leaves[0], weighed))

    def _explain_no_split(self, number: int) -> None:
        if number == 0:
            least = Setting("min_documents", self.settings.min_documents)
            why = self.learners[0].why_no_split() or ("are all features constant, or is ", least, " too large?")
            warn(
                TrainingWarning(
                    f"no split of the {total(self.data.n_documents)} training documents raises the objective, and the "
                    "model is empty: ",
                    *why,
                )
            )

    # --------------------------------------------------------------------------------------------- the loop's questions

    @property
    def monitor(self) -> Monitor:
        return self._monitor

    @property
    def done(self) -> int:  # type: ignore[override]
        return len(self.rounds)

    @property
    def best_iteration(self) -> int:
        """With early stopping that of the highest validation value; else all trees are kept."""
        if self.settings.early_stopping is None:
            return len(self.rounds)
        return min(self._monitor.best_iteration, len(self.rounds))

    def model(self, provenance: Provenance) -> Model:
        return self.ensemble.model(self.rounds[: self.best_iteration], provenance)

    def write(self, kept: Kept, *, last: bool) -> None:
        """Append the rounds that the file lacks: all that random choices depend on is the number of a tree."""
        history = {name: values[: self.done] for name, values in self._monitor.history.items()}
        kept.write_rounds(history, self._monitor.names, self.rounds, self.ensemble.model, whole=last)

    def resume(self, model: Any, path: Any) -> int:
        model = _shortened(model, self.settings.n_trees)
        rounds = self.ensemble.rounds_of(model)
        self.running.restart(self.ensemble.outputs_of(model, self.data))
        validating = self.validating
        if validating is None:
            self._monitor.recall(model.provenance.history, {})
        else:
            passed = self.ensemble.steps(rounds, validating.data)
            self._monitor.replay(model.provenance.history, lambda: validating.restart(next(passed)))
            validating.restart(self.ensemble.outputs_of(model, validating.data))
        self.rounds = rounds
        return self.done


def _shortened(model: Any, n_trees: int) -> Any:
    """A checkpoint's model and history of at most ``n_trees`` trees."""
    if model.n_trees <= n_trees:
        return model
    history = {name: values[:n_trees] for name, values in model.provenance.history.items()}
    return dataclasses.replace(
        model.truncate(n_trees), provenance=dataclasses.replace(model.provenance, history=history)
    )
