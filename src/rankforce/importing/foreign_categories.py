"""Sets and names of categories in the files of other libraries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.console.wording import counted
from rankforce.data.categories import MOST_CATEGORIES, UNKNOWN, Category, category_list
from rankforce.data.category_sets import BITS, words_of
from rankforce.data.factorising import category_of
from rankforce.errors import DataError, ModelFileError, warn
from rankforce.importing.foreign_trees import whole
from rankforce.kinds import shown


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
    lists: Any,
    declared: Sequence[int] | None,
    found: Mapping[int, Sequence[int]],
    from_zero: Collection[float],
    name: str,
) -> list[int] | None:
    """Which features LightGBM's lists of pandas categories belong to; None where the file does not tell.

    ``declared``: the features that were declared as categorical, if the file says so; ``found``: those that were taken
    as such, with their codes; ``from_zero``: the highest values of numerical ones whose lowest is 0. Ordered categories
    of pandas have lists, too, and are numbers to LightGBM: as many lists as categorical features are theirs, in their
    order, and other numbers of them nobody's.

    A column of whole numbers may be declared and has no list. So a warning leaves all lists out where a categorical
    feature lacks some codes of its list, and a numerical one goes from the first to the last of them. Lacking codes
    alone say nothing: LightGBM does not list categories of few rows.
    """
    if lists is None:
        return None
    if not isinstance(lists, list) or not all(isinstance(values, list) and values for values in lists):
        raise ModelFileError(f"{name}: the lists of pandas categories are not what they should be")
    features = list(found) if declared is None else list(declared)
    if declared is None and len(features) < len(lists):
        warn(
            f"{name}: the file has {counted(len(lists), 'list')} of categories, and "
            f"{counted(len(features), 'categorical feature')} with splits: it does not say whose the others are. All "
            "names of categories are left out, and the model takes their codes; Booster.save_model writes files that "
            "say it"
        )
        return None
    if len(features) != len(lists) or not lists:
        return None
    for feature, values in zip(features, lists, strict=True):
        codes = set(found.get(feature, ())) - {UNKNOWN}
        if max(codes, default=UNKNOWN) >= len(values):
            return None
        if len(codes) < len(values) and len(values) - 1 in from_zero:
            warn(
                f"{name}: the {counted(len(values), 'category', 'categories')} {shown(values[0])}, ... may be those of "
                "an ordered column, which is numbers to LightGBM: all names of categories are left out, and the model "
                "takes their codes"
            )
            return None
    return features
