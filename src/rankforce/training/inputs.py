"""What users hand to ``fit`` and ``predict``, as a data set."""

from __future__ import annotations

from typing import Any

from rankforce.collective import anybody
from rankforce.data import frames
from rankforce.data.category_codes import recoded
from rankforce.data.dataset import Dataset
from rankforce.data.feature_matching import are_numbered, feature_places
from rankforce.data.spread import SpreadData, refuse_spread
from rankforce.data.tables.columns import ROLE_NAMES
from rankforce.errors import DataError
from rankforce.training.validation_leaks import warn_of_leaks


def as_dataset(
    X: Any,
    y: Any = None,
    qid: Any = None,
    *,
    group: Any = None,
    labels: Any = None,
    weights: Any = None,
    query_weights: Any = None,
    like: Dataset | None = None,
) -> Dataset:
    """A data set is returned as it is; arrays and frames are made into one, its features like those of another."""
    if isinstance(X, Dataset):
        if any(part is not None for part in (y, qid, group, labels, weights, query_weights)):
            raise DataError("a Dataset holds its labels, queries and weights: give nothing beside it")
        return X
    if isinstance(X, SpreadData):
        refuse_spread("this ranker")
    if qid is None and group is None and not names_queries(X):
        raise DataError(
            "a ranker must know which documents belong to one query: fit(X, y, qid=...) with one query id per row, "
            "or group=... with the sizes of consecutive queries, or a column named 'qid', or fit(Dataset(...))"
        )
    return Dataset(X, y, qid, group=group, labels=labels, weights=weights, query_weights=query_weights, like=like)


def names_queries(X: Any) -> bool:
    """Whether X is a data frame with a column that is called as queries are."""
    return frames.is_frame(X) and any(name.lower() in ROLE_NAMES["qid"] for name in frames.column_names(X))


def with_features(data: Dataset) -> Dataset:
    """The data set, unless there is nothing in it to rank by, or nothing that counts."""
    for weights, what in ((data.weights, "document"), (data.query_weights, "query")):
        if weights is not None and not anybody(bool(weights.any()) or not len(weights)):
            raise DataError(f"nothing to learn from: every {what} has the weight 0")
    if data.n_features == 0:
        raise DataError(
            f"the data has 0 feature(s) (shape={data.features.shape}) while a minimum of 1 is required. "
            "A ranker needs something to rank by"
        )
    return data


def as_validation(validation: Any, data: Dataset) -> Dataset | None:
    """A data set, or a tuple (X, y, qid), with features and codes of categories as in the training data."""
    if validation is None:
        return None
    if isinstance(validation, tuple) and len(validation) == 3:
        X, y, qid = validation
        validation = as_dataset(X, y, qid, like=data if frames.is_frame(X) else None)
    if not isinstance(validation, Dataset):
        raise DataError("validation must be a Dataset or a tuple (X, y, qid)")
    places = validation_places(validation, data)
    validation = validation if places is None else validation.take_features(places)
    validation = recoded(validation, data, what="the validation data", of="the training data")
    warn_of_leaks(validation, data)
    return validation


def validation_places(validation: Dataset, data: Dataset) -> list[int] | None:
    """Where the features of the training data stand in the validation data; None if they stand alike.

    As when a model scores: by name, or by position where either side has only numbers.
    """
    return feature_places(
        data.feature_names,
        validation.feature_names,
        named=not are_numbered(validation.feature_names),
        what="the validation data",
        of="the training data",
        counted="the training data has",
        remedy="give both the same feature names",
    )
