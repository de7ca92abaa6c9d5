"""The average of several models as a model."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.console.wording import counted
from rankforce.models.model import Model
from rankforce.models.of_models import ModelOfModels, fields_around
from rankforce.models.provenance import Provenance


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Bagged(ModelOfModels):
    """Models trained on different samples of the data: score = (s_0 + s_1 + ...) / number of models."""

    KIND: ClassVar[str] = "bagged"
    WHOLE: ClassVar[str] = "an average"

    @classmethod
    def of(cls, *models: Model, provenance: Provenance | None = None) -> Bagged:
        """The average of models. Its features are those of the first, then those that only later ones read."""
        return cls(**fields_around(models, provenance))

    def _scores(self, matrix: np.ndarray) -> np.ndarray:
        total = np.zeros(len(matrix), dtype=dtypes.SCORE)
        for scores in self.scores_of_members(matrix):
            total += scores
        return total / len(self.models)

    @classmethod
    def from_contents(cls, contents: Any, feature_names: tuple[str, ...], provenance: Provenance) -> Bagged:
        return cls(
            feature_names=feature_names,
            provenance=provenance,
            models=contents.models("models"),
            categories=contents.categories,
        )

    def __repr__(self) -> str:
        return f"Bagged({counted(len(self.models), 'model')}, {counted(self.n_features, 'feature')})"
