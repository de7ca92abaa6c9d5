"""Matrices of what has categories: raw entries, or codes by other lists, become codes by the lists that are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce.data import frames
from rankforce.data.categories import UNKNOWN, Categories, Category
from rankforce.data.factorising import as_codes as as_codes
from rankforce.data.factorising import codes_of
from rankforce.data.feature_columns import feature_numbers
from rankforce.errors import DataError
from rankforce.remedies import Phrase, Words, parts_of

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset

AS_DECLARED = Phrase(
    "make it as it was declared: rf.read(path, like=model), rf.Dataset(frame, like=model)",
    "say which columns hold categories: --categorical NAME",
)


def encoded_matrix(X: Any, feature_names: Sequence[str], categories: Categories) -> np.ndarray:
    """A data frame or an array of objects, whose columns are these features, as a float32 matrix with codes.

    Columns of features without categories hold numbers, truth values or dates.
    """
    if frames.is_frame(X):
        raw = [frames.column_at(X, place) for place in range(len(feature_names))]
        rows = X.shape[0]
    else:
        array = frames.as_vector(X)
        if array.ndim != 2 or array.shape[1] != len(feature_names):
            raise DataError(f"X must have shape (documents, {len(feature_names)}), not {array.shape}")
        raw = [array[:, place] for place in range(len(feature_names))]
        rows = array.shape[0]
    columns = []
    for name, values in zip(feature_names, raw, strict=True):
        listed, what = categories.get(name), f"column {name!r}"
        columns.append(feature_numbers(values, what) if listed is None else as_codes(values, listed, what))
    matrix = frames.stack(columns, rows)
    frames.refuse_infinite(matrix, list(feature_names))
    return matrix


def recoded(data: Dataset, like: Dataset, *, what: str, of: str) -> Dataset:
    """A data set with the codes of another one, whose features have the same places."""
    if all(data.categories.get(name, ()) == like.categories.get(other, ()) for name, other in _pairs(data, like)):
        return data
    if data.bins is not None:
        stored: Any = data
        raise stored.unlike("other categories")
    own = [data.categories.get(name, ()) for name in data.feature_names]
    wanted = [like.categories.get(name, ()) for name in like.feature_names]
    matrix = recoded_matrix(data.features, own, wanted, data.feature_names, what=what, of=of)
    lists = {name: listed for name, listed in zip(data.feature_names, wanted, strict=True) if listed}
    return data.replace(features=matrix, categories=lists)


def _pairs(data: Dataset, like: Dataset) -> Iterable[tuple[str, str]]:
    return zip(data.feature_names, like.feature_names, strict=True)


def recoded_matrix(
    matrix: np.ndarray,
    own: Sequence[Sequence[Category]],
    wanted: Sequence[Sequence[Category]],
    feature_names: Sequence[str],
    *,
    what: str,
    of: str,
    remedy: Words = AS_DECLARED,
) -> np.ndarray:
    """A matrix with codes by the lists ``own`` (one per column, empty for a numeric one) as codes by ``wanted``.

    The matrix itself where they are the same. Errors say what has the matrix, ``of`` what the wanted categories are,
    and what to do where one side alone has categories.
    """
    result = matrix
    for place, (present, listed) in enumerate(zip(own, wanted, strict=True)):
        if tuple(present) == tuple(listed):
            continue
        if not present and np.isnan(matrix[:, place]).all():
            continue  # a column without any value is of every kind
        if not present or not listed:
            sides = ("numbers", "categories") if listed else ("categories", "numbers")
            raise DataError(
                f"feature {feature_names[place]!r} holds {sides[0]} in {what} and {sides[1]} in {of}; ",
                *parts_of(remedy),
            )
        if result is matrix:
            result = matrix.copy()
        codes = np.append(codes_of(present, listed), np.float32(UNKNOWN))  # -1, the last entry, stays what it is
        known = ~np.isnan(matrix[:, place])
        result[known, place] = codes[matrix[known, place].astype(np.int64)]
    return result
