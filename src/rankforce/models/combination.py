"""A weighted sum of models as a model."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.cached_properties import cached_property
from rankforce.errors import SettingsError
from rankforce.models.categories import categories_of_all
from rankforce.models.model import Model, frozen, places_within
from rankforce.models.provenance import Provenance


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Combination(Model):
    """Models with weights: score = w_0·s_0, + w_1·s_1, + ...: float64, in this order."""

    KIND: ClassVar[str] = "combination"

    models: tuple[Model, ...]
    weights: np.ndarray

    @classmethod
    def of(cls, models: Any, weights: Any, *, provenance: Provenance | None = None) -> Combination:
        """A weighted sum. Its features are those of the first model, then those that only later ones read."""
        names = dict.fromkeys(name for model in models for name in model.feature_names)
        return cls(
            feature_names=tuple(names),
            models=tuple(models),
            weights=weights,
            provenance=provenance or Provenance(),
            categories=categories_of_all(models),
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "models", tuple(self.models))
        object.__setattr__(self, "weights", frozen(np.asarray(self.weights), dtypes.SCORE))
        if not self.models or self.weights.shape != (len(self.models),):
            raise SettingsError(
                f"a combination needs one weight per model: {len(self.models)} models, weights {self.weights.shape}"
            )
        if not np.isfinite(self.weights).all():
            raise SettingsError("the weights of a combination must be finite numbers")
        for number, model in enumerate(self.models):
            if not isinstance(model, Model):
                raise SettingsError(f"a combination is made of models, not of {model!r}")
            self.check_member(model, f"model {number} of the combination")

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
        return weighted_sum(self.weights, [model._scores(self.part_for(model, matrix)) for model in self.models])

    def contents(self) -> dict[str, Any]:
        from rankforce.models.storage import document_of

        return {"weights": self.weights.tolist(), "models": [document_of(model) for model in self.models]}

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
