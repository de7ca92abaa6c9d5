"""Columns of a data set as it keeps them: labels, weights and names, checked and copied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data import frames
from rankforce.errors import DataError
from rankforce.files.limits import longest_id

MAIN_LABEL = "grades"


def _vector(values: Any, n: int, what: str, dtype: Any) -> np.ndarray:
    given = frames.as_numbers(values, what)
    if given.shape != (n,):
        raise DataError(f"{what} must have one entry per {_unit(what)} ({n}), not shape {given.shape}")
    # always a copy: the user's frame may change, a read-only view of it too, the data set may not
    return np.array(given, dtype=dtype, copy=True)


def _unit(what: str) -> str:
    return "query" if what == "query_weights" else "document"


def as_labels(y: Any, further: Mapping[str, Any], n: int) -> dict[str, np.ndarray]:
    given = ({} if y is None else {MAIN_LABEL: y}) | dict(further)
    if y is not None and MAIN_LABEL in further:
        raise DataError(f"the main label is given twice: as y and as labels[{MAIN_LABEL!r}]")
    result = {}
    for name, values in given.items():
        if not isinstance(name, str) or not name:
            raise DataError(f"a label source is named by text, not {name!r}")
        refuse_long_names([name], "label source")
        if values is None:
            raise DataError(f"label {name!r} is None: leave it out, or give NaN for every unlabelled document")
        array = _vector(values, n, f"label {name!r}", dtypes.LABEL)
        if np.isinf(array).any():
            raise DataError(f"label {name!r} of row {int(np.flatnonzero(np.isinf(array))[0])} (from 0) is infinite")
        result[name] = frozen(array)
    return result


def as_weights(values: Any, n: int, what: str) -> np.ndarray:
    array = _vector(values, n, what, dtypes.WEIGHT)
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if len(bad):
        raise DataError(f"{what} must be finite and not negative: entry {int(bad[0])} is {array[bad[0]]:g}")
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum()):
            raise DataError(f"{what} add up to infinity: divide them by the largest, {array.max():g}")
    return array


def as_feature_names(names: Sequence[str] | None, n: int) -> tuple[str, ...]:
    if names is None:
        return tuple(str(index) for index in range(1, n + 1))  # as LETOR files count
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable) or getattr(names, "ndim", 1) != 1:
        raise DataError(f"feature_names must be one name per feature, not {names!r:.80}")
    result = tuple(str(name) for name in names)
    if len(result) != n:
        raise DataError(f"{len(result)} feature names for {n} features")
    refuse_long_names(result, "feature")
    if len(set(result)) != n:
        twice, _ = Counter(result).most_common(1)[0]
        raise DataError(f"two features are named {twice!r}")
    return result


def frozen(array: np.ndarray) -> np.ndarray:
    """The array, read-only."""
    view = array.view()
    view.setflags(write=False)
    return view


def refuse_long_names(names: Iterable[str], what: str) -> None:
    """Raise for a name that is a whole text: a column of them would fill every table and every message."""
    longest = longest_id()
    for name in names:
        if len(name) > longest:
            raise DataError(
                f"the name of a {what} has {len(name):,} characters ({name[:40]!r} ...), at most {longest:,} are "
                "allowed: is a line or a quotation mark not closed? The environment variable RANKFORCE_LONGEST_ID "
                "sets the limit"
            )
