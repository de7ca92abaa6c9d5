"""Sets and names of categories in the files of other libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.categories import MOST_CATEGORIES, Category, category_list
from rankforce.data.category_sets import BITS, words_of
from rankforce.data.factorising import category_of
from rankforce.errors import DataError, ModelFileError
from rankforce.importing.foreign_trees import whole


def set_of_codes(codes: Iterable[Any], where: str) -> np.ndarray:
    """The words of a set that a file lists."""
    return words_of([whole(code, "a category", where, most=MOST_CATEGORIES - 1) for code in codes])


def checked_words(words: np.ndarray, where: str) -> np.ndarray:
    """The words of a set that a file has as such."""
    beyond = MOST_CATEGORIES // BITS
    if words[beyond:].any():
        raise ModelFileError(
            f"{where}: categories from {MOST_CATEGORIES:,} on cannot be told apart by float32 features"
        )
    return words[:beyond]


def named_categories(lists: Sequence[Any], features: Sequence[str], name: str) -> dict[str, tuple[Category, ...]]:
    """The categories of features, by the lists that a file has of them."""
    try:
        return {
            feature: category_list([category_of(value) for value in values], feature)
            for feature, values in zip(features, lists, strict=True)
        }
    except DataError as error:
        raise ModelFileError(f"{name}: the categories cannot be read: {error}") from None


def pandas_features(
    lists: Any, declared: Sequence[int] | None, found: Mapping[int, Sequence[int]], name: str
) -> list[int] | None:
    """Which features LightGBM's lists of pandas categories belong to; None where the file does not tell.

    ``declared``: the features that were declared as categorical, if the file says so; ``found``: those that were taken
    as such, with their codes. Ordered categories of pandas have lists, too, and are numbers to LightGBM: as many lists
    as categorical features are theirs, in their order, and other numbers of them nobody's.
    """
    if lists is None:
        return None
    if not isinstance(lists, list) or not all(isinstance(values, list) and values for values in lists):
        raise ModelFileError(f"{name}: the lists of pandas categories are not what they should be")
    features = list(found) if declared is None else list(declared)
    if len(features) != len(lists) or not lists:
        return None
    for feature, values in zip(features, lists, strict=True):
        if max(found.get(feature, ()), default=-1) >= len(values):
            return None
    return features
