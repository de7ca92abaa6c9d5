"""Categories of the features of a model, and matrices with their codes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankforce.data import frames
from rankforce.data.categories import UNKNOWN, Categories, Category
from rankforce.data.category_codes import encoded_matrix, recoded_matrix
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError


def categories_of_all(members: Iterable[Any]) -> dict[str, tuple[Category, ...]]:
    """The categories of all features of several models; where two differ, the model around them refuses it."""
    found: dict[str, tuple[Category, ...]] = {}
    for member in members:
        for name, values in member.categories.items():
            found.setdefault(name, values)
    return found


def coded_matrix(
    matrix: np.ndarray,
    data: Dataset,
    places: Sequence[int] | None,
    feature_names: Sequence[str],
    categories: Categories,
) -> np.ndarray:
    """The columns at these places (None: all) of a matrix of a data set, with codes by the categories of a model."""
    chosen = matrix if places is None else matrix[:, places]
    if not data.categories and not categories:
        return chosen
    names = data.feature_names if places is None else [data.feature_names[place] for place in places]
    own = [data.categories.get(name, ()) for name in names]
    wanted = [categories.get(name, ()) for name in feature_names]
    return recoded_matrix(chosen, own, wanted, feature_names, what="the data", of="the model")


def holds_raw_values(data: Any, categories: Categories) -> bool:
    """Whether something with two dimensions holds categories themselves, not their codes: a frame, or objects."""
    return bool(categories) and (frames.is_frame(data) or getattr(getattr(data, "dtype", None), "kind", "f") in "OUST")


def raw_matrix(data: Any, feature_names: Sequence[str], categories: Categories) -> np.ndarray:
    """A frame or an array of raw values, whose columns are these features, as a matrix with codes."""
    return encoded_matrix(data, feature_names, categories)


class CodedColumns(NamedTuple):
    """The columns of a matrix that hold codes, and between which numbers they are."""

    places: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray

    @classmethod
    def of(cls, feature_names: Sequence[str], categories: Categories, unnamed: Collection[int]) -> CodedColumns | None:
        """None where no column does. ``unnamed``: the places of categories that are whole numbers, whichever."""
        limits = {place: len(categories[name]) for place, name in enumerate(feature_names) if name in categories}
        places = sorted({*limits, *unnamed})
        if not places:
            return None
        return cls(
            np.array(places),
            np.array([UNKNOWN if place in limits else -np.inf for place in places], dtype=np.float32),
            np.array([limits.get(place, np.inf) for place in places], dtype=np.float32),
        )

    def holds(self, matrix: np.ndarray) -> bool:
        """Whether a matrix has nothing but codes and missing values in these columns."""
        codes = matrix[:, self.places]
        with np.errstate(invalid="ignore"):
            right = (codes == np.floor(codes)) & (codes >= self.lowest) & (codes < self.highest)
        return bool((right | np.isnan(codes)).all())


def check_whole_codes(matrix: np.ndarray, feature_names: Sequence[str], features: Collection[int]) -> None:
    """Raise unless these columns of a matrix hold whole numbers or NaN: categories that have no other names."""
    for place in features:
        column = matrix[:, place]
        with np.errstate(invalid="ignore"):
            wrong = (column != np.floor(column)) & ~np.isnan(column)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"feature {feature_names[place]!r} is a category: its column holds whole numbers, or NaN (missing); "
                f"row {row} (from 0) is {column[row]:g}"
            )
