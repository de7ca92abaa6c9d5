"""The forces of LambdaMART as boosting sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from rankforce import dtypes
from rankforce.boosting.finite_forces import check_finite
from rankforce.boosting.outputs import Learner
from rankforce.boosting.running_scores import RunningScores
from rankforce.boosting.settled import SettledLambdas
from rankforce.collective import anybody, everybody, total
from rankforce.data.dataset import Dataset
from rankforce.data.preferences import Preferences
from rankforce.errors import DataError
from rankforce.forces.anchor import Anchor
from rankforce.forces.forces import Forces, TermForces
from rankforce.forces.no_forces import why_no_forces
from rankforce.forces.preference_forces import PreferenceForces
from rankforce.forces.trained_forces import TrainedForces, springs_on
from rankforce.measures.mean import weights_of_queries
from rankforce.objectives.objective import Pairs
from rankforce.remedies import Setting
from rankforce.training.monitoring import Instrument, show_forces
from rankforce.trees.grown import Grown
from rankforce.trees.leaves import leaf_sums


class LambdaSettings(Protocol):
    """What a learner reads of LambdaMART's settings that nobody leaves open."""

    l2: float
    sigma: float
    pairs: Any
    seed: int


class LambdaLearner(Learner):
    """The forces of an objective as boosting sees them, and the value of a leaf."""

    def __init__(
        self,
        data: Dataset,
        settled: SettledLambdas,
        settings: LambdaSettings,
        preferences: Preferences | None = None,
        share: float = 1.0,
        instruments: Sequence[Instrument] = (),
    ) -> None:
        self.data = data
        self.objective = settled.objective
        self.instruments = instruments
        self.newton = settled.step == "newton"
        self.split_by_curvature = settled.split == "newton"
        weighed = self.newton and self.split_by_curvature  # by curvatures, which have the weights in them
        self.weights = None if weighed else _weights_of_documents(data)
        # Counting documents is exact; their weights are summed as curvatures are.
        self.split = settled.split if self.weights is None else "newton"
        self.l2 = settings.l2
        self.longest_step = settled.max_step / settings.sigma
        self.documents = _documents_with_weight(data)
        self.forces = _forces(data, settled, settings, preferences, share)
        if total(self.forces.n_pairs) == 0:
            raise DataError(
                "nothing to learn from: no query has two documents with different labels "
                f"({', '.join(sorted({term.measure.label for term in settled.objective.terms}))})"
            )
        self.anchor: Anchor | None = None
        if settled.anchor > 0.0:
            assert isinstance(self.forces, Forces)  # preferences have none
            in_words = str(settled.objective)
            self.anchor = springs_on(
                data, self.forces, settled.anchor, settings.sigma, settings.seed,
                lambda forces, curvatures: check_finite(
                    settings, in_words, data, forces, curvatures, "at equal scores"
                ),
            )  # fmt: skip
        self.trained = TrainedForces(
            objective=settled.objective if self.terms else None,
            lambda_function=settled.lambda_function,
            pairs=Pairs.read(settings.pairs),
            normalise=settled.normalise,
            anchor=settled.anchor,
            sigma=settings.sigma,
            seed=settings.seed,
            ranker=type(settings).__name__,
        )
        self.settled = {"anchor": settled.anchor} | self.trained.setting()
        show_forces(instruments, self.trained)

    @property
    def terms(self) -> list[TermForces]:
        """The terms of the objective; none where preferences alone pull."""
        graded = self.forces.objective if isinstance(self.forces, PreferenceForces) else self.forces
        return [] if graded is None else graded.terms

    def pull(self, running: RunningScores, iteration: int, queries: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Forces at the current scores, and what a split divides by: curvatures, or what documents count."""
        running.show(self.instruments, iteration)
        forces, self._curvatures = self.forces.at(running.scores, running.order, iteration, queries)
        if self.anchor is not None:
            self.anchor.add(running.scores, queries, forces, self._curvatures)
        if self.weights is None:
            return forces, self._curvatures
        self._counted = self.weights if queries is None else self.weights * np.repeat(queries, self.data.query_sizes)
        return forces, self._curvatures if self.split_by_curvature else self._counted

    def why_no_split(self) -> tuple[Any, ...]:
        """Nothing pulls; or, for Newton's step, nothing curves."""
        if not anybody(bool(self.forces.forces.any())):
            return (why_no_forces(self.objective, self.data),) if self.terms else ()
        if self.newton and not anybody(bool(self._curvatures.any())):
            named = " and ".join(sorted({str(term.lambda_function) for term in self.terms}))
            return f"{named} gives the curvature 0, which Newton's step divides by: use ", Setting("step", "gradient")
        return ()

    def leaf_values(self, forces: np.ndarray, curvatures: np.ndarray, grown: Grown) -> np.ndarray:
        """γ per leaf: Newton's step Σλ/(Σw + l2), bounded, 0 where nothing curves; or the mean λ, by query weights."""
        leaf_of, n_leaves = grown.leaf_of, grown.structure.n_leaves
        if not self.newton:
            if self.weights is None:
                (pull,) = leaf_sums(leaf_of, n_leaves, forces)
                return pull / np.maximum(grown.structure.leaf_documents, 1)
            pull, counted = leaf_sums(leaf_of, n_leaves, forces, self._counted)
            return np.divide(pull, counted, out=np.zeros_like(pull), where=counted > 0.0)
        pull, curvature = leaf_sums(leaf_of, n_leaves, forces, self._curvatures)
        curvature += self.l2
        step = np.divide(pull, curvature, out=np.zeros_like(pull), where=curvature > 0.0)
        return np.clip(step, -self.longest_step, self.longest_step)


def _weights(data: Dataset) -> np.ndarray:
    """What each document counts: its own weight times that of its query; both are in its force."""
    of_queries = np.repeat(weights_of_queries(data), data.query_sizes)
    return of_queries if data.weights is None else of_queries * data.by_query(data.weights)


def _weights_of_documents(data: Dataset) -> np.ndarray | None:
    """The weight of each document; None: all are 1, or 0, which take no part."""
    weights = _weights(data)
    return None if everybody(bool(np.isin(weights, (0.0, 1.0)).all())) else weights


def _documents_with_weight(data: Dataset) -> np.ndarray | None:
    """The documents with a weight; None: all. The others pull nowhere, and would thin out the mean λ."""
    weighs = _weights(data) > 0.0
    return None if everybody(bool(weighs.all())) else np.flatnonzero(weighs).astype(dtypes.INDEX)


def _forces(
    data: Dataset, settled: SettledLambdas, settings: LambdaSettings, preferences: Preferences | None, share: float
) -> Forces | PreferenceForces:
    graded = None
    if preferences is None or share < 1:
        graded = Forces(data, settled.objective, settings.seed, normalise=settled.normalise)
    if preferences is None:
        assert graded is not None
        return graded
    if not anybody(bool(preferences.weight.any())):
        raise DataError("nothing to learn from: every preference has the weight 0")
    return PreferenceForces(
        preferences, sigma=settings.sigma, share=share, objective=graded, normalise=settled.normalise
    )
