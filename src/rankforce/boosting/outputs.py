"""One or several sums of trees: who pulls at each, where each starts, and the model they become."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce import dtypes
from rankforce.data.categories import Categories
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError
from rankforce.models.expected_grade import ExpectedGrade, GradeLink
from rankforce.models.model import Model
from rankforce.models.provenance import Provenance
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.training.base_models import base_of
from rankforce.trees.grown import Grown
from rankforce.trees.tree import Tree

if TYPE_CHECKING:
    from rankforce.boosting.running_scores import RunningScores

Rounds = list[tuple[Tree, ...]]  # one tree per output and round


class Learner(abc.ABC):
    """What pulls at one output of all documents, and what a leaf makes of it.

    split : "newton" or "least_squares"
        What splits divide by: the curvatures that ``pull`` gives, or the number of documents.
    documents : int32, rising, optional
        The documents (``by_query`` order) that trees are grown on and that count in ``min_documents``; None: all.
    base_score : float
        Where the output starts, unless there is a base model.
    link : GradeLink, optional
        How several outputs become a score; None where there is one.
    settled : mapping
        Settings that were left open, as they are on this data.
    """

    split: str
    documents: np.ndarray | None = None
    base_score: float = 0.0
    link: GradeLink | None = None
    settled: Mapping[str, Any] = MappingProxyType({})

    @abc.abstractmethod
    def pull(self, running: RunningScores, iteration: int, queries: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """(forces, curvatures) for growing a tree at the current scores, in ``by_query`` order.

        ``queries``, a mask, leaves the documents of the others without either.
        """

    def why_no_split(self) -> tuple[Any, ...]:
        """If it is for want of forces or curvatures, why no leaf could be split by the last ones, in parts of a text.

        Members ask together.
        """
        return ()

    @abc.abstractmethod
    def leaf_values(self, forces: np.ndarray, curvatures: np.ndarray, grown: Grown) -> np.ndarray:
        """The step of every leaf, before the learning rate."""

    def among(self, rows: np.ndarray) -> np.ndarray:
        """Those of the documents ``rows`` (rising) that trees are grown on."""
        if self.documents is None:
            return rows
        return np.intersect1d(rows, self.documents, assume_unique=True).astype(dtypes.INDEX)


class BaseScores:
    """The scores that boosting starts from: per output a number, a model's score, or the value of a feature."""

    def __init__(self, models: Sequence[Model | str | None], constants: Sequence[float]) -> None:
        self.models = tuple(models)
        self.constants = tuple(constants)

    @classmethod
    def of_outputs(cls, base: Any, learners: Sequence[Learner]) -> BaseScores:
        """From the setting ``base_model``; the learners' constants serve where it is None."""
        base = base_of(base)
        if base is None:
            return cls([None] * len(learners), [learner.base_score for learner in learners])
        link = learners[0].link
        if link is None:
            return cls([base], [0.0])
        if isinstance(base, ExpectedGrade) and _alike(base.link, link):
            return cls(base.members, [0.0] * len(learners))
        raise SettingsError(
            f"grades are learned with {len(learners)} outputs: base_model must be a model that was learned with the "
            f"same cost, sigma and grades, not {base!r}"
        )

    def of(self, data: Dataset) -> np.ndarray:
        """One score per output and row: float64 (outputs, documents)."""
        scores = np.empty((len(self.models), data.n_documents), dtype=dtypes.SCORE)
        for output, model, constant in zip(scores, self.models, self.constants, strict=True):
            if isinstance(model, str):
                if model not in data.feature_names:
                    raise SettingsError(
                        f"base_model: the data has no feature {model!r} to start from, and the name of a model file "
                        "ends in .json (any other is given as a pathlib.Path)"
                    )
                if model in data.categories:
                    raise SettingsError(f"base_model: feature {model!r} has categories, which are no scores")
                output[:] = data.features[:, data.feature_place(model)]
                missing = np.flatnonzero(np.isnan(output))
                if len(missing):
                    raise DataError(
                        f"feature {model!r} of row {missing[0]} is missing, but scores start from it: fill it in"
                    )
            else:
                output[:] = constant if model is None else model.predict(data)
        return scores


@dataclasses.dataclass(frozen=True)
class Ensemble:
    """How rounds of trees become a model, and a model becomes rounds of trees again."""

    feature_names: tuple[str, ...]
    bases: BaseScores
    link: GradeLink | None
    categories: Categories

    def model(self, rounds: Sequence[tuple[Tree, ...]], provenance: Provenance) -> Model:
        """The model of these rounds."""
        outputs = zip(*rounds, strict=True) if rounds else ((),) * len(self.bases.models)
        inner = provenance if self.link is None else Provenance()
        members = [
            TreeEnsemble.from_trees(
                trees,
                self.feature_names,
                base_model=base,
                base_score=constant,
                provenance=inner,
                categories=self.categories,
            )
            for trees, base, constant in zip(outputs, self.bases.models, self.bases.constants, strict=True)
        ]
        if self.link is None:
            return members[0]
        return ExpectedGrade(
            feature_names=self.feature_names,
            link=self.link,
            members=tuple(members),
            provenance=provenance,
            categories=self.categories,
        )

    def rounds_of(self, model: Any) -> Rounds:
        """The inverse of ``model``."""
        members = [model] if self.link is None else model.members
        return list(zip(*(member.trees for member in members), strict=True))

    def steps(self, rounds: Rounds, data: Dataset) -> Iterator[np.ndarray]:
        """What the first round gives, the first two, and so on: float64 (outputs, documents), by row."""
        outputs = self.bases.of(data)
        for trees in rounds:
            for output, tree in zip(outputs, trees, strict=True):
                alone = TreeEnsemble.from_trees([tree], self.feature_names, categories=self.categories)
                output += alone.predict(data)
            yield outputs

    def outputs_of(self, model: Any, data: Dataset) -> np.ndarray:
        """What such a model gives: float64 (outputs, documents)."""
        return np.asarray(model.predict(data)[None] if self.link is None else model.outputs(data))


def _alike(one: GradeLink, other: GradeLink) -> bool:
    return one.kind == other.kind and one.sigma == other.sigma and np.array_equal(one.grades, other.grades)
