"""Rows on which a wrong reading of a tree shows: on the thresholds, one float beside them, zeros, extremes, missing."""

from __future__ import annotations

import numpy as np

from rankforce.data.category_sets import categories_of
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
        values = np.concatenate([cuts, *beside, odd])
        if (model.subset[model.feature == feature] >= 0).any():
            values = odd_codes(model, feature)
        rows[:, feature] = rng.choice(values, documents)
    return rows


def odd_codes(model: TreeEnsemble, feature: int) -> np.ndarray:
    """Codes of a categorical feature: those that sets list, one beside each, none at all, and missing."""
    asking = np.flatnonzero((model.subset >= 0) & (model.feature == feature))
    words = [model.subset_words[model.subset_starts[k] : model.subset_starts[k + 1]] for k in model.subset[asking]]
    listed = np.unique(np.concatenate([categories_of(one) for one in words]))
    codes = np.concatenate([listed, listed + 1, [0, 31, 32, 63, 64, 1000]])
    unknown = [-1.0, np.nan]
    if model.feature_names[feature] in model.categories:
        codes = codes[codes < len(model.categories[model.feature_names[feature]])]
    else:
        unknown += [-2.0, 2.0**20, 2.0**31, 1e12, 3e38]
    return np.concatenate([codes.astype(np.float32), unknown]).astype(np.float32)
