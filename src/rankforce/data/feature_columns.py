"""What a column of a table is as a feature: numbers, truth values, dates, or categories.

=========================== ==========================================================================================
numbers                     as they are
truth values, true/false    1 and 0
dates, ISO dates as text    days since 1970-01-01 (``dates.py``)
categorical types           categories
texts                       categories, if each occurs at least twice on average; else it is a column of ids or of free
                            text, which no feature can be made of
declared categories         categories, whatever they are: whole numbers, too
=========================== ==========================================================================================

Texts of which some are numbers or dates and others are not are no feature: a cell may be wrong, or the column is to be
declared. Neither are numbers that are spelled as no reader takes them, ``4,8`` or ``15%``.
"""

from __future__ import annotations

import dataclasses
import datetime
import numbers
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.console.wording import counted
from rankforce.data import frames
from rankforce.data.categories import MOST_CATEGORIES, Category
from rankforce.data.dates import days_of, days_of_column, days_of_text, looks_like_date
from rankforce.data.factorising import Factorised, as_codes, category_of, factorised, found_categories
from rankforce.data.spelled_numbers import has_decimal_comma, spelled_number
from rankforce.errors import DataError
from rankforce.files.limits import longest_id

AS_CATEGORY, AS_DATE, AS_TRUTH = "category", "days since 1970-01-01", "0 and 1"

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_TRUTH = {"true": 1.0, "false": 0.0}
_FEW_TEXTS = 50  # of which somebody may mean categories in a small table
_LEAST_REPEATED = 2  # texts that occur less often on average are ids or free text


@dataclasses.dataclass(frozen=True)
class Unsettled:
    """How entries become a feature once all of them were seen: see ``settled_column``."""

    texts: bool = False  # numbers, dates or categories, whichever all of them are
    ordered: bool = False  # categories in the order of the column's type
    find: bool = True  # whether texts may be categories


@dataclasses.dataclass(frozen=True)
class FeatureColumn:
    """A column as numbers; those of categories are codes of the list."""

    values: np.ndarray
    categories: tuple[Category, ...] = ()
    role: str = ""  # what was made of it, if more than numbers of numbers
    unsettled: Unsettled | None = None  # of some rows of a column: how all its entries become a feature


@dataclasses.dataclass(frozen=True)
class Unusable:
    """A column that is no feature, and why."""

    reason: str
    may_be_declared: bool = True  # as categories
    example: str | None = None  # the entry that is in the way, where most are as they should be
    spelled: bool = False  # it holds numbers that are spelled as no reader takes them
    decimal_comma: bool = False  # of these: they are numbers if their decimal sign is read as one


def feature_column(
    values: Any,
    *,
    listed: Sequence[Category] | None = None,
    declared: bool = False,
    find: bool = True,
    partial: bool = False,
) -> FeatureColumn | Unusable:
    """A column as a feature, or why it is none.

    ``listed`` has the categories, where they are known; ``declared`` says that there are some. Without ``find``,
    nothing else becomes categories. ``partial``: these are some of its rows; what depends on all of them is unsettled.
    """
    try:
        if listed is not None:
            return FeatureColumn(as_codes(values, listed, "categories"), tuple(listed), AS_CATEGORY)
        if declared or frames.is_categorical(values):
            if not declared and not find:
                return Unusable("categories, where numbers are wanted", may_be_declared=False)
            column = values if isinstance(values, Factorised) else factorised(values)
            return _unsettled(column, Unsettled(ordered=column.ordered)) if partial else _with_found_categories(column)
        if isinstance(values, Factorised):
            return _of_entries(values, find, partial)
        days = days_of_column(values)
        if days is not None:
            return FeatureColumn(days, role=AS_DATE)
        array = frames.as_vector(values)
        if array.ndim != 1:
            return Unusable("several values in each row: give each of them a column of its own", may_be_declared=False)
        truth = _holds_truth(values, array)
        if array.dtype == object:
            array = frames.from_objects(array)
        if array.dtype.kind in "iufb":
            return FeatureColumn(array, role=AS_TRUTH if truth else "")
        return _of_entries(factorised(values), find, partial)
    except DataError as error:
        return Unusable(str(error), may_be_declared=False)


def _holds_truth(values: Any, array: np.ndarray) -> bool:
    """Whether a column holds truth values, which become numbers where one is missing."""
    if array.dtype == object:
        kinds = {type(entry) for entry in array.tolist() if not frames.is_missing(entry)}
        return bool(kinds) and kinds <= {bool, np.bool_}
    kind = getattr(values, "dtype", getattr(values, "type", array.dtype))
    return str(kind).lower().startswith("bool")


def _with_found_categories(column: Factorised) -> FeatureColumn | Unusable:
    categories = found_categories(column)
    if len(categories) > MOST_CATEGORIES:
        return Unusable(f"{len(categories):,} categories, of {MOST_CATEGORIES:,} that are possible", False)
    longest = longest_id()
    if any(isinstance(one, str) and len(one) > longest for one in categories):
        return Unusable(f"texts of more than {longest:,} characters", may_be_declared=False)
    if not categories:
        return FeatureColumn(np.full(len(column.places), np.nan, dtype=np.float32))
    return FeatureColumn(as_codes(column, categories, "categories"), categories, AS_CATEGORY)


def _unsettled(column: Factorised, how: Unsettled) -> FeatureColumn | Unusable:
    """Some rows of a column of entries, as codes of those that they have, or that its type has."""
    entries = column.values if column.ordered else column.used
    named = {str(one): one for one in map(category_of, entries) if one != ""}
    if not named:
        return FeatureColumn(np.full(len(column.places), np.nan, dtype=np.float32))
    categories = tuple(named.values())
    return FeatureColumn(as_codes(column, categories, "categories"), categories, unsettled=how)


def settled_column(entries: Sequence[Category], present: int, how: Unsettled) -> FeatureColumn | Unusable:
    """What ``feature_column`` would make of a column with these entries, in so many rows: a number for each of them."""
    column = Factorised(np.arange(len(entries)), list(entries), how.ordered)
    if not how.texts:
        return _with_found_categories(column)
    return _of_texts(column, [str(one) for one in entries], how.find, present)


def _of_entries(column: Factorised, find: bool, partial: bool) -> FeatureColumn | Unusable:
    """A column of objects, by its different entries."""
    entries = column.used
    if not entries:
        return FeatureColumn(np.full(len(column.places), np.nan, dtype=np.float32))
    if all(isinstance(entry, str) for entry in entries):
        if partial:
            return _unsettled(column, Unsettled(texts=True, find=find))
        return _of_texts(column, entries, find, int(np.count_nonzero(column.places >= 0)))
    if all(isinstance(entry, datetime.date) for entry in entries):
        return FeatureColumn(_numbers(column, {entry: days_of(entry) for entry in entries}), role=AS_DATE)
    if all(isinstance(entry, numbers.Number) for entry in entries):
        return Unusable("numbers that no float64 can be", may_be_declared=False)
    kinds = sorted({type(entry).__name__ for entry in entries})
    return Unusable(f"entries of the type {' and '.join(kinds[:3])}", may_be_declared="str" in kinds)


def _of_texts(column: Factorised, texts: list[str], find: bool, present: int) -> FeatureColumn | Unusable:
    """A column of texts, all of which are given; so many rows have one."""
    if all(text.strip().lower() in _TRUTH for text in texts):
        return FeatureColumn(_numbers(column, {text: _TRUTH[text.strip().lower()] for text in texts}), role=AS_TRUTH)
    days = days_of_text(texts)
    if days is not None:
        return FeatureColumn(_numbers(column, dict(zip(texts, days, strict=True))), role=AS_DATE)
    spelled = spelled_number(texts, list(filter(_is_number, texts)))
    if spelled is not None:
        comma = has_decimal_comma(spelled)
        reason = (
            f"numbers with a decimal comma ({spelled!r:.60})" if comma else f"numbers such as {spelled!r:.60} as text"
        )
        return Unusable(reason, may_be_declared=find, spelled=True, decimal_comma=comma)
    for is_one, kind in ((_is_number, "numbers"), (looks_like_date, "dates")):
        others = [text for text in texts if not is_one(text)]
        if not others:
            return Unusable("numbers as text: convert them" if kind == "numbers" else "dates that no calendar has")
        if len(others) < len(texts):
            return Unusable(f"{kind}, but also {min(others)!r:.60}", example=min(others))
    if not find:
        reason = f"texts, where numbers are wanted ({min(texts)!r:.60})"
        return Unusable(reason, may_be_declared=False, example=min(texts))
    if _LEAST_REPEATED * len(texts) > present:
        reason = f"{counted(len(texts), 'different text')} in {counted(present, 'row')}: ids or free text"
        return Unusable(reason, may_be_declared=len(texts) <= _FEW_TEXTS)
    return _with_found_categories(column)


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _numbers(column: Factorised, number_of: Mapping[Any, float]) -> np.ndarray:
    table = [number_of.get(value, np.nan) for value in column.values]
    return np.array([*table, np.nan], dtype=np.float64)[column.places]


def feature_numbers(values: Any, what: str) -> np.ndarray:
    """A column of numbers, truth values or dates as numbers; anything else is an error, categories too."""
    found = feature_column(values, find=False)
    if isinstance(found, Unusable):
        raise DataError(f"{what} must hold numbers, truth values or dates; it holds {found.reason}")
    return found.values
