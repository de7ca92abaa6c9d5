"""How much of a model each feature is: by what the model holds, for data without labels."""

from __future__ import annotations

import math

import numpy as np

from rankforce import dtypes
from rankforce.data.distributions import Distribution, KnownData
from rankforce.explaining.attribution import members_of
from rankforce.explaining.place_changes import Readers
from rankforce.models.model import Model

GAIN, MOVES, EQUALLY = "share of the gain", "how far it moves the score", "equally"


def feature_weights(model: Model, known: KnownData | None, highs: np.ndarray) -> tuple[np.ndarray, str]:
    """(a number of at least 0 per feature of the model, what it is).

    Of trees and graphs the gain of their splits, of several models the mean of their shares. Of nets and perceptrons
    how far the score moves if the feature goes from its tenth to its ninetieth percentile of the training data, the
    others staying at their medians. Where neither can be told, each feature that is read at all counts the same.
    """
    gains = _gains(model)
    if gains is not None and gains.sum() > 0:
        return gains, GAIN
    if known is not None and len(known.features) == model.n_features and not model.needs_queries:
        moves = _moves(model, known, highs)
        if np.isfinite(moves).all() and moves.sum() > 0:
            return moves, MOVES
    readers = Readers.of(model)
    read = [readers.smooth[place] or len(readers.thresholds[place]) > 0 for place in range(model.n_features)]
    return np.array(read, dtype=np.float64), EQUALLY


def _gains(model: Model) -> np.ndarray | None:
    """Shares of the gain; None where nothing splits."""
    place_of = {name: place for place, name in enumerate(model.feature_names)}
    total, found = np.zeros(model.n_features), False
    if hasattr(model, "feature_importance"):
        own = np.array(list(model.feature_importance("gain").values()))
        found = own.sum() > 0
        total += own / own.sum() if found else 0.0
    else:
        for member in members_of(model):
            part = _gains(member)
            if part is not None:
                found = True
                total[[place_of[name] for name in member.feature_names]] += part
    return total if found else None


def _moves(model: Model, known: KnownData, highs: np.ndarray) -> np.ndarray:
    """|score where a feature is high − score where it is low|, all others at their medians."""
    low, middle, high = (
        np.array([_quantile(one, share, top) for one, top in zip(known.features, highs.tolist(), strict=True)])
        for share in (0.1, 0.5, 0.9)
    )
    rows = np.repeat(middle[None, :], 2 * len(middle), axis=0)
    each = np.arange(len(middle))
    rows[2 * each, each], rows[2 * each + 1, each] = low, high
    scores = model.predict(np.ascontiguousarray(rows, dtype=dtypes.FEATURE))
    return np.abs(scores[1::2] - scores[::2])


def _quantile(known: Distribution, share: float, high: float) -> float:
    """The first cut that at least this share of the values do not exceed, or the highest value; NaN without values."""
    counts = np.array(known.counts)
    if counts.sum() == 0:
        return math.nan
    place = int(np.searchsorted(np.cumsum(counts), share * counts.sum()))
    return known.cuts[place] if place < len(known.cuts) else high
