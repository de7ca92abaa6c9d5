"""Categories of features: a list of them for every categorical feature; the matrix holds their places in it.

A category is a text or a whole number. Two that are written alike (1 and "1") are the same one: a file of text does not
tell them apart. Codes are 0, 1, 2, ... in the order of the list; ``UNKNOWN`` is a category that is not in the list, NaN
a missing value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset_columns import as_feature_names
from rankforce.errors import DataError
from rankforce.files.limits import longest_id
from rankforce.kinds import shown

Category: TypeAlias = "str | int"
Categories: TypeAlias = "Mapping[str, tuple[Category, ...]]"  # feature → its categories, in the order of their codes

MOST_CATEGORIES = 2**24  # float32 tells these codes apart
UNKNOWN = -1
NO_CATEGORIES: Categories = MappingProxyType({})

_WANTED = 'categories maps features to lists of categories: {"colour": ["blue", "red"]}'


def as_categories(given: Any, feature_names: Sequence[str]) -> Categories:
    """Lists of categories as a data set keeps them: checked, in the order of the features."""
    if given is None:
        return NO_CATEGORIES
    if not isinstance(given, Mapping):
        raise DataError(f"{_WANTED}, not {shown(given)}")
    known = set(feature_names)
    for name in given:
        if not isinstance(name, str) or name not in known:
            raise DataError(f"categories are given for {shown(name)}, which is no feature")
    return MappingProxyType({name: category_list(given[name], name) for name in feature_names if name in given})


def category_list(given: Any, name: str) -> tuple[Category, ...]:
    """The categories of one feature: texts and whole numbers, none of them twice."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise DataError(f"{_WANTED}; those of {name!r} are {shown(given)}")
    try:
        entries = list(given)
    except Exception as error:  # an object that only promises to be a list
        raise DataError(f"the categories of {name!r} cannot be listed: {error}") from error
    if len(entries) > MOST_CATEGORIES:
        raise DataError(f"feature {name!r} has {len(entries):,} categories, at most {MOST_CATEGORIES:,} are possible")
    longest = longest_id()
    listed: dict[str, Category] = {}
    for entry in entries:
        category = _category(entry, name, longest)
        if str(category) in listed:
            raise DataError(f"two categories of {name!r} are written {str(category)!r:.80}")
        listed[str(category)] = category
    if not listed:
        raise DataError(f"feature {name!r} is given an empty list of categories: leave it out")
    return tuple(listed.values())


def _category(entry: Any, name: str, longest: int) -> Category:
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, (bool, np.bool_)):
        return int(entry)
    if not isinstance(entry, str) or not entry:
        raise DataError(f"a category of {name!r} must be a text or a whole number, not {shown(entry)}")
    if len(entry) > longest:
        raise DataError(f"a category of {name!r} has {len(entry):,} characters, at most {longest:,} are allowed")
    return str(entry)


def check_codes(matrix: np.ndarray, feature_names: Sequence[str], categories: Categories) -> None:
    """Raise unless the categorical columns of a matrix hold codes of their categories, -1 or NaN."""
    for name, listed in categories.items():
        column = matrix[:, list(feature_names).index(name)]
        with np.errstate(invalid="ignore"):
            wrong = ~(np.isnan(column) | ((column >= UNKNOWN) & (column < len(listed)) & (column == np.floor(column))))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"feature {name!r} has {len(listed)} categories, its column holds their numbers 0 to "
                f"{len(listed) - 1}, -1 (none of them) or NaN (missing); row {row} (from 0) is {column[row]:g}"
            )


def category_counts(feature_names: Sequence[str], categories: Categories) -> np.ndarray:
    """The number of categories of every feature, int32; 0 for a numeric one."""
    return np.array([len(categories.get(name, ())) for name in feature_names], dtype=dtypes.INDEX)


def renamed(categories: Categories, old_names: Sequence[str], new_names: Sequence[str]) -> Categories:
    """Categories of features that have other names now, in the same places."""
    new_name = dict(zip(old_names, new_names, strict=True))
    return {new_name[name]: listed for name, listed in categories.items()}


def kept(categories: Categories, old_names: Sequence[str], new_names: Any, by_place: bool) -> Categories:
    """Categories of features after a change: of the same places under new names, or of the names that are left."""
    if by_place:
        return renamed(categories, old_names, as_feature_names(new_names, len(old_names)))
    names = set(map(str, new_names)) if isinstance(new_names, Iterable) else set()
    return {name: listed for name, listed in categories.items() if name in names}
