"""Scores of data of which only bins are known, to the last bit those of the data itself.

A model that compares features with thresholds, each of which is the edge of a bin, cannot tell the values of a bin
apart: each document is given the largest value of its bin. Nor can it tell apart the categories that share a bin, if it
asks for none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce import dtypes
from rankforce.data.categories import UNKNOWN
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError
from rankforce.models.categories import coded_matrix

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
        matrix = np.ascontiguousarray(coded_matrix(matrix, data, places, model.feature_names, model.categories))
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
        values = binning.thresholds[start:end]
        if column in binning.category_bins:
            values = _codes_of_bins(binning.category_bins[column], int(binning.n_bins[column]))
        matrix[:, feature] = np.append(values, np.float32(np.nan))[binned.packing.bins(rows, column)]
    return matrix


def _codes_of_bins(of_code: np.ndarray, n_bins: int) -> np.ndarray:
    """The category of each bin; what shares the last one, which no set of a model may tell apart, is unknown."""
    codes = np.full(n_bins, UNKNOWN, dtype=dtypes.FEATURE)
    own = np.flatnonzero(of_code < n_bins - 1)
    codes[of_code[own]] = own
    return codes


def check_edges(model: Model, data: Any) -> None:
    """Raise unless everything that the model asks of the features can be answered by their bins."""
    binning = data.bins.binning
    column_of = {data.feature_names[feature]: column for column, feature in enumerate(binning.features.tolist())}
    by_name = model.places_in(data) is None

    def asked(name: str) -> tuple[str, int | None]:
        """The name of a feature in the data, and its column; None for one that is constant."""
        known = name if not by_name else data.feature_names[model.feature_names.index(name)]
        column = column_of.get(known)
        if column is None:
            lows, highs, shares = (of[data.feature_place(known)] for of in data.feature_ranges())
            if (lows != highs and shares < 1.0) or 0.0 < shares < 1.0:
                raise DataError(
                    f"{data.path}: the model asks for feature {name!r}, which the store has no bins of: it was binned "
                    "like a store in which it is constant; bin the data like the store that the model was trained on, "
                    "or read the data itself"
                )
        return known, column

    for name, thresholds in model.threshold_tests():
        _, column = asked(name)
        if column is None or column in binning.category_bins:  # of which a number is asked: ``coded_matrix`` refuses
            continue
        edges = binning.thresholds[binning.cut_starts[column] : binning.cut_starts[column + 1]]
        beside = ~np.isin(thresholds, edges)
        if beside.any():
            raise DataError(
                f"{data.path}: the model compares feature {name!r} with {thresholds[beside][0]:g}, which is no edge of "
                "the store's bins: bin the data like the store that the model was trained on, or read the data itself"
            )
    for name, codes in model.category_tests():
        known, column = asked(name)
        if column is None:
            continue
        own: set[str] = set()
        if column in binning.category_bins:
            of_code, last = binning.category_bins[column].tolist(), int(binning.n_bins[column]) - 1
            own = {str(one) for one, b in zip(data.categories[known], of_code, strict=True) if b < last}
        listed = model.categories.get(name)
        for category in codes.tolist() if listed is None else (listed[code] for code in codes.tolist()):
            if str(category) not in own:
                raise DataError(
                    f"{data.path}: the model asks for the category {category!r} of feature {name!r}, which has no bin "
                    "of its own in the store: bin the data like the store that the model was trained on, or read the "
                    "data itself"
                )
