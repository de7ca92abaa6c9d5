"""What is said about the features of a table: which hold categories, of which list, and which need not be there.

``gathered`` makes features of columns by it. All columns that no feature can be made of are told in one message.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankforce.console.wording import counted
from rankforce.data.categories import NO_CATEGORIES, Categories, Category
from rankforce.data.feature_columns import FeatureColumn, Unsettled, Unusable, feature_column
from rankforce.displayed_text import displayed
from rankforce.errors import DataError
from rankforce.kinds import shown
from rankforce.remedies import ReadOption, Remedy

_SHOWN = 8  # columns in a message
LEFT_OUT = "left out"


@dataclasses.dataclass(frozen=True)
class FeatureOptions:
    """What is known of features before their columns are seen."""

    categorical: Sequence[str] = ()  # features (or their columns) that were declared
    lists: Categories = dataclasses.field(default_factory=dict)  # feature → its categories, where they are known
    needed: frozenset[str] | None = None  # features that must be usable, others are left out; None: all must
    partial: bool = False  # the columns are some rows of a table
    names: tuple[str, ...] = ()  # the features of what is read like, in their order

    @classmethod
    def of(cls, categorical: Any, like: Any, categories: Any = None) -> FeatureOptions:
        """From the arguments of a reader: names of columns, a data set or model to read like, lists of categories."""
        lists, names = (NO_CATEGORIES, ()) if like is None else _features_like(like)
        needed = None if like is None else frozenset(names)
        if categories is not None:
            lists = {**lists, **categories}
        return cls(listed_columns(categorical, "categorical"), lists, needed, names=names)

    def declared(self, column: str, feature: str) -> bool:
        return column in self.categorical or feature in self.categorical

    def numbered_from(self, first_index: int) -> int:
        """How many features there are at least where they have numbers: as many as what is read like has.

        0 if those have names, or other numbers than from ``first_index`` on: which is which cannot be known then.
        """
        alike = all(name == str(index) for index, name in enumerate(self.names, start=first_index))
        return len(self.names) if alike else 0


def _features_like(like: Any) -> tuple[Categories, tuple[str, ...]]:
    """Categories and features of a data set, a model, or a ranker that has learned one."""
    model = getattr(like, "model_", like)
    categories, names = getattr(model, "categories", None), getattr(model, "feature_names", None)
    if isinstance(model, type) or not isinstance(categories, Mapping) or not isinstance(names, tuple):
        raise DataError(f"like takes a Dataset, a model or a fitted ranker, not {shown(like)}")
    return categories, names


def listed_columns(given: Any, option: str) -> list[str]:
    """The columns that an option lists; a single text is refused, for it is a sequence of letters."""
    if isinstance(given, str):
        raise DataError(f"{option} lists columns: ", ReadOption(option, [given]))
    try:
        return [] if given is None else [str(name) for name in given]
    except Exception as error:  # no list, or an object that only promises to be one
        raise DataError(f"{option} lists columns, and is not {shown(given)}: {error}") from error


class Features(NamedTuple):
    """Columns as features."""

    columns: list[np.ndarray]
    names: list[str]
    categories: dict[str, tuple[Category, ...]]
    roles: dict[str, str]  # column → what was made of it, where this is worth saying
    unsettled: dict[str, Unsettled]  # feature → what its entries become when all were seen


class UnusableColumnsError(DataError):
    """Columns that no feature can be made of, all of them: ``columns`` has the reason for each."""

    def __init__(self, columns: Mapping[str, Unusable]) -> None:
        self.columns = dict(columns)
        super().__init__(self.problem, "\n  ", *self.remedy)

    @property
    def problem(self) -> str:
        told = [f"{displayed(repr(name))} ({one.reason})" for name, one in self.columns.items()]
        more = f" and {len(told) - _SHOWN:,} more" if len(told) > _SHOWN else ""
        heading = counted(len(told), "column is no feature", "columns are no features")
        return f"{heading}: {', '.join(told[:_SHOWN])}{more}"

    @property
    def remedy(self) -> list[str | Remedy]:
        """What to write to leave all of them out, or to declare them."""
        which = "it" if len(self.columns) == 1 else "them"
        words: list[str | Remedy] = [f"leave {which} out: ", ReadOption("ignore", list(self.columns))]
        declarable = [name for name, one in self.columns.items() if one.may_be_declared]
        if declarable:
            words += ["; for categories: ", ReadOption("categorical", declarable)]
        if any(one.decimal_comma for one in self.columns.values()):
            words += ["; for numbers of CSV: ", ReadOption("decimal", ",")]
        elif any(one.spelled for one in self.columns.values()):
            words += ["; for numbers: convert them first"]
        return words

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.columns,)


def gathered(columns: Iterable[tuple[str, str, Any]], options: FeatureOptions) -> Features:
    """Features of (column, name of the feature, raw values), as the options say."""
    result = Features([], [], {}, {}, {})
    unusable: dict[str, Unusable] = {}
    for column, name, values in columns:
        listed = options.lists.get(name)
        needed = options.needed is None or name in options.needed or options.declared(column, name)
        like = options.needed is not None and name in options.needed
        found = feature_column(
            values,
            listed=listed,
            declared=options.declared(column, name),
            find=needed and not like,
            partial=options.partial,
        )
        if isinstance(found, FeatureColumn):
            _add(result, column, name, found)
        elif needed:
            unusable[column] = found
        else:
            result.roles[column] = f"{LEFT_OUT} (not asked for, and no numbers)"
    if unusable:
        raise UnusableColumnsError(unusable)
    return result


def _add(features: Features, column: str, name: str, found: FeatureColumn) -> None:
    features.columns.append(found.values)
    features.names.append(name)
    if found.categories:
        features.categories[name] = found.categories
    if found.role:
        features.roles[column] = found.role
    if found.unsettled is not None:
        features.unsettled[name] = found.unsettled
