"""What users hand to ``fit`` and ``predict``, as a data set."""

from __future__ import annotations

from typing import Any

from rankforce.data.dataset import Dataset
from rankforce.errors import DataError


def as_dataset(
    X: Any,
    y: Any = None,
    qid: Any = None,
    *,
    group: Any = None,
    labels: Any = None,
    weights: Any = None,
    query_weights: Any = None,
) -> Dataset:
    """A data set is returned as it is; arrays and frames are made into one."""
    if isinstance(X, Dataset):
        if y is not None or qid is not None or group is not None:
            raise DataError("fit(data): a Dataset holds its labels and queries; give nothing beside it")
        return X
    if qid is None and group is None and hasattr(X, "columns") and "qid" in list(X.columns):
        qid = "qid"
    if qid is None and group is None:
        raise DataError(
            "a ranker must know which documents belong to one query: fit(X, y, qid=...) with one query id per row, "
            "or group=... with the sizes of consecutive queries, or a column named 'qid', or fit(Dataset(...))"
        )
    return Dataset(X, y, qid, group=group, labels=labels, weights=weights, query_weights=query_weights)


def as_validation(validation: Any) -> Dataset | None:
    """A data set, or a tuple (X, y, qid)."""
    if validation is None or isinstance(validation, Dataset):
        return validation
    if isinstance(validation, tuple) and len(validation) == 3:
        return as_dataset(*validation)
    raise DataError("validation must be a Dataset or a tuple (X, y, qid)")
