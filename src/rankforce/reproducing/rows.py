"""What an experiment measures: rows of named numbers, and ways to pick some of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

Row = dict[str, Any]


class Rows:
    """Rows in the order in which they were measured. A column that a row lacks is None there."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = list(rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def where(self, **wanted: Any) -> Rows:
        """The rows whose columns have these values; of a tuple, one of them."""
        return Rows(
            row
            for row in self._rows
            if all(row.get(name) in (value if isinstance(value, tuple) else (value,)) for name, value in wanted.items())
        )

    def distinct(self, column: str) -> list[Any]:
        """The values of a column, each once, in the order of their first rows."""
        return list(dict.fromkeys(row[column] for row in self._rows if row.get(column) is not None))

    def values(self, column: str = "value", **wanted: Any) -> np.ndarray:
        return np.array([row[column] for row in self.where(**wanted)], dtype=np.float64)

    def mean(self, column: str = "value", **wanted: Any) -> float:
        """The mean of a column; NaN if no row is wanted."""
        values = self.values(column, **wanted)
        return float(values.mean()) if len(values) else float("nan")

    def columns(self) -> list[str]:
        """The names of all columns, in the order in which they first appear."""
        return list(dict.fromkeys(name for row in self._rows for name in row))
