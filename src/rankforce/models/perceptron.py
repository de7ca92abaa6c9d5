"""A linear or quadratic function of scaled features, with thresholds between grades: what PRank yields."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.console.wording import counted
from rankforce.errors import DataError
from rankforce.models.model import Model, frozen
from rankforce.models.provenance import Provenance

KERNELS = ("linear", "quadratic")


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Perceptron(Model):
    """Score = w·x for ``kernel="linear"``, Σ_{i≤j} w_ij z_i z_j with z = (x, 1) for ``"quadratic"``.

    x are the features less ``means``, divided by ``deviations``; a missing value counts as the mean. The quadratic
    weights stand row by row (i, then j from i on). A document belongs to ``grades[k]`` if its score lies above exactly
    k of the ``thresholds``.
    """

    KIND: ClassVar[str] = "perceptron"

    kernel: str
    means: np.ndarray
    deviations: np.ndarray
    weights: np.ndarray
    thresholds: np.ndarray
    grades: np.ndarray

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("means", "deviations", "weights", "thresholds", "grades"):
            values = frozen(getattr(self, name), np.float64)
            object.__setattr__(self, name, values)
            if values.ndim != 1 or not np.isfinite(values).all():
                raise DataError(f"the {name} of a perceptron must be finite numbers")
        if self.kernel not in KERNELS:
            raise DataError(f"the kernel of a perceptron is one of {', '.join(map(repr, KERNELS))}: {self.kernel!r}")
        wanted = n_weights(self.kernel, self.n_features)
        if not len(self.means) == len(self.deviations) == self.n_features or len(self.weights) != wanted:
            raise DataError(
                f"a {self.kernel} perceptron of {self.n_features} features has as many means and deviations "
                f"and {wanted} weights"
            )
        if (self.deviations <= 0).any():
            raise DataError("the deviations of a perceptron must be positive")
        if len(self.thresholds) != len(self.grades) - 1 or (np.diff(self.grades) <= 0).any():
            raise DataError("grades must rise, with one threshold between each two of them")

    def predict_grades(self, data: Any) -> np.ndarray:
        """The grade of every document, float64: how many thresholds its score lies above."""
        above = self.predict(data)[:, None] > self.thresholds
        return np.asarray(self.grades[above.sum(axis=1)])

    def _scores(self, matrix: np.ndarray) -> np.ndarray:
        inputs = scaled(matrix, self.means, self.deviations, self.kernel)
        scores = np.zeros(len(inputs), dtype=dtypes.SCORE)
        if self.kernel == "linear":
            for i, weight in enumerate(self.weights):  # in a fixed order: a score does not depend on its neighbours
                scores += weight * inputs[:, i]
            return scores
        place = 0
        for i in range(inputs.shape[1]):
            inner = np.zeros_like(scores)
            for j in range(i, inputs.shape[1]):
                inner += self.weights[place] * inputs[:, j]
                place += 1
            scores += inner * inputs[:, i]
        return scores

    def contents(self) -> dict[str, Any]:
        arrays = ("means", "deviations", "weights", "thresholds", "grades")
        return {"kernel": self.kernel, **{name: getattr(self, name).tolist() for name in arrays}}

    @classmethod
    def from_contents(cls, contents: Any, feature_names: tuple[str, ...], provenance: Provenance) -> Perceptron:
        names = ("means", "deviations", "weights", "thresholds", "grades")
        arrays: dict[str, Any] = {name: np.array(contents.numbers(name)) for name in names}
        return cls(feature_names=feature_names, provenance=provenance, kernel=contents.text("kernel"), **arrays)

    def __repr__(self) -> str:
        return f"Perceptron({self.kernel}, {counted(self.n_features, 'feature')}, {counted(len(self.grades), 'grade')})"


def n_weights(kernel: str, n_features: int) -> int:
    """How many weights a function of this many features has."""
    return n_features if kernel == "linear" else (n_features + 1) * (n_features + 2) // 2


def scaled(matrix: np.ndarray, means: np.ndarray, deviations: np.ndarray, kernel: str) -> np.ndarray:
    """The inputs of a perceptron: float64 (documents, features), and for the quadratic kernel a column of ones."""
    inputs = np.ones((len(matrix), matrix.shape[1] + (kernel == "quadratic")))
    inputs[:, : matrix.shape[1]] = (matrix - means) / deviations
    inputs[np.isnan(inputs)] = 0.0
    return inputs
