"""The categories of a feature, from blocks that each know their own: which there are, how many documents have each.

Blocks list what they hold, perhaps in another order each. While they pass by, categories are numbered as they come; in
the end they get the codes that the whole column would have had: what was found is sorted, a list that all blocks share
stays as it is, as does the order of a column's type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankforce import dtypes
from rankforce.data.categories import MOST_CATEGORIES, UNKNOWN, Category
from rankforce.data.factorising import codes_of
from rankforce.data.feature_columns import Unsettled, Unusable, settled_column
from rankforce.errors import DataError
from rankforce.remedies import ReadOption

BYTES_PER_CATEGORY = 200  # in tables of texts, beside the text


class SettledFeature(NamedTuple):
    """What a feature became.

    values : float32 (categories that were met + 1,)
        The number of each, in the order in which they were met; the last is that of unknown ones.
    categories : those of the feature, in the order of their codes; none if it is numeric
    counts : int64 (categories,)
    role : what was made of the column, if it was made here
    """

    values: np.ndarray
    categories: tuple[Category, ...]
    counts: np.ndarray
    role: str = ""


class CategoryTally:
    """Categories in the order in which they were met; ``unknown`` counts documents with an unknown one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.categories: list[Category] = []
        self.counts = np.zeros(0, dtype=np.int64)
        self.unknown = 0
        self.bytes = 0
        self._code_of: dict[str, int] = {}
        self._list: tuple[Category, ...] | None = None
        self._table = np.empty(0, dtype=np.int64)  # code by the last list → number here
        self._alike = True  # all lists so far are the same

    @property
    def present(self) -> int:
        """Documents that have a category."""
        return int(self.counts.sum()) + self.unknown

    def take(self, codes: np.ndarray, listed: tuple[Category, ...]) -> np.ndarray:
        """Codes by a list as numbers of the categories here."""
        if listed != self._list:
            self._alike = self._alike and self._list is None
            self._list = listed
            self._table = np.array([self._number(one) for one in listed], dtype=np.int64)
            self.counts = np.concatenate([self.counts, np.zeros(len(self.categories) - len(self.counts), np.int64)])
        known = ~np.isnan(codes)
        places = codes[known].astype(np.int64)
        counts = np.bincount(places - UNKNOWN, minlength=len(listed) + 1)
        self.unknown += int(counts[0])
        self.counts[self._table] += counts[1:]
        numbers = np.full(len(codes), np.nan, dtype=dtypes.FEATURE)
        numbers[known] = np.append(self._table, UNKNOWN)[places]
        return numbers

    def add(self, other: CategoryTally) -> None:
        """What another tally has met, as if it had come here next."""
        places = np.array([self._number(one) for one in other.categories], dtype=np.int64)
        self.counts = np.concatenate([self.counts, np.zeros(len(self.categories) - len(self.counts), np.int64)])
        self.counts[places] += other.counts
        self.unknown += other.unknown
        lists = {self._list, other._list} - {None}
        self._alike = self._alike and other._alike and len(lists) <= 1
        self._list = other._list or self._list
        self._table = np.array([self._number(one) for one in self._list or ()], dtype=np.int64)

    def _number(self, category: Category) -> int:
        text = str(category)
        number = self._code_of.setdefault(text, len(self.categories))
        if number == len(self.categories):
            self.categories.append(category)
            self.bytes += len(text) + BYTES_PER_CATEGORY
            if number >= MOST_CATEGORIES:
                raise too_many(self.name, f"more than {MOST_CATEGORIES:,}")
        elif isinstance(category, str):  # of 7 and "7" the text stands, whichever comes first
            self.categories[number] = category
        return number

    def settled(self, how: Unsettled | None, like: Sequence[Category] | None) -> SettledFeature | Unusable:
        """The feature. ``how``: None for lists that were given; ``like``: the list that it is to have (empty: none)."""
        if like:
            return self._coded(codes_of(self.categories, like), tuple(like))
        if how is None:
            if self._alike:
                return self._coded(np.arange(len(self.categories), dtype=dtypes.FEATURE), tuple(self.categories))
            how = Unsettled()
        found = settled_column(self.categories, self.present, how)
        if isinstance(found, Unusable):
            return found
        if found.categories:
            return self._coded(found.values, found.categories)._replace(role=found.role)
        with np.errstate(over="ignore"):
            values = np.append(found.values, np.nan).astype(dtypes.FEATURE)
        return SettledFeature(values, (), np.zeros(0, dtype=np.int64), found.role)

    def _coded(self, codes: np.ndarray, categories: tuple[Category, ...]) -> SettledFeature:
        counts = np.zeros(len(categories), dtype=np.int64)
        known = codes >= 0
        np.add.at(counts, codes[known].astype(np.int64), self.counts[known])
        return SettledFeature(np.append(codes, UNKNOWN).astype(dtypes.FEATURE), categories, counts)

    def numbers(self, codes: np.ndarray, listed: Sequence[Category], feature: SettledFeature) -> np.ndarray:
        """Codes by a list as what they became: for the second pass."""
        try:
            places = [self._code_of[str(one)] for one in listed]
        except KeyError:
            raise DataError(
                f"feature {self.name!r} has other categories than when it was read first: begin again"
            ) from None
        values = feature.values[[*places, -1]]
        known = ~np.isnan(codes)
        numbers = np.full(len(codes), np.nan, dtype=dtypes.FEATURE)
        numbers[known] = values[codes[known].astype(np.int64)]  # UNKNOWN, which is -1, is the last
        return numbers

    def range(self, feature: SettledFeature) -> tuple[float, float]:
        """The lowest and the highest number that a document has."""
        there = feature.values[np.append(self.counts > 0, self.unknown > 0)]
        return (float(there.min()), float(there.max())) if len(there) else (np.nan, np.nan)


def too_many(name: str, count: str) -> DataError:
    """The error for a column of ids, or of free text."""
    return DataError(
        f"feature {name!r} has {count} different entries, which cannot be kept: is it a column of ids or of free "
        "text? Leave it out: ",
        ReadOption("ignore", [name]),
    )
