"""Why a document has its score: what each feature contributes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.console import tables
from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.data.categories import Categories
from rankforce.displayed_text import displayed
from rankforce.explaining import feature_tables


@dataclasses.dataclass(frozen=True, eq=False)
class DocumentExplanation(Tabular):
    """score = ``base`` + the sum of ``contributions`` (+ ``residual``, what rounding left).

    ``values`` and ``contributions`` have one entry per feature, in the order of ``feature_names``.
    """

    query: Any
    document: Any
    rank: int
    score: float
    base: float
    feature_names: tuple[str, ...]
    values: np.ndarray
    contributions: np.ndarray
    notes: tuple[str, ...] = ()
    categories: Categories = dataclasses.field(default_factory=dict)  # of features whose values are codes

    @property
    def residual(self) -> float:
        return float(self.score - (self.base + self.contributions.sum()))

    def __str__(self) -> str:
        return "\n".join([self._title, feature_tables.fitted_table(*self._table()), *self._notes])

    def _result_table(self) -> ResultTable:
        return ResultTable(self._title, *self._table(), self._notes)

    def to_pandas(self) -> Any:
        """One row per feature, the largest contribution first."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        return tables.load_pandas().DataFrame(
            {
                "feature": [self.feature_names[place] for place in order],
                "value": self.values[order],
                "contribution": self.contributions[order],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, text, lists and dictionaries that JSON can hold; None is a missing value.

        A category is itself, and None if the model does not know it."""
        return {
            "query": self.query,
            "document": self.document,
            "rank": self.rank,
            "score": self.score,
            "base": self.base,
            "residual": self.residual,
            "features": [
                {"feature": name, "value": self._plain(name, value), "contribution": contribution}
                for name, value, contribution in zip(
                    self.feature_names, self.values.tolist(), self.contributions.tolist(), strict=True
                )
            ],
            "notes": list(self.notes),
        }

    @property
    def _title(self) -> str:
        name = f"query {displayed(self.query)}, document {displayed(self.document)}"
        return f"{name}: rank {self.rank}, score {tables.number(self.score)}"

    @property
    def _notes(self) -> list[str]:
        return [*self.notes, f"contributions add up to the score within {abs(self.residual):.0e}"]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        chosen, rest = feature_tables.most_first(np.abs(self.contributions))
        rows = [[self.feature_names[place], self._value(place), self._share(place)] for place in chosen]
        if rest:
            rows.append([feature_tables.rest_name(rest), "", feature_tables.share(self.contributions[rest].sum())])
        rows.append(["base", "", feature_tables.share(self.base)])
        rows.append(["score", "", feature_tables.share(self.score)])
        return ["feature", "value", "contribution"], rows

    def _value(self, place: int) -> str:
        return feature_tables.value(self.values[place], self.categories.get(self.feature_names[place], ()))

    def _plain(self, name: str, value: float) -> float | str | int | None:
        return feature_tables.plain(value, self.categories.get(name, ()))

    def _share(self, place: int) -> str:
        return feature_tables.share(self.contributions[place])
