"""The average of several models as a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.cached_properties import cached_property
from rankforce.console.wording import counted
from rankforce.errors import SettingsError
from rankforce.models.categories import categories_of_all
from rankforce.models.model import Model, places_within
from rankforce.models.provenance import Provenance


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Bagged(Model):
    """Models trained on different samples of the data: score = (s_0 + s_1 + ...) / number of models."""

    KIND: ClassVar[str] = "bagged"

    models: tuple[Model, ...]

    @classmethod
    def of(cls, *models: Model, provenance: Provenance | None = None) -> Bagged:
        """The average of models. Its features are those of the first, then those that only later ones read."""
        names = dict.fromkeys(name for model in models for name in model.feature_names)
        return cls(
            feature_names=tuple(names),
            models=models,
            provenance=provenance or Provenance(),
            categories=categories_of_all(models),
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "models", tuple(self.models))
        if not self.models:
            raise SettingsError("an average needs at least one model")
        for number, model in enumerate(self.models):
            if not isinstance(model, Model):
                raise SettingsError(f"an average is made of models, not of {model!r}")
            self.check_member(model, f"model {number} of the average")

    @cached_property
    def unnamed_categories(self) -> frozenset[int]:
        return places_within(self, self.models)

    def threshold_tests(self) -> Iterator[tuple[str, np.ndarray]]:
        for model in self.models:
            yield from model.threshold_tests()

    def category_tests(self) -> Iterator[tuple[str, np.ndarray]]:
        for model in self.models:
            yield from model.category_tests()

    def _scores(self, matrix: np.ndarray) -> np.ndarray:
        total = np.zeros(len(matrix), dtype=dtypes.SCORE)
        for model in self.models:
            total += model._scores(self.part_for(model, matrix))
        return total / len(self.models)

    def contents(self) -> dict[str, Any]:
        from rankforce.models.storage import document_of

        return {"models": [document_of(model) for model in self.models]}

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
