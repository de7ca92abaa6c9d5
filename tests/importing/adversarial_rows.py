"""Rows on which a wrong reading of a tree shows: on the thresholds, one float beside them, zeros, extremes, missing."""

from __future__ import annotations

import numpy as np

from rankforce.models.tree_ensemble import TreeEnsemble


def adversarial_rows(model: TreeEnsemble, seed: int, documents: int = 400) -> np.ndarray:
    """float32 rows whose values are the thresholds of their feature, neighbours of these, and odd numbers."""
    rng = np.random.default_rng(seed)
    tiny = np.float32(1e-35)
    odd = np.array([0.0, -0.0, 1e30, -1e30, np.nan, tiny, -tiny, 1e-45, -1e-45], dtype=np.float32)
    odd = np.concatenate([odd, np.nextafter([tiny, -tiny], np.float32(1)), np.nextafter([tiny, -tiny], np.float32(-1))])
    rows = np.empty((documents, model.n_features), dtype=np.float32)
    for feature in range(model.n_features):
        cuts = model.threshold[model.feature == feature]
        with np.errstate(over="ignore"):
            beside = [np.nextafter(cuts, np.float32(side)) for side in (-np.inf, np.inf)]
        beside = [values[np.isfinite(values)] for values in beside]
        rows[:, feature] = rng.choice(np.concatenate([cuts, *beside, odd]), documents)
    return rows
