"""Matrices and columns from what people have: NumPy, pandas, polars, Arrow, scipy.sparse.

None of these packages is imported here unless the user's object already comes from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce import dtypes
from rankforce.errors import DataError, missing_dependency

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset


def _family(value: Any) -> str:
    """Which library an object comes from: ``numpy``, ``pandas``, ``polars``, ``pyarrow``, ``scipy`` or other."""
    return type(value).__module__.partition(".")[0]


def is_frame(value: Any) -> bool:
    """Whether an object has named columns."""
    return hasattr(value, "column_names") or (hasattr(value, "columns") and hasattr(value, "shape"))


def column_names(frame: Any) -> list[str]:
    return [str(name) for name in (frame.column_names if _family(frame) == "pyarrow" else frame.columns)]


def as_vector(values: Any) -> Any:
    """A column as something NumPy understands; masked and null entries become NaN or None."""
    if _family(values) == "pyarrow":
        return values.to_numpy(zero_copy_only=False) if hasattr(values, "type") else np.asarray(values)
    if _family(values) in ("pandas", "polars") and hasattr(values, "to_numpy"):
        return values.to_numpy()
    return values


def without_columns(frame: Any, wanted: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Take columns out of a frame: every entry of ``wanted`` that is text names a column and is replaced by it."""
    named = {role: name for role, name in wanted.items() if isinstance(name, str)}
    if not named:
        return frame, dict(wanted)
    if not is_frame(frame):
        role, name = next(iter(named.items()))
        raise DataError(f"{role}={name!r} names a column, but X has no named columns")
    known = column_names(frame)
    taken = dict(wanted)
    for role, name in named.items():
        if name not in known:
            raise DataError(f"{role}={name!r}: there is no such column (there are: {', '.join(known[:20])})")
        taken[role] = frame.column(name) if _family(frame) == "pyarrow" else frame[name]
    dropped = sorted(set(named.values()))
    if _family(frame) == "pyarrow":
        return frame.drop_columns(dropped), taken
    return (frame.drop(dropped) if _family(frame) == "polars" else frame.drop(columns=dropped)), taken


def as_matrix(X: Any) -> tuple[np.ndarray, list[str] | None]:
    """(float32 matrix, column names or None). An infinite entry is an error, NaN is a missing value."""
    names = column_names(X) if is_frame(X) else None
    if hasattr(X, "toarray") and hasattr(X, "nnz"):  # scipy.sparse: an absent entry is 0
        matrix = _to_float32(X.toarray())
    elif _family(X) == "pyarrow":
        columns = [
            _numeric_column(as_vector(column), name) for column, name in zip(X.columns, names or [], strict=True)
        ]
        matrix = _stack(columns, X.num_rows)
    elif names is not None:
        matrix = _stack([_numeric_column(as_vector(X[name]), str(name)) for name in X.columns], X.shape[0])
    else:
        matrix = _to_float32(X)
    if matrix.ndim != 2:
        raise DataError(f"X must have two dimensions (documents, features), not shape {matrix.shape}")
    _refuse_infinite(matrix, names)
    return matrix, names


def _stack(columns: list[np.ndarray], rows: int) -> np.ndarray:
    matrix = np.empty((rows, len(columns)), dtype=dtypes.FEATURE)
    for place, column in enumerate(columns):
        with np.errstate(over="ignore"):
            matrix[:, place] = column
    return matrix


def _numeric_column(values: np.ndarray, name: str) -> np.ndarray:
    if values.dtype == object:
        values = np.array([np.nan if value is None else value for value in values.tolist()])
    if values.dtype.kind not in "iufb":
        raise DataError(
            f"column {name!r} does not hold numbers; encode or drop it, or name it as qid=, labels= or document_ids="
        )
    return values


def _to_float32(X: Any) -> np.ndarray:
    try:
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(X, dtype=dtypes.FEATURE)
    except (TypeError, ValueError) as error:
        raise DataError(f"X must be a matrix of numbers: {error}") from None


def _refuse_infinite(matrix: np.ndarray, names: list[str] | None) -> None:
    # max and min see infinities without a mask of the whole matrix; NaN hides them, so it is skipped
    if matrix.size == 0:
        return
    with np.errstate(invalid="ignore"):
        suspicious = not (
            np.isfinite(np.fmax.reduce(matrix, axis=None)) and np.isfinite(np.fmin.reduce(matrix, axis=None))
        )
    if not suspicious:
        return
    places = np.argwhere(np.isinf(matrix))
    if len(places):
        row, column = places[0]
        feature = names[column] if names else f"number {column} (from 0)"
        raise DataError(
            f"feature {feature} of row {row} is infinite (or beyond float32's 3.4e38); use NaN for a missing value"
        )


def to_pandas(data: Dataset) -> Any:
    """A data set as a pandas data frame: qid, document, labels, weights, features."""
    try:
        import pandas as pd
    except ImportError:
        raise missing_dependency("pandas", "frames", "to_pandas()") from None
    head: dict[str, Any] = {"qid": data.qid}
    if data.document_ids is not None:
        head["document"] = data.document_ids
    head |= data.labels
    if data.weights is not None:
        head["weight"] = data.weights
    if data.query_weights is not None:
        head["query_weight"] = data.query_weights[data.row_queries]
    features = pd.DataFrame(data.features, columns=list(data.feature_names))
    return pd.concat([pd.DataFrame(head), features], axis=1)
