"""One of the rankers that are combined."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import DataError
from rankforce.evaluation.foreign_models import attribute, ranks_documents
from rankforce.evaluation.scores import scores_of
from rankforce.importing.recognising import load, names_model_file
from rankforce.models.model import Model
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.remedies import Argument


@dataclasses.dataclass(frozen=True)
class Member:
    """A model (rankforce's or another's), a function, the name of a feature, or an array of scores."""

    given: Any

    @classmethod
    def of(cls, given: Any) -> Member:
        if isinstance(given, Path) or (isinstance(given, str) and names_model_file(given)):
            return cls(load(given))
        learned = attribute(given, "model_")  # of a ranker
        return cls(learned if isinstance(learned, Model) else given)

    def scores(self, data: Dataset, name: str, unretrieved: str) -> np.ndarray:
        """Finite scores in ``by_query`` order."""
        try:
            scores = scores_of(self.given, data)
        except DataError as error:
            raise DataError(f"{name}: ", *error.args) from None
        missing = np.flatnonzero(scores == -np.inf)
        if not len(missing):
            return scores
        if unretrieved == "raise":
            row = int(data.rows[missing[0]])
            raise DataError(
                f"{name} did not retrieve {len(missing):,} documents (score -inf), the first in row {row}: a sum with "
                "them has no meaning. ",
                Argument("unretrieved", "lowest"),
                " gives them its lowest score of the query",
            )
        lowest = np.minimum.reduceat(np.where(scores == -np.inf, np.inf, scores), data.query_starts[:-1])
        lowest = np.where(np.isfinite(lowest), lowest, 0.0)
        return np.where(scores == -np.inf, np.repeat(lowest, data.query_sizes), scores)

    def model(self, data: Dataset) -> Model | None:
        if isinstance(self.given, Model):
            return self.given
        if isinstance(self.given, str):
            return TreeEnsemble.from_trees([], data.feature_names, base_model=self.given, categories=data.categories)
        return None

    @property
    def is_array(self) -> bool:
        return not isinstance(self.given, str) and not ranks_documents(self.given)
