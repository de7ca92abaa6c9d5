"""Costs of single documents: how MART's trees are pulled, output by output.

All are sums over the documents with a label and a positive weight (query weight × document weight). The others take
part in nothing: no force, no curvature, no count in ``min_documents``; they only get scores.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.boosting.outputs import Learner
from rankforce.boosting.running_scores import RunningScores
from rankforce.collective import alone, anybody, everybody, exact_total
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError
from rankforce.models.expected_grade import GradeLink, logistic
from rankforce.remedies import NAME_ALONE, Setting
from rankforce.trees.grown import Grown
from rankforce.trees.leaves import leaf_sums
from rankforce.written_forms import name_of


class Documents:
    """Labels and weights of the documents that a cost sees, in ``by_query`` order.

    ``weights`` is query weight × document weight, and 0 for an unlabelled document.
    """

    def __init__(self, data: Dataset, labels: np.ndarray, source: str) -> None:
        self.data = data
        self.labels = data.by_query(labels)
        weights = np.ones(data.n_documents) if data.weights is None else data.by_query(data.weights)
        if data.query_weights is not None:
            weights = weights * np.repeat(data.query_weights, data.query_sizes)
        self.weights = np.where(np.isnan(self.labels), 0.0, weights)
        self.active = self.weights > 0
        if not anybody(bool(self.active.any())):
            raise DataError(f"nothing to learn from: no document with a weight has a label {source!r}")
        everyone = everybody(bool(self.active.all()))
        self.places = None if everyone else np.flatnonzero(self.active).astype(dtypes.INDEX)
        self.equal_weights = everybody(bool((self.weights[self.active] == 1.0).all()))

    def total(self, values: np.ndarray) -> float:
        """Σ weight × value over the documents that take part, whatever their order."""
        try:
            return exact_total((self.weights * values)[self.active])
        except OverflowError:
            raise DataError("labels times weights add up beyond all numbers: divide them by the largest") from None

    def weights_in(self, queries: np.ndarray | None) -> np.ndarray:
        """The weights, 0 outside the queries of a mask."""
        return self.weights if queries is None else self.weights * np.repeat(queries, self.data.query_sizes)


class DocumentPull(Learner):
    """A cost of single documents as boosting sees it.

    A subclass gives ``at``: force f and curvature c of every document. With weights w a split by least squares gains
    (Σwf)²/(Σw + l2) on both sides, one by Newton (Σwf)²/(Σwc + l2); the value of a leaf is Σwf/(Σwc + l2), kept in
    ±``longest_step``, and 0 where nothing curves.
    """

    def __init__(
        self, documents: Documents, *, split: str, l2: float, longest_step: float = math.inf, base_score: float = 0.0
    ) -> None:
        self.taking_part = documents
        self.documents = documents.places
        # Counting documents is exact; their weights are summed as curvatures are.
        self.split = "least_squares" if split == "least_squares" and documents.equal_weights else "newton"
        self.split_by_curvature = split == "newton"
        self.l2 = l2
        self.longest_step = longest_step
        self.base_score = base_score

    @abc.abstractmethod
    def at(self, running: RunningScores, iteration: int) -> tuple[np.ndarray, np.ndarray | float]:
        """(forces, curvatures) of every document; what stands at an unlabelled one is ignored."""

    def pull(self, running: RunningScores, iteration: int, queries: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Weighted forces, and what a split divides by."""
        forces, curvatures = self.at(running, iteration)
        weights = self.taking_part.weights_in(queries)
        inside = weights > 0
        self._curvatures = np.where(inside, weights * curvatures, 0.0)
        return np.where(inside, weights * forces, 0.0), self._curvatures if self.split_by_curvature else weights

    def leaf_values(self, forces: np.ndarray, curvatures: np.ndarray, grown: Grown) -> np.ndarray:
        """Σwf/(Σwc + l2) per leaf."""
        pull, curvature = leaf_sums(grown.leaf_of, grown.structure.n_leaves, forces, self._curvatures)
        curvature += self.l2
        step = np.divide(pull, curvature, out=np.zeros_like(pull), where=curvature > 0.0)
        return np.clip(step, -self.longest_step, self.longest_step)


class RegressionPull(DocumentPull):
    """Least squares, C = ½(t − F)²: force t − F, curvature 1. Starts at the mean target."""

    def __init__(self, documents: Documents, targets: np.ndarray, **options: Any) -> None:
        base_score = documents.total(targets) / documents.total(np.ones(len(targets)))
        super().__init__(documents, base_score=base_score, **options)
        self.targets = targets

    def at(self, running: RunningScores, iteration: int) -> tuple[np.ndarray, float]:
        return self.targets - running.outputs[0], 1.0


class BinaryPull(DocumentPull):
    """Classification with y = ±1, C = log(1 + e^{−2σyF}).

    Force ȳ = 2yσ/(1 + e^{2yσF}), curvature |ȳ|(2σ − |ȳ|). Starts at the log-odds of the classes over 2σ. ``balanced``
    gives both classes the same weight: force and curvature are multiplied by v = (n/2)(I₊/n₊ + I₋/n₋) (the factor n/2,
    which makes the mean of v 1, changes no tree), and F starts at 0; least squares then fits ȳv, all documents alike.
    """

    def __init__(
        self,
        documents: Documents,
        positive: np.ndarray,
        *,
        sigma: float,
        output: int = 0,
        balanced: bool = False,
        link: GradeLink | None = None,
        **options: Any,
    ) -> None:
        above, below = documents.total(positive), documents.total(~positive)
        if above == 0 or below == 0:
            raise DataError(
                f"nothing to learn from: every labelled document is {'not relevant' if above == 0 else 'relevant'}; "
                "the least label of a relevant document is ",
                Setting("relevant"),
            )
        start = 0.0 if balanced else math.log(above / below) / (2.0 * sigma)
        super().__init__(documents, base_score=start, **options)
        self.sign = np.where(positive, 1.0, -1.0)
        half = (above + below) / 2.0
        self.emphasis: np.ndarray | float = np.where(positive, half / above, half / below) if balanced else 1.0
        self.sigma = sigma
        self.output = output
        self.link = link

    def at(self, running: RunningScores, iteration: int) -> tuple[np.ndarray, np.ndarray]:
        size = 2.0 * self.sigma * logistic(-2.0 * self.sigma * self.sign * running.outputs[self.output])
        return self.emphasis * self.sign * size, self.emphasis * size * (2.0 * self.sigma - size)


class ClassProbabilities:
    """P(grade) of every document by the softmax of all outputs, computed once per round for all of them."""

    def __init__(self) -> None:
        self._iteration = -1
        self._probabilities = np.empty((0, 0))

    def at(self, running: RunningScores, iteration: int) -> np.ndarray:
        """float64 (grades, documents)."""
        if iteration != self._iteration:
            assert running.link is not None
            self._probabilities = np.ascontiguousarray(running.link.probabilities(running.outputs).T)
            self._iteration = iteration
        return self._probabilities


class ClassPull(DocumentPull):
    """One of K classes, C = −log p_y with the softmax p of K outputs.

    Force r = 1[y = k] − p_k; a leaf's value is ((K − 1)/K) Σr / Σ|r|(1 − |r|). Starts at log of the class's share.
    """

    def __init__(
        self, documents: Documents, mine: np.ndarray, output: int, link: GradeLink, shared: ClassProbabilities,
        **options: Any,
    ) -> None:  # fmt: skip
        share = documents.total(mine) / documents.total(np.ones(len(mine)))
        super().__init__(documents, base_score=math.log(share), **options)
        self.mine = mine.astype(np.float64)
        self.output = output
        self.link = link
        self.factor = link.n_outputs / (link.n_outputs - 1)
        self.shared = shared

    def at(self, running: RunningScores, iteration: int) -> tuple[np.ndarray, np.ndarray]:
        residual = self.mine - self.shared.at(running, iteration)[self.output]
        size = np.abs(residual)
        return residual, self.factor * size * (1.0 - size)


def grade_pulls(documents: Documents, link: GradeLink, options: dict[str, Any], longest: float) -> Sequence[Learner]:
    """The learners of multiclass (softmax) or ordinal classification, one per output."""
    if link.kind == "softmax":
        shared = ClassProbabilities()
        return [
            ClassPull(documents, documents.labels == grade, place, link, shared, longest_step=longest, **options)
            for place, grade in enumerate(link.grades)
        ]
    longest /= link.sigma
    return [
        BinaryPull(
            documents, documents.labels > grade, sigma=link.sigma, output=place, link=link, longest_step=longest,
            **options,
        )
        for place, grade in enumerate(link.grades[:-1])
    ]  # fmt: skip


class OwnPull(DocumentPull):
    """A cost that the user gives: see ``MART``."""

    def __init__(self, documents: Documents, cost: Any, labels: np.ndarray, **options: Any) -> None:
        start = 0.0
        if hasattr(cost, "start"):
            if not alone():
                raise SettingsError(
                    f"{name_of(cost)}.start sees all labels at once, and several train together, each with labels of "
                    "its own: leave it out, or let a ",
                    Setting("base_model", NAME_ALONE),
                    " give where scores start from",
                )
            weights = documents.data.by_row(documents.weights)
            start = float(cost.start(labels, weights))
            if not math.isfinite(start):
                raise SettingsError(f"{name_of(cost)}.start must return a finite number, not {start}")
        super().__init__(documents, base_score=start, **options)
        self.name = name_of(cost)
        self.function = cost.pull if hasattr(cost, "pull") else cost
        self.labels = labels  # by row: users know no other order

    def at(self, running: RunningScores, iteration: int) -> tuple[np.ndarray, np.ndarray | float]:
        data = self.taking_part.data
        scores = data.by_row(running.scores).copy()
        answer = self.function(scores, self.labels, data)
        if not isinstance(answer, tuple):
            return self._checked(answer, "forces"), self._without_curvature()
        if len(answer) != 2:
            raise SettingsError(f"{self.name} must return forces or (forces, curvatures), not {len(answer)} arrays")
        curvatures = self._checked(answer[1], "curvatures")
        if (curvatures < 0).any():
            raise SettingsError(f"{self.name} returned a negative curvature: Newton's step needs curvatures >= 0")
        return self._checked(answer[0], "forces"), curvatures

    def _without_curvature(self) -> float:
        if self.split_by_curvature:
            raise SettingsError(
                f"{self.name} returns no curvatures: use ",
                Setting("split", "least_squares"),
                ", without ",
                Setting("monotone", NAME_ALONE),
            )
        return 1.0

    def _checked(self, values: Any, what: str) -> np.ndarray:
        """Values by row as an array in ``by_query`` order, 0 at documents that do not take part."""
        try:
            array = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise SettingsError(f"{self.name} must return arrays of numbers") from None
        n = self.taking_part.data.n_documents
        if array.shape != (n,):
            raise SettingsError(f"{self.name} must return one number per document ({n}): {what} of shape {array.shape}")
        array = np.where(self.taking_part.active, self.taking_part.data.by_query(array), 0.0)
        if not np.isfinite(array).all():
            raise SettingsError(f"{self.name} returned {what} that are not finite")
        return array
