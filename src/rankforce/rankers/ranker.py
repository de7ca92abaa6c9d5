"""What all rankers share: scikit-learn's conventions around a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from rankforce.data.dataset import Dataset
from rankforce.errors import NotFittedError
from rankforce.models.model import Model


class Ranker(BaseEstimator):
    """Base of all rankers: settings in ``__init__``, learning in ``fit``, which leaves the model in ``model_``."""

    model_: Model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} has not learned anything yet: call fit first")
        return self.model_

    def predict(self, X: Any) -> np.ndarray:
        """Scores, float64, in the order of the rows: the higher, the nearer to the top."""
        return self._fitted().predict(X)

    def rank(self, X: Any, k: int | None = None) -> Any:
        """The documents of each query by falling score, the best ``k`` of each (None: all)."""
        return self._fitted().rank(X, k)

    def save(self, path: str | Path) -> None:
        """Write the model to a file that ``rankforce.load`` reads."""
        self._fitted().save(path)

    def _note_features(self, data: Dataset) -> None:
        self.n_features_in_ = data.n_features
        self.feature_names_in_ = np.array(data.feature_names, dtype=object)
