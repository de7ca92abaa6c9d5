"""PRank: a perceptron that learns grades, one document at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from rankforce import dtypes
from rankforce.boosting.document_costs import Documents
from rankforce.console.wording import counted
from rankforce.data.dataset import MAIN_LABEL, Dataset, document_hashes
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError
from rankforce.kernels.nets.perceptron import perceptron_scores, prank_pass
from rankforce.kinds import Choice
from rankforce.measures.measure import Measure
from rankforce.memory import check_memory
from rankforce.models.net_scaling import Scaling
from rankforce.models.perceptron import KERNELS, Perceptron, n_weights, scaled
from rankforce.threads import over_pieces, over_ranges
from rankforce.training.settings import checked, label_source, measure_to_watch, number, switch, whole, with_settings
from rankforce.training.stepwise import Stepwise
from rankforce.training.usual_measure import fitting_measure, usual_measure

MOST_GRADES = 64  # more different labels are no scale of grades, and every step has a threshold
MOST_MEMBERS = 10_000  # each keeps weights of its own


@with_settings
class PRank(Stepwise):
    """Perceptron ranking (Crammer and Singer, 2002): a score and thresholds between the grades.

    Documents come one at a time, in an order drawn anew for every epoch. With grades 0 … K − 1 and thresholds
    b_0 ≤ … ≤ b_{K−2} let y_r = 1 if the grade is above r, else −1. Where (score − b_r)·y_r ≤ 0 the score is on the
    wrong side and τ_r = y_r, else τ_r = 0; then w += (Σ τ_r) φ(x) and b_r −= τ_r.

    Parameters
    ----------
    kernel : "linear" or "quadratic"
        φ(x) = x, or the features of the kernel (x·z + 1)²: all squares and products of two of (x, 1). The quadratic
        form is exact and keeps (d + 1)(d + 2)/2 weights for d features; a document costs as many multiplications,
        whatever the number of documents.
    large_margin : bool
        The average of ``n_members`` PRanks, each of which is shown every document with ``probability`` (Harrington's
        OAP-BPM, 2003): it approaches the Bayes point and has a larger margin than one of them.
    n_members, probability
        Of ``large_margin``.
    epochs : int
        Passes over the training documents. A perceptron does not settle on data that it cannot fit: give ``validation``
        to ``fit``, and the best epoch is kept.
    label : str
        The label source that is learned.
    early_stopping : int, optional
        End after this many epochs without a higher validation value.
    validation_measure : str or Measure, optional
        The ranking measure that the history and early stopping watch; default NDCG of the label, or what fits the
        labels better, as for ``MART``.
    seed, threads, progress
        As for ``LambdaMART``.

    Notes
    -----
    Features are brought to mean 0 and variance 1 (over the training documents); a missing value counts as the mean.

    A document counts query weight × document weight: the length of its steps. With equal weights the thresholds never
    cross; with others they may. Unlabelled documents and those of weight 0 are never shown.

    ``model_.predict_grades(X)`` gives the grades that the thresholds say.
    """

    WHY_ALONE: ClassVar[str] = "its weights change after a document, and the next document sees the change"
    STEP: ClassVar[str] = "epochs"

    kernel: Literal["linear", "quadratic"] = dataclasses.field(
        default="linear", kw_only=False, metadata=checked(Choice(KERNELS))
    )
    large_margin: bool = switch(False)
    n_members: int = whole(100, least=1, most=MOST_MEMBERS)
    probability: float = number(0.3, above=0.0, most=1.0)
    epochs: int = whole(20, least=1)
    label: str = label_source(MAIN_LABEL)
    validation_measure: str | Measure | None = measure_to_watch(after="early_stopping")

    model_: Perceptron = dataclasses.field(init=False)

    def _steps_name(self) -> str:
        return "epochs"

    def _learner(self, data: Dataset, held_out: Dataset | None) -> Perceptrons:
        members, probability = (self.n_members, self.probability) if self.large_margin else (1, 1.0)
        return Perceptrons(data, held_out, self.kernel, self.label, members, probability, self.seed)

    def _watched_measure(self) -> Measure:
        return usual_measure(self.validation_measure, self.label)

    def _watched_on(self, data: Dataset, held_out: Dataset | None) -> Measure:
        return fitting_measure(self.validation_measure, self.label, data, held_out)

    def _objective_name(self) -> str:
        return f"{self.kernel} PRank" + (", large margin" if self.large_margin else "")


class Perceptrons:
    """PRanks that learn from the same documents; their average is the model."""

    def __init__(
        self,
        data: Dataset,
        held_out: Dataset | None,
        kernel: str,
        label: str,
        members: int,
        probability: float,
        seed: int,
    ) -> None:
        documents = Documents(data, data.label(label), label)
        self.grades = np.unique(documents.labels[documents.active])
        if len(self.grades) < 2:
            raise DataError(f"nothing to learn from: every labelled document has the grade {self.grades[0]:g}")
        if len(self.grades) > MOST_GRADES:
            raise DataError(
                f"{len(self.grades)} different labels are too many for PRank (at most {MOST_GRADES}): round them to "
                "grades, or use MART"
            )
        _check_memory(data, held_out, kernel, members)
        self.feature_names = data.feature_names
        self.kernel = kernel
        self.quadratic = kernel == "quadratic"
        self.probability = probability
        self.seed = seed
        scaling = Scaling.of(data, "standard")
        self.means, self.deviations = scaling.centre, scaling.scale
        self.inputs = self._inputs(data)
        self.held_out_inputs = None if held_out is None else self._inputs(held_out)
        self.steps = np.searchsorted(self.grades, np.where(documents.active, documents.labels, self.grades[0]))
        self.sizes = documents.weights
        self.taking_part = np.flatnonzero(documents.active)
        self.hashes = document_hashes(data)
        self.weights = np.zeros((members, n_weights(kernel, data.n_features)))
        self.thresholds = np.zeros((members, len(self.grades) - 1))

    def _inputs(self, data: Dataset) -> np.ndarray:
        return scaled(data.by_query(data.features), self.means, self.deviations, self.kernel)

    def step(self, number: int) -> bool:
        """One epoch of every member."""
        drawn_order = Stream.DOCUMENT_ORDER.words(self.seed, number, self.hashes[self.taking_part])
        order = self.taking_part[np.argsort(drawn_order, kind="stable")]

        def learn(first: int, last: int) -> None:
            for member in range(first, last):
                shown = order
                if self.probability < 1.0:
                    draws = Stream.SHOWN_DOCUMENTS.uniform(self.seed, number, member, self.hashes[order])
                    shown = order[draws < self.probability]
                prank_pass(
                    self.inputs, self.steps, self.sizes, shown, self.quadratic, self.weights[member],
                    self.thresholds[member],
                )  # fmt: skip

        over_pieces(range(len(self.weights) + 1), learn)
        return True

    def scores(self) -> np.ndarray:
        """Of the average."""
        return self._scores(self.inputs)

    def held_out_scores(self) -> np.ndarray:
        """Of the average."""
        assert self.held_out_inputs is not None
        return self._scores(self.held_out_inputs)

    def _scores(self, inputs: np.ndarray) -> np.ndarray:
        scores = np.empty(len(inputs), dtype=dtypes.SCORE)
        weights = self.weights.mean(axis=0)
        over_ranges(len(inputs), lambda a, b: perceptron_scores(inputs, self.quadratic, weights, a, b, scores))
        return scores

    def model(self) -> Perceptron:
        """The average of all members."""
        return Perceptron(
            feature_names=self.feature_names,
            kernel=self.kernel,
            means=self.means,
            deviations=self.deviations,
            weights=self.weights.mean(axis=0),
            thresholds=self.thresholds.mean(axis=0),
            grades=self.grades,
        )

    def state(self) -> dict[str, Any]:
        """Weights and thresholds of every member; the order of documents follows from the number of the epoch."""
        return {"weights": self.weights.ravel(), "thresholds": self.thresholds.ravel()}

    def resume(self, state: Mapping[str, Any], name: str) -> None:
        """Go on from a state."""
        self.weights[:] = np.reshape(state["weights"], self.weights.shape)
        self.thresholds[:] = np.reshape(state["thresholds"], self.thresholds.shape)


def _check_memory(data: Dataset, held_out: Dataset | None, kernel: str, members: int) -> None:
    """Raise if inputs and weights cannot be had."""
    weights = n_weights(kernel, data.n_features)
    documents = data.n_documents + (0 if held_out is None else held_out.n_documents)
    held = members + 1  # and their mean
    check_memory(
        8 * weights * held + 8 * documents * data.n_features,
        f"PRank with kernel={kernel!r}",
        f"{weights:,} weights of {data.n_features:,} features × {counted(held, 'vector')} × 8 bytes, and "
        f"{documents:,} documents × {data.n_features:,} features × 8 bytes",
        "give fewer features or members, or kernel='linear'" if kernel == "quadratic" else "give fewer documents",
    )
