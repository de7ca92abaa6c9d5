"""Matrices and columns from what people have: NumPy, pandas, polars, Arrow, scipy.sparse.

None of these packages is imported here unless the user's object already comes from it.
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce import dtypes
from rankforce.console.tables import load_pandas
from rankforce.displayed_text import displayed
from rankforce.errors import DataError

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset

_ROWS_AT_A_TIME = 4096  # a block of the row-major matrix that stays in the cache while columns are written into it

_FEW_ENTRIES = 1 << 14  # of which a mask is made faster than both extremes are found


def family(value: Any) -> str:
    """Which library an object comes from: ``numpy``, ``pandas``, ``polars``, ``pyarrow``, ``scipy`` or other."""
    return type(value).__module__.partition(".")[0]


def is_frame(value: Any) -> bool:
    """Whether an object has named columns."""
    if type(value).__name__ == "LazyFrame":
        raise DataError("X is a lazy frame: pass X.collect()")
    return hasattr(value, "column_names") or (hasattr(value, "columns") and hasattr(value, "shape"))


def column_names(frame: Any) -> list[str]:
    return [str(name) for name in (frame.column_names if family(frame) == "pyarrow" else frame.columns)]


def column_at(frame: Any, place: int) -> Any:
    if family(frame) == "pyarrow":
        return frame.column(place)
    return frame.to_series(place) if family(frame) == "polars" else frame.iloc[:, place]


def columns_at(frame: Any, places: list[int]) -> Any:
    if family(frame) == "pyarrow":
        return frame.select(places)
    return frame[:, places] if family(frame) == "polars" else frame.iloc[:, places]


def is_missing(value: Any) -> bool:
    """Whether an entry of a column of objects is None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, np.datetime64)) and bool(value != value)


def as_vector(values: Any) -> np.ndarray:
    """A column as a NumPy array. Missing numbers become NaN, missing entries of other columns stay None or NA.

    Categories are replaced by what they stand for.
    """
    library = family(values)
    if isinstance(values, np.ma.MaskedArray):
        return _without_mask(values)
    if library == "pyarrow" and hasattr(values, "type"):
        return _from_arrow(values)
    if library == "polars" and type(values).__name__ == "Series":
        return _from_polars(values)
    if library == "pandas" and hasattr(values, "dtype"):
        return _from_pandas(values)
    return _array(values, "a column must be a flat sequence")


def _array(values: Any, wanted: str) -> np.ndarray:
    """What NumPy makes of values; whatever keeps it from that (unequal lengths, an object's own error) is told."""
    try:
        return np.asarray(values)
    except Exception as error:
        raise DataError(f"{wanted}: {error}") from error


def _without_mask(values: Any) -> np.ndarray:
    if not np.ma.getmaskarray(values).any():
        return values.data
    if values.dtype.kind in "iufb":
        return values.astype(np.float64).filled(np.nan)
    return values.astype(object).filled(None)


def _from_arrow(values: Any) -> np.ndarray:
    import pyarrow as pa

    try:
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if pa.types.is_decimal(values.type):
            values = values.cast(pa.float64())
        return values.to_numpy(zero_copy_only=False)
    except (pa.ArrowException, NotImplementedError, ValueError, OverflowError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"a column of the Arrow type {values.type} cannot be read: {reason}") from None


def _from_polars(values: Any) -> np.ndarray:
    kind = str(values.dtype)
    try:
        if values.dtype.is_decimal():
            values = values.cast(float)
        elif kind.endswith("128"):  # whole numbers that NumPy has no kind for, of sums, say
            values = values.cast(int)
        return values.to_numpy()
    except Exception as error:  # polars has its own, of which this need not know
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"a column of the polars type {kind} cannot be read: {reason}") from None


def _from_pandas(values: Any) -> np.ndarray:
    dtype = values.dtype
    if isinstance(dtype, np.dtype):
        return values.to_numpy()
    if getattr(dtype, "kind", "O") not in "iufb":  # text, categories, dates
        return np.asarray(values.astype(object))
    if values.isna().any():
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(values.to_numpy(dtype=getattr(dtype, "numpy_dtype", None) or getattr(dtype, "subtype", None)))


def is_categorical(values: Any) -> bool:
    kind = getattr(values, "dtype", None) if family(values) in ("pandas", "polars") else None
    if kind is not None:
        return str(kind).lower().startswith(("category", "categorical", "enum"))
    return family(values) == "pyarrow" and str(getattr(values, "type", "")).startswith("dictionary")


def as_numbers(values: Any, what: str, remedy: str = "") -> np.ndarray:
    """A column of numbers as a NumPy array of numbers or truth values; None and NA become NaN."""
    if is_categorical(values):
        raise DataError(f"{what} is categorical, and categories have no order{remedy or '; convert them to numbers'}")
    array = as_vector(values)
    if array.dtype == object:
        array = from_objects(array)
    if array.dtype.kind not in "iufb":
        raise DataError(f"{what} must hold numbers{remedy}")
    return array


def from_objects(array: np.ndarray) -> np.ndarray:
    """An array of Python objects as numbers if they are numbers; unchanged otherwise."""
    flat: list[Any] = [np.nan if is_missing(value) else value for value in array.ravel().tolist()]
    if not all(isinstance(value, numbers.Number) and not isinstance(value, complex) for value in flat):
        return array
    try:
        return np.array([float(value) for value in flat], dtype=np.float64).reshape(array.shape)
    except OverflowError:
        return array


def without_columns(frame: Any, roles: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Take columns out of a frame: every entry of ``roles`` that is text names a column and is replaced by it."""
    column_of = {role: name for role, name in roles.items() if isinstance(name, str)}
    if not column_of:
        return frame, dict(roles)
    if not is_frame(frame):
        role, name = next(iter(column_of.items()))
        raise DataError(f"{role}={name!r} names a column, but X has no named columns")
    columns = column_names(frame)
    values = dict(roles)
    for name, count in Counter(column_of.values()).items():
        if count > 1:
            doubled = " and ".join(role for role, column in column_of.items() if column == name)
            raise DataError(f"the column {name!r} is given {count} roles, {doubled}: a column has one")
    for role, name in column_of.items():
        if name not in columns:
            listing = ", ".join(map(displayed, columns[:20])) + (", ..." if len(columns) > 20 else "")
            raise DataError(f"{role}={name!r}: there is no such column (there are: {listing})")
        if columns.count(name) > 1:
            raise DataError(f"{role}={name!r}: {columns.count(name)} columns have this name; rename all but one")
        values[role] = column_at(frame, columns.index(name))
    dropped = set(column_of.values())
    return columns_at(frame, [index for index, name in enumerate(columns) if name not in dropped]), values


def as_matrix(X: Any) -> tuple[np.ndarray, list[str] | None]:
    """(float32 matrix, column names or None). An infinite entry is an error, NaN is a missing value.

    A C-contiguous float32 array is taken as it is, not copied.
    """
    names = column_names(X) if is_frame(X) else None
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        matrix = _from_sparse(X)
    elif names is not None:
        from rankforce.data.feature_columns import feature_numbers

        columns = [feature_numbers(column_at(X, index), f"column {name!r}") for index, name in enumerate(names)]
        matrix = stack(columns, X.shape[0])
    else:
        matrix = _from_array(X)
    if matrix.ndim != 2:
        raise DataError(f"X must have two dimensions (documents, features), not shape {matrix.shape}")
    refuse_infinite(matrix, names)
    return matrix, names


def stack(columns: list[np.ndarray], rows: int) -> np.ndarray:
    """Columns of numbers side by side as a float32 matrix."""
    matrix = np.empty((rows, len(columns)), dtype=dtypes.FEATURE)
    write_columns(matrix, slice(0, rows), range(len(columns)), columns)
    return matrix


def write_columns(matrix: np.ndarray, rows: slice, places: Sequence[int], columns: Sequence[np.ndarray]) -> None:
    """Write columns of numbers into these rows and places of a float32 matrix."""
    for first in range(rows.start, rows.stop, _ROWS_AT_A_TIME):
        last = min(first + _ROWS_AT_A_TIME, rows.stop)
        with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite, which is refused
            for place, column in zip(places, columns, strict=True):
                matrix[first:last, place] = column[first - rows.start : last - rows.start]


def _from_sparse(X: Any) -> np.ndarray:
    """A scipy.sparse matrix or array, dense; an entry that is not stored is 0."""
    if X.dtype.kind not in "iufb":
        raise DataError(f"X must be a matrix of numbers, not of {X.dtype}")
    if X.ndim != 2:
        raise DataError(f"X must have two dimensions (documents, features), not shape {X.shape}")
    with np.errstate(over="ignore"):
        # float32 before it is dense: the dense matrix is the large one
        return np.ascontiguousarray(X.tocsr().astype(dtypes.FEATURE).toarray())


def _from_array(X: Any) -> np.ndarray:
    if isinstance(X, np.ma.MaskedArray):
        X = _without_mask(X)
    array = _array(X, "X must be a matrix of numbers")
    if array.dtype == object:
        array = from_objects(array)
    if array.dtype.kind not in "iufb":
        raise DataError(f"X must be a matrix of numbers, not of {array.dtype}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=dtypes.FEATURE) if array.ndim else array.astype(dtypes.FEATURE)


def refuse_infinite(matrix: np.ndarray, names: list[str] | None) -> None:
    """Raise if an entry of a matrix, with columns of these names, is infinite."""
    place = first_infinite(matrix)
    if place is not None:
        row, column = place
        feature = repr(names[column]) if names else f"number {column} (from 0)"
        raise DataError(
            f"feature {feature} of row {row} (from 0) is infinite or beyond float32's 3.4e38; "
            "use NaN for a missing value"
        )


def first_infinite(matrix: np.ndarray) -> tuple[int, int] | None:
    """(row, column) of the first infinite entry of a matrix, or None."""
    if matrix.size <= _FEW_ENTRIES and not np.isinf(matrix).any():
        return None
    extremes: tuple[Callable[..., Any], ...] = (np.fmax.reduce, np.fmin.reduce)
    # the extremes see infinities without a mask of the whole matrix, and skip NaN
    if matrix.size == 0 or not any(np.isinf(extreme(matrix, axis=None)) for extreme in extremes):
        return None
    for first in range(0, len(matrix), _ROWS_AT_A_TIME):
        found = np.argwhere(np.isinf(matrix[first : first + _ROWS_AT_A_TIME]))
        if len(found):
            return first + int(found[0, 0]), int(found[0, 1])
    raise AssertionError("an extreme was infinite but no entry is")


def to_pandas(data: Dataset) -> Any:
    """A data set as a pandas data frame: qid, document, labels, weight, query_weight, features."""
    pandas = load_pandas()
    head: list[tuple[str, Any]] = [("qid", data.qid)]
    if data.document_ids is not None:
        head.append(("document", data.document_ids))
    head += data.labels.items()
    if data.weights is not None:
        head.append(("weight", data.weights))
    if data.query_weights is not None:
        head.append(("query_weight", data.query_weights[data.row_queries]))
    names = [name for name, _ in head] + list(data.feature_names)
    if len(set(names)) < len(names):
        twice, _ = Counter(names).most_common(1)[0]
        raise DataError(
            f"two columns of the data frame would be named {twice!r}; rename the feature or label: "
            "data.replace(feature_names=...), data.replace(labels=...)"
        )
    features = pandas.DataFrame(data.features, columns=list(data.feature_names))
    for name, categories in data.categories.items():  # -1 is a missing value there
        codes = np.nan_to_num(data.features[:, data.feature_place(name)], nan=-1).astype(np.int64)
        features[name] = pandas.Categorical.from_codes(codes, list(categories))
    return pandas.concat([pandas.DataFrame(dict(head)), features], axis=1)
