"""Raw columns as codes of categories: by a list that is given, or by the categories that are found.

    listed = found_categories(factorised(column))    # ("blue", "green", "red")
    as_codes(column, listed, "column 'colour'")      # 2, 0, NaN, -1, ...

Found categories are sorted, so that codes do not depend on the order of the rows; a data frame's categorical column
keeps the order of its type. An empty text is a missing value, as in a file of text.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankforce import dtypes
from rankforce.data import frames
from rankforce.data.categories import UNKNOWN, Category
from rankforce.errors import DataError
from rankforce.kinds import shown

_WHOLE = re.compile(r"\s*(-?(?:0|[1-9][0-9]{0,17}))(?:\.0+)?\s*", re.ASCII)
_LARGEST = 10**18  # of whole numbers that are kept as numbers: others are texts, and equal only if written alike
_TEXT_LIKE = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


class Factorised(NamedTuple):
    """A column as places in the list of its different values."""

    places: np.ndarray  # int64 (rows,); -1: missing
    values: list[Any]
    ordered: bool = False  # whether the order of the values is that of the column's type

    @property
    def used(self) -> list[Any]:
        """The values that occur."""
        occurring = np.zeros(len(self.values) + 1, dtype=bool)
        occurring[self.places] = True
        return [value for value, occurs in zip(self.values, occurring.tolist(), strict=False) if occurs]


def factorised(values: Any) -> Factorised:
    """The different values of a column of any kind, and which of them each row has."""
    family = frames.family(values)
    if family == "pyarrow" and hasattr(values, "type"):
        return _of_arrow(values)
    if family == "pandas" and frames.is_categorical(values):
        return Factorised(np.asarray(values.cat.codes, dtype=np.int64), values.cat.categories.tolist(), True)
    if family == "polars" and str(getattr(values, "dtype", "")).startswith("Enum"):
        return Factorised(*_of_objects(values.cast(str).to_list(), values.dtype.categories.to_list()), True)
    array = frames.as_vector(values)
    if array.ndim != 1:
        raise DataError("a column must be a flat sequence")
    if array.dtype.kind in "OUST":
        return Factorised(*_of_objects(array.tolist()))
    different, places = np.unique(array, return_inverse=True)
    return Factorised(*_without_missing(places.astype(np.int64), different.tolist()))


def joined_columns(columns: Sequence[Factorised]) -> Factorised:
    """Columns of texts one after the other, as one."""
    place_of: dict[Any, int] = {}
    places = []
    for column in columns:
        own = [place_of.setdefault(value, len(place_of)) for value in column.values]
        places.append(np.array([*own, -1], dtype=np.int64)[column.places])
    return Factorised(np.concatenate(places), list(place_of))


def _of_arrow(values: Any) -> Factorised:
    import pyarrow as pa

    if pa.types.is_nested(values.type):
        raise DataError(f"entries of the Arrow type {values.type}")
    try:
        encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        ordered = bool(encoded.type.ordered)
        if isinstance(encoded, pa.ChunkedArray):
            chunks = encoded.unify_dictionaries().chunks
            if not chunks:
                return Factorised(np.empty(0, dtype=np.int64), [])
            different = chunks[0].dictionary.to_pylist()
            parts = [chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False) for chunk in chunks]
            return Factorised(*_without_missing(np.concatenate(parts), different), ordered)
        places = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return Factorised(*_without_missing(places, encoded.dictionary.to_pylist()), ordered)
    except (pa.ArrowException, NotImplementedError, ValueError, OverflowError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"a column of the Arrow type {values.type} cannot be read: {reason}") from None


def _of_objects(entries: Sequence[Any], known: Iterable[Any] = ()) -> tuple[np.ndarray, list[Any]]:
    """(place of every entry in the list of different ones, that list); ``known`` begins the list."""
    table: dict[Any, int] = {}
    different: list[Any] = []

    def place_of(entry: Any) -> int:
        # True, 1 and 1.0 are equal and not the same
        key = entry if type(entry) is str else (type(entry), entry)
        place = table.get(key)
        if place is None:
            place = -1 if _is_missing(entry) else len(different)
            if place >= 0:
                different.append(entry)
            table[key] = place
        return place

    try:
        for entry in known:
            place_of(entry)
        places = np.fromiter(map(place_of, entries), dtype=np.int64, count=len(entries))
    except DataError:
        raise
    except Exception as error:  # lists, mappings, objects that cannot be compared
        raise DataError(f"entries that cannot be told apart ({error})") from error
    return places, different


def _is_missing(entry: Any) -> bool:
    if isinstance(entry, (str, bytes)):
        return not entry
    return frames.is_missing(entry) or (isinstance(entry, decimal.Decimal) and entry.is_nan())


def _without_missing(places: np.ndarray, different: list[Any]) -> tuple[np.ndarray, list[Any]]:
    missing = [place for place, value in enumerate(different) if _is_missing(value)]
    if missing:
        new_place = np.full(len(different) + 1, -1, dtype=np.int64)
        kept = [place for place in range(len(different)) if place not in set(missing)]
        new_place[kept] = np.arange(len(kept))
        return new_place[places], [different[place] for place in kept]
    return places, different


def category_of(value: Any) -> Category:
    """The category that an entry of a column names: whole numbers as such, everything else by its text."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise DataError(f"a category is not UTF-8 text: {value!r:.80}") from None
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return _of_number(value)
    if isinstance(value, _TEXT_LIKE) or type(value).__module__.partition(".")[0] == "pandas":  # intervals, periods
        return str(value)
    raise DataError(f"a category is a text or a number, not {shown(value)}")


def _of_number(value: Any) -> Category:
    value = value.item() if isinstance(value, np.generic) else value
    try:
        whole = float(value).is_integer() and abs(value) < _LARGEST
    except OverflowError:
        whole = False
    return int(value) if whole else str(value)


def found_categories(column: Factorised) -> tuple[Category, ...]:
    """The categories of a column: sorted, whole numbers before texts; in the order of its type if that has one.

    Texts that all are whole numbers are taken as these.
    """
    named = [category_of(value) for value in (column.values if column.ordered else column.used)]
    wholes = [_whole(category) for category in named]
    whole = None not in wholes
    by_text = {str(one): one for one in (wholes if whole else named) if one is not None and one != ""}
    if column.ordered:
        return tuple(by_text.values())
    return tuple(sorted(by_text.values(), key=lambda one: (isinstance(one, str), one)))


def _whole(category: Category) -> int | None:
    """A category as a whole number, if it is one or is written as one."""
    if isinstance(category, int):
        return category
    match = _WHOLE.fullmatch(category)
    return int(match[1]) if match else None


def as_codes(values: Any, listed: Sequence[Category], what: str) -> np.ndarray:
    """A raw column as float32 codes by a list of categories: -1 for one that is not in the list, NaN for missing."""
    try:
        column = values if isinstance(values, Factorised) else factorised(values)
        codes = codes_of([category_of(value) for value in column.values], listed)
    except DataError as error:
        raise DataError(f"{what}: ", *error.args) from None
    return np.append(codes, np.float32(np.nan))[column.places]


def codes_of(own: Sequence[Category], listed: Sequence[Category]) -> np.ndarray:
    """For each of some categories its code in a list."""
    code_of = {str(category): code for code, category in enumerate(listed)}
    codes = np.empty(len(own), dtype=dtypes.FEATURE)
    for place, category in enumerate(own):
        codes[place] = code_in(code_of, category)
    return codes


def code_in(code_of: Mapping[str, int], category: Category) -> int:
    """The code of a category in a table of texts of categories, -1 if it has none."""
    code = code_of.get(str(category))
    if code is None and (whole := _whole(category)) is not None:  # 7.0, as a column with gaps is written
        code = code_of.get(str(whole))
    return UNKNOWN if code is None else code
