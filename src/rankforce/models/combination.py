"""A weighted sum of models as a model."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.errors import SettingsError
from rankforce.models.model import frozen
from rankforce.models.of_models import ModelOfModels, fields_around
from rankforce.models.provenance import Provenance


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Combination(ModelOfModels):
    """Models with weights: score = w_0·s_0, + w_1·s_1, + ...: float64, in this order."""

    KIND: ClassVar[str] = "combination"
    WHOLE: ClassVar[str] = "a combination"

    weights: np.ndarray

    @classmethod
    def of(cls, models: Any, weights: Any, *, provenance: Provenance | None = None) -> Combination:
        """A weighted sum. Its features are those of the first model, then those that only later ones read."""
        return cls(**fields_around(models, provenance), weights=weights)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "weights", frozen(np.asarray(self.weights), dtypes.SCORE))
        if self.weights.shape != (len(self.models),):
            raise SettingsError(
                f"a combination needs one weight per model: {len(self.models)} models, weights {self.weights.shape}"
            )
        if not np.isfinite(self.weights).all():
            raise SettingsError("the weights of a combination must be finite numbers")

    def _scores(self, matrix: np.ndarray) -> np.ndarray:
        return weighted_sum(self.weights, list(self.scores_of_members(matrix)))

    def contents(self) -> dict[str, Any]:
        return {"weights": self.weights.tolist(), **super().contents()}

    @classmethod
    def from_contents(cls, contents: Any, feature_names: tuple[str, ...], provenance: Provenance) -> Combination:
        return cls(
            feature_names=feature_names,
            provenance=provenance,
            categories=contents.categories,
            models=contents.models("models"),
            weights=contents.array("weights", dtypes.SCORE),
        )

    def __repr__(self) -> str:
        return f"Combination({len(self.models)} models, weights {[float(f'{w:.4g}') for w in self.weights]})"


def weighted_sum(weights: Any, scores: Any) -> np.ndarray:
    """w_0·s_0, + w_1·s_1, + ...: every place that combines scores rounds in this order."""
    total = np.zeros(len(scores[0]), dtype=dtypes.SCORE)
    for weight, of_one in zip(weights, scores, strict=True):
        total += weight * of_one
    return total
