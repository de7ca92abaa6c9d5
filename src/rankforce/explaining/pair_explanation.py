"""Why one document stands above another, and what would swap them."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np

from rankforce.console import tables
from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.data.categories import Categories
from rankforce.displayed_text import displayed
from rankforce.explaining import feature_tables
from rankforce.explaining.place_changes import PlaceChange


class PairMember(NamedTuple):
    """One of the two documents."""

    document: Any
    rank: int
    score: float
    values: np.ndarray  # of the features


@dataclasses.dataclass(frozen=True, eq=False)
class PairExplanation(Tabular):
    """score of a − score of b = the sum of ``contributions`` (+ ``residual``, what rounding left).

    Contributions are Shapley values with b as the reference: features in which the two agree get nothing.
    ``changes`` has, for every feature that can do it alone, the smallest change of it by which the two would change
    places, the smallest first; it is empty if there is none, and None if it was not asked for or they are tied.
    """

    query: Any
    a: PairMember
    b: PairMember
    feature_names: tuple[str, ...]
    contributions: np.ndarray
    changes: tuple[PlaceChange, ...] | None
    notes: tuple[str, ...] = ()
    categories: Categories = dataclasses.field(default_factory=dict)  # of features whose values are codes

    @property
    def difference(self) -> float:
        """score of a − score of b."""
        return self.a.score - self.b.score

    @property
    def residual(self) -> float:
        return float(self.difference - self.contributions.sum())

    @property
    def smallest_change(self) -> PlaceChange | None:
        """The first of ``changes``; None if no feature alone would swap the two."""
        return self.changes[0] if self.changes else None

    def __str__(self) -> str:
        return "\n".join([self._title, feature_tables.fitted_table(*self._table()), *self._notes])

    def _result_table(self) -> ResultTable:
        return ResultTable(self._title, *self._table(), self._notes)

    def to_pandas(self) -> Any:
        """One row per feature, the largest contribution first; ``swapped_*`` are NaN or None without such a change."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        names = [self.feature_names[place] for place in order]
        by_feature = {change.feature: change for change in self.changes or ()}
        return tables.load_pandas().DataFrame(
            {
                "feature": names,
                "a": self.a.values[order],
                "b": self.b.values[order],
                "contribution": self.contributions[order],
                "swapped_document": [by_feature[name].document if name in by_feature else None for name in names],
                "swapped_value": [by_feature[name].value if name in by_feature else math.nan for name in names],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, text, lists and dictionaries that JSON can hold; None is a missing value."""
        changes = None
        if self.changes is not None:
            changes = [
                dataclasses.asdict(change)
                | {name: self._plain(change.feature, getattr(change, name)) for name in ("present", "value")}
                for change in self.changes
            ]
        return {
            "query": self.query,
            **{
                name: {"document": member.document, "rank": member.rank, "score": member.score}
                for name, member in (("a", self.a), ("b", self.b))
            },
            "difference": self.difference,
            "residual": self.residual,
            "features": [
                {"feature": name, "a": self._plain(name, a), "b": self._plain(name, b), "contribution": contribution}
                for name, a, b, contribution in zip(
                    self.feature_names,
                    self.a.values.tolist(),
                    self.b.values.tolist(),
                    self.contributions.tolist(),
                    strict=True,
                )
            ],
            "changes": changes,
            "notes": list(self.notes),
        }

    @property
    def _title(self) -> str:
        order = "above" if self.difference > 0 else "tied with" if self.difference == 0 else "below"
        first, second = (
            f"{displayed(one.document)} (rank {one.rank}, score {tables.number(one.score)})" for one in (self.a, self.b)
        )
        return f"query {displayed(self.query)}: {first} {order} {second}"

    @property
    def _notes(self) -> list[str]:
        return [
            *self._change_words(),
            *self.notes,
            f"contributions add up to the difference of the scores within {abs(self.residual):.0e}",
        ]

    def _change_words(self) -> list[str]:
        if self.difference == 0.0:
            return ["their scores are equal: nothing decides between them but the order of ties"]
        if self.changes is None:
            return []
        change = self.smallest_change
        if change is None:
            return ["no change of one feature alone would swap them"]
        size = f", past {tables.per_cent(change.passed)} of the documents"
        if self.categories.get(change.feature):
            size = f", which {tables.per_cent(1.0 - change.passed)} of the documents have"
        found = "" if change.exact else "; found by search"
        return [
            f"smallest change of one feature that swaps them: {displayed(change.feature)} of "
            f"{displayed(change.document)} from {displayed(self._value(change.feature, change.present))} to "
            f"{displayed(self._value(change.feature, change.value))}{size}{found}"
        ]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        chosen, rest = feature_tables.most_first(np.abs(self.contributions))
        swaps = {change.feature: self._swap_words(change) for change in self.changes or ()}
        rows = [
            [
                self.feature_names[place],
                self._value(self.feature_names[place], self.a.values[place]),
                self._value(self.feature_names[place], self.b.values[place]),
                feature_tables.share(self.contributions[place]),
                swaps.get(self.feature_names[place], "–"),
            ]
            for place in chosen
        ]
        if rest:
            rows.append([feature_tables.rest_name(rest), "", "", self._share(self.contributions[rest].sum()), ""])
        rows.append(["difference", "", "", self._share(self.difference), ""])
        header = ["feature", "a", "b", "contribution", "swapped if"]
        if self.changes is None:
            return header[:-1], [row[:-1] for row in rows]
        return header, rows

    def _share(self, number: float) -> str:
        return feature_tables.share(float(number))

    def _swap_words(self, change: PlaceChange) -> str:
        side = "a" if change.document == self.a.document else "b"
        return f"{side} → {self._value(change.feature, change.value)}"

    def _value(self, feature: str, number: float) -> str:
        return feature_tables.value(number, self.categories.get(feature, ()))

    def _plain(self, feature: str, number: float) -> float | str | int | None:
        return feature_tables.plain(number, self.categories.get(feature, ()))
