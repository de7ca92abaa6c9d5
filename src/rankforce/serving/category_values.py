"""Categories in the body of a query: as they are called, and then as the codes that a model reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from rankforce.data.categories import Categories
from rankforce.data.factorising import category_of, code_in, factorised
from rankforce.models.model import Model

# categorical feature -> the text of a category -> its code
CategoryTables: TypeAlias = Mapping[str, Mapping[str, int]]


def tables_of(categories: Categories) -> CategoryTables:
    """What the values of a query are looked up in; made once per model."""
    return {name: {str(one): code for code, one in enumerate(listed)} for name, listed in categories.items()}


def categorical_places(model: Model) -> list[int]:
    """The places of the features of a model that are categories."""
    listed = {place for place, name in enumerate(model.feature_names) if name in model.categories}
    return sorted(listed | model.unnamed_categories)


def codes_of_values(values: Iterable[Any], table: Mapping[str, int]) -> list[float | None]:
    """The code of each text or number, -1 for what is not in the table; None stays None."""
    return [None if value is None or value == "" else _code(value, table) for value in values]


def codes_of_column(column: Any, table: Mapping[str, int]) -> np.ndarray:
    """The codes of a column of Arrow's."""
    found = factorised(column)
    return np.array([*(_code(value, table) for value in found.values), np.nan])[found.places]


def _code(value: Any, table: Mapping[str, int]) -> float:
    return float(code_in(table, category_of(value)))
