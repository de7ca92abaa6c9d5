"""What models made of models share: their members, and which of a document's features each reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.errors import SettingsError
from rankforce.models.categories import categories_of_all
from rankforce.models.model import Model, places_within
from rankforce.models.provenance import Provenance


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ModelOfModels(Model):
    """Base of models whose score is made of the scores of others."""

    WHOLE: ClassVar[str]  # what the members make together, in words

    models: tuple[Model, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "models", tuple(self.models))
        if not self.models:
            raise SettingsError(f"{self.WHOLE} needs at least one model")
        for number, model in enumerate(self.models):
            if not isinstance(model, Model):
                raise SettingsError(f"{self.WHOLE} is made of models, not of {model!r}")
            self.check_member(model, f"model {number} of {self.WHOLE}")

    @cached_property
    def unnamed_categories(self) -> frozenset[int]:
        return places_within(self, self.models)

    def threshold_tests(self) -> Iterator[tuple[str, np.ndarray]]:
        for model in self.models:
            yield from model.threshold_tests()

    def category_tests(self) -> Iterator[tuple[str, np.ndarray]]:
        for model in self.models:
            yield from model.category_tests()

    def scores_of_members(self, matrix: np.ndarray) -> Iterator[np.ndarray]:
        """The scores that each member gives to the documents of a matrix with this model's features, one by one."""
        for model in self.models:
            yield model._scores(self.part_for(model, matrix))

    def contents(self) -> dict[str, Any]:
        from rankforce.models.storage import document_of

        return {"models": [document_of(model) for model in self.models]}


def fields_around(models: Iterable[Model], provenance: Provenance | None) -> dict[str, Any]:
    """Fields of a model around models: its features are those of the first, then those that only later ones read."""
    models = tuple(models)
    names = dict.fromkeys(name for model in models for name in model.feature_names)
    return {
        "feature_names": tuple(names),
        "models": models,
        "provenance": provenance or Provenance(),
        "categories": categories_of_all(models),
    }
