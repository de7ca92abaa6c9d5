"""How much of what a model looks at it has not seen in training: a quick look, for a warning."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce.drifting.feature_weights import feature_weights
from rankforce.models.model import Model
from rankforce.models.provenance import ROWS_AT_A_TIME

MUCH = 0.05


@dataclasses.dataclass(frozen=True)
class UnseenValues:
    """Values beyond the range of the training data, and missing ones of features that were never missing.

    share : of all values, features by their weight in the model
    feature, documents : the feature that most of it is of, and the share of documents concerned
    """

    share: float
    feature: str
    documents: float

    @property
    def many(self) -> bool:
        return self.share > MUCH

    def __str__(self) -> str:
        return (
            f"{100.0 * self.share:.0f} % of what the model looks at is beyond what it saw in training "
            f"(most in {self.feature}: {100.0 * self.documents:.0f} % of the documents)"
        )


def unseen_values(model: Model, matrix: np.ndarray) -> UnseenValues | None:
    """Of a matrix as ``model.matrix`` returns it; None where the model does not say what it was trained on."""
    provenance = model.provenance
    if len(provenance.feature_lows) != model.n_features or not len(matrix):
        return None
    lows, highs = (np.array(ends) for ends in (provenance.feature_lows, provenance.feature_highs))
    never_missing = np.array(provenance.missing_shares) == 0.0
    without_values = np.isnan(lows)
    lows, highs = np.where(without_values, np.inf, lows), np.where(without_values, -np.inf, highs)
    unseen = np.zeros(model.n_features, dtype=np.int64)
    for first in range(0, len(matrix), ROWS_AT_A_TIME):
        rows = matrix[first : first + ROWS_AT_A_TIME]
        outside = (rows < lows) | (rows > highs) | (np.isnan(rows) & never_missing)
        unseen += np.count_nonzero(outside, axis=0)
    shares = unseen / len(matrix)
    if not shares.any():
        return UnseenValues(0.0, model.feature_names[0], 0.0)
    weights, _ = feature_weights(model, provenance.known_data, highs)
    weighed = shares * weights / (weights.sum() or 1.0)
    most = int(np.argmax(weighed))
    return UnseenValues(float(weighed.sum()), model.feature_names[most], float(shares[most]))
