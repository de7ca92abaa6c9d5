"""Query and document ids: whole numbers or text, and never a missing one."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.data.frames import as_vector, is_missing
from rankforce.errors import DataError
from rankforce.files.limits import ID_REMEDY, longest_id

_LARGEST = 2**63 - 1
_EXACT_BITS = {np.dtype(np.float16): 11, np.dtype(np.float32): 24}  # of whole numbers, others have at least 53


def as_ids(values: Any, n: int, what: str) -> np.ndarray:
    """Ids as int64, or as an array of text objects. Whole numbers held as floats are whole numbers.

    Whole numbers beyond 64 bits with sign become text, so that none is changed.
    """
    array = as_vector(values)
    if array.shape != (n,):
        raise DataError(f"{what} must have one entry per document ({n}), not shape {array.shape}")
    kind = array.dtype.kind
    is_list = isinstance(values, (list, tuple))
    if is_list and (kind in "US" or (kind == "f" and all(map(_is_whole, values)))):
        # NumPy drops NUL characters from the end of text, and takes 64 bits with and without sign for floats
        return _from_objects(list(values), what)
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
    bits = exact_bits(array.dtype)
    whole = (array == np.floor(array)) & (np.abs(array) < 2.0**bits)  # beyond, neighbours share a float
    if not whole.all():
        row = int(np.flatnonzero(~whole)[0])
        if array[row] == np.floor(array[row]) and np.isfinite(array[row]):
            raise DataError(
                f"{what} of row {row} (from 0) is {array[row]:g}, a {array.dtype}: beyond 2^{bits} one such number "
                "stands for several whole numbers; give ids as whole numbers or text"
            )
        raise DataError(f"{what} must hold whole numbers or text: row {row} (from 0) is {array[row]}")
    return array.astype(np.int64)


def exact_bits(dtype: Any) -> int:
    """Below 2 to this power, a float type tells all whole numbers apart."""
    return _EXACT_BITS.get(np.dtype(dtype), 53)


def _is_whole(one: Any) -> bool:
    return isinstance(one, (int, np.integer)) and not isinstance(one, bool)


def _from_objects(entries: list[Any], what: str) -> np.ndarray:
    numbers = 0
    for row, one in enumerate(entries):
        if isinstance(one, (str, bytes)):
            continue
        if is_missing(one):
            raise _missing(what, row)
        if isinstance(one, (float, np.floating)) and _is_exact(one):
            entries[row] = int(one)
        elif not _is_whole(one):
            raise DataError(f"{what} must hold whole numbers or text: row {row} (from 0) is {one!r:.80}")
        numbers += 1
    if entries and numbers == len(entries) and all(-_LARGEST - 1 <= one <= _LARGEST for one in entries):
        return np.array(entries, dtype=np.int64)
    result = np.empty(len(entries), dtype=object)
    longest = longest_id()
    result[:] = [_text(one, row, what, longest) for row, one in enumerate(entries)]
    return result


def _is_exact(number: Any) -> bool:
    bits = exact_bits(number.dtype) if isinstance(number, np.floating) else 53
    return abs(float(number)) < 2.0**bits and number == np.floor(number)


def _text(one: Any, row: int, what: str, longest: int) -> str:
    try:
        text = one.decode() if isinstance(one, bytes) else str(one)
    except UnicodeDecodeError:
        raise DataError(f"{what} of row {row} (from 0) is not UTF-8 text: {one!r:.80}") from None
    if "\0" in text:
        raise DataError(
            f"{what} of row {row} (from 0) holds a NUL character, where other programs cut text off: {text!r:.80}; "
            "remove it, or write the ids in another way"
        )
    if len(text) > longest:
        raise DataError(f"{what} of row {row} (from 0) has {len(text):,} characters; {ID_REMEDY}")
    return text


def _missing(what: str, row: int) -> DataError:
    return DataError(f"{what} of row {row} (from 0) is missing")
