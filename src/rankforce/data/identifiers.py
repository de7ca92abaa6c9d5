"""Query and document ids: whole numbers or text, and never a missing one."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.data.frames import as_vector, is_missing
from rankforce.errors import DataError

_LARGEST = 2**63 - 1


def as_ids(values: Any, n: int, what: str) -> np.ndarray:
    """Ids as int64, or as an array of text objects. Whole numbers held as floats are whole numbers.

    Whole numbers beyond 64 bits with sign become text, so that none is changed.
    """
    array = as_vector(values)
    if array.shape != (n,):
        raise DataError(f"{what} must have one entry per document ({n}), not shape {array.shape}")
    kind = array.dtype.kind
    if kind == "f" and isinstance(values, (list, tuple)) and all(map(_is_whole, values)):
        return _from_objects(list(values), what)  # NumPy takes numbers of 64 bits with and without sign for floats
    if kind == "f":
        return _from_floats(array, what)
    if kind == "u" and n and array.max() > _LARGEST:
        return array.astype(str).astype(object)
    if kind in "iu":
        return array.astype(np.int64)
    if kind in "USO":
        return _from_objects(array.tolist(), what)
    raise DataError(f"{what} must hold whole numbers or text, not {array.dtype}")


def _from_floats(array: np.ndarray, what: str) -> np.ndarray:
    if np.isnan(array).any():
        raise _missing(what, int(np.flatnonzero(np.isnan(array))[0]))
    whole = (array == np.floor(array)) & (np.abs(array) < 2.0**53)  # beyond, neighbours share a float
    if not whole.all():
        row = int(np.flatnonzero(~whole)[0])
        if array[row] == np.floor(array[row]) and np.isfinite(array[row]):
            raise DataError(
                f"{what} of row {row} (from 0) is {array[row]:g}, a float: beyond 2^53 one float stands for several "
                "whole numbers; give ids as whole numbers or text"
            )
        raise DataError(f"{what} must hold whole numbers or text: row {row} (from 0) is {array[row]}")
    return array.astype(np.int64)


def _is_whole(one: Any) -> bool:
    return isinstance(one, (int, np.integer)) and not isinstance(one, bool)


def _from_objects(entries: list[Any], what: str) -> np.ndarray:
    numbers = 0
    for row, one in enumerate(entries):
        if isinstance(one, (str, bytes)):
            continue
        if is_missing(one):
            raise _missing(what, row)
        if isinstance(one, (float, np.floating)) and abs(float(one)) < 2.0**53 and one == np.floor(one):
            entries[row] = int(one)
        elif not _is_whole(one):
            raise DataError(f"{what} must hold whole numbers or text: row {row} (from 0) is {one!r}")
        numbers += 1
    if entries and numbers == len(entries) and all(-_LARGEST - 1 <= one <= _LARGEST for one in entries):
        return np.array(entries, dtype=np.int64)
    result = np.empty(len(entries), dtype=object)
    result[:] = [_text(one, row, what) for row, one in enumerate(entries)]
    return result


def _text(one: Any, row: int, what: str) -> str:
    if not isinstance(one, bytes):
        return str(one)
    try:
        return one.decode()
    except UnicodeDecodeError:
        raise DataError(f"{what} of row {row} (from 0) is not UTF-8 text: {one!r}") from None


def _missing(what: str, row: int) -> DataError:
    return DataError(f"{what} of row {row} (from 0) is missing")
