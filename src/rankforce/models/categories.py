"""The categories that a model knows: feature -> what its codes 0, 1, 2, ... stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankforce.data.category_sets import MOST_CATEGORIES
from rankforce.errors import DataError, SettingsError


def checked_categories(categories: Any, feature_names: Sequence[str]) -> dict[str, tuple[str | int, ...]]:
    """The mapping with its features in the order of the model's, or an error that says what is wrong with it."""
    if not isinstance(categories, Mapping):
        raise SettingsError(f"categories must be a mapping of features to their categories, not {categories!r}")
    unknown = [name for name in categories if name not in set(feature_names)]
    if unknown:
        raise DataError(f"there are categories of {unknown[0]!r}, which is not a feature of the model")
    return {name: _checked(name, categories[name]) for name in feature_names if name in categories}


def _checked(name: str, values: Any) -> tuple[str | int, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise SettingsError(f"the categories of {name!r} must be a sequence of texts or whole numbers, not {values!r}")
    for value in values:
        if type(value) is not str and type(value) is not int:
            raise SettingsError(f"a category of {name!r} must be text or a whole number, not {value!r}")
    if len(values) > MOST_CATEGORIES:
        raise DataError(f"{name!r} has {len(values):,} categories, more than the limit of {MOST_CATEGORIES:,}")
    if len(set(values)) != len(values):
        twice, _ = Counter(values).most_common(1)[0]
        raise DataError(f"two categories of {name!r} are {twice!r}")
    return tuple(values)


def categories_of_all(members: Iterable[Any]) -> dict[str, tuple[str | int, ...]]:
    """The categories of all features of several models; where two differ, the model around them refuses it."""
    found: dict[str, tuple[str | int, ...]] = {}
    for member in members:
        for name, values in member.categories.items():
            found.setdefault(name, values)
    return found
