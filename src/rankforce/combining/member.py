"""One of the rankers that are combined."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.data.trec import read_run
from rankforce.errors import DataError, RankforceError
from rankforce.evaluation.foreign_models import ranks_documents
from rankforce.evaluation.scores import scores_of
from rankforce.importing.library_models import model_of_library
from rankforce.importing.library_objects import attribute
from rankforce.importing.recognising import load, looks_like_model, names_model_file
from rankforce.models.model import Model
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.remedies import Argument


@dataclasses.dataclass(frozen=True)
class Member:
    """A model (rankforce's or another's), a function, the name of a feature, an array of scores, or a TREC run."""

    given: Any

    @classmethod
    def of(cls, given: Any, features: Sequence[str]) -> Member:
        """The member that is meant; text that names a feature is one, whatever files there are."""
        if isinstance(given, str) and given not in features and (names_model_file(given) or os.path.isfile(given)):
            given = Path(given)
        if isinstance(given, Path):
            return cls(load(given) if looks_like_model(given) or not given.is_file() else read_run(given))
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
                "them has no meaning, and ",
                Argument("unretrieved", "raise"),
                ", the default, refuses it; ",
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
        try:
            return model_of_library(self.given)
        except RankforceError:
            return None  # its scores are known, its trees cannot be said here

    @property
    def is_array(self) -> bool:
        return not isinstance(self.given, (str, Mapping)) and not ranks_documents(self.given)
