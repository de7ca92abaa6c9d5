"""Scores of data of which only bins are known, to the last bit those of the data itself.

A model that compares features with thresholds, each of which is the edge of a bin, cannot tell the values of a bin
apart: each document is given the largest value of its bin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError

if TYPE_CHECKING:
    from rankforce.models.model import Model

VALUES_AT_A_TIME = 2**23  # of features: 32 MB


def is_binned(data: Any) -> bool:
    """Whether data has bins in place of features."""
    return isinstance(data, Dataset) and data.bins is not None


def scores_by_bins(model: Model, data: Any, score: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """``score`` of the matrix of all documents, block by block; the last axis of what it returns is documents."""
    places = model.places_in(data)
    check_edges(model, data)
    at_once = max(1, VALUES_AT_A_TIME // max(data.n_features, 1))
    parts = []
    for first in range(0, max(data.n_documents, 1), at_once):  # of no documents, no scores
        matrix = values_of_bins(data, first, min(first + at_once, data.n_documents))
        if places is not None:
            matrix = np.ascontiguousarray(matrix[:, places])
        matrix.setflags(write=False)
        parts.append(score(matrix))
    return np.concatenate(parts, axis=-1)


def values_of_bins(data: Any, first: int, last: int) -> np.ndarray:
    """Documents ``first`` to ``last`` by the largest values of their bins: float32 (documents, features)."""
    binned, binning = data.bins, data.bins.binning
    rows = np.asarray(binned.rows[first:last])
    lows, _, shares = data.feature_ranges()
    matrix = np.empty((len(rows), data.n_features), dtype=dtypes.FEATURE)
    matrix[:] = np.where(np.array(shares) < 1.0, lows, np.nan)  # what has no bins is constant
    for column, feature in enumerate(binning.features.tolist()):
        start, end = binning.cut_starts[column : column + 2]
        values = np.append(binning.thresholds[start:end], np.float32(np.nan))
        matrix[:, feature] = values[binned.packing.bins(rows, column)]
    return matrix


def check_edges(model: Model, data: Any) -> None:
    """Raise unless everything that the model asks of the features can be answered by their bins."""
    binning = data.bins.binning
    column_of = {data.feature_names[feature]: column for column, feature in enumerate(binning.features.tolist())}
    by_name = model.places_in(data) is None
    for name, thresholds in model.threshold_tests():
        known = name if not by_name else data.feature_names[model.feature_names.index(name)]
        column = column_of.get(known)
        if column is None:
            continue  # constant: any threshold can be asked for
        edges = binning.thresholds[binning.cut_starts[column] : binning.cut_starts[column + 1]]
        beside = ~np.isin(thresholds, edges)
        if beside.any():
            raise DataError(
                f"{data.path}: the model compares feature {name!r} with {thresholds[beside][0]:g}, which is no edge of "
                "the store's bins: bin the data like the store that the model was trained on, or read the data itself"
            )
