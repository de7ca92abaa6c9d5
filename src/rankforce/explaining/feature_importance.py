"""What a measure loses without each feature: values with their intervals, as a table."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from rankforce.console import tables
from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.console.wording import counted
from rankforce.evaluation.policies import Policies
from rankforce.evaluation.significance import Interval
from rankforce.explaining import feature_tables


@dataclasses.dataclass(frozen=True)
class FeatureLoss:
    """How much lower the measure is without a feature: positive where the feature helps.

    ``permuted``: its values dealt anew among the documents of each query, the mean of several deals; ``removed``: the
    feature taken out of the model. Each with an interval over the queries.
    """

    feature: str
    permuted: float
    permuted_interval: Interval
    removed: float
    removed_interval: Interval


@dataclasses.dataclass(frozen=True, eq=False)
class FeatureImportance(Tabular):
    """The result of ``rf.importance``: ``losses`` has one entry per feature, the largest permuted loss first.

    ``value`` is the measure of the model as it is; ``unused`` names features that the model never looks at.
    """

    measure: str
    value: float
    losses: tuple[FeatureLoss, ...]
    unused: tuple[str, ...]
    permutations: int
    n_queries: int
    level: float
    policies: Policies

    def __getitem__(self, feature: str) -> FeatureLoss:
        """The loss of one feature."""
        for loss in self.losses:
            if loss.feature == feature:
                return loss
        raise KeyError(feature)

    def __str__(self) -> str:
        return "\n".join([self._title, feature_tables.fitted_table(*self._table()), *self._notes])

    def __repr__(self) -> str:
        return f"<FeatureImportance of {counted(len(self.losses), 'feature')} for {self.measure}>"

    def _result_table(self) -> ResultTable:
        return ResultTable(self._title, *self._table(), self._notes)

    def to_pandas(self) -> Any:
        """One row per feature."""
        rows = [
            {
                "feature": loss.feature,
                "permuted": loss.permuted,
                "permuted_low": loss.permuted_interval.low,
                "permuted_high": loss.permuted_interval.high,
                "removed": loss.removed,
                "removed_low": loss.removed_interval.low,
                "removed_high": loss.removed_interval.high,
            }
            for loss in self.losses
        ]
        return tables.load_pandas().DataFrame.from_records(rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, text, lists and dictionaries that JSON can hold; None where there is no number."""
        return {
            "measure": self.measure,
            "value": _json(self.value),
            "n_queries": self.n_queries,
            "permutations": self.permutations,
            "level": self.level,
            **dataclasses.asdict(self.policies),
            "features": [
                {
                    "feature": loss.feature,
                    "permuted": _json(loss.permuted),
                    "permuted_interval": [_json(end) for end in loss.permuted_interval],
                    "removed": _json(loss.removed),
                    "removed_interval": [_json(end) for end in loss.removed_interval],
                }
                for loss in self.losses
            ],
            "unused": list(self.unused),
        }

    def plot(self, most: int = 20, *, ax: Any = None, path: Any = None) -> Any:
        """The losses with their intervals as a picture: ``rf.plot.importance``."""
        import rankforce

        return rankforce.plot.importance(self, most, ax=ax, path=path)

    @property
    def _title(self) -> str:
        return (
            f"{self.measure} = {tables.number(self.value)} on {counted(self.n_queries, 'query')}, and what it loses "
            "without a feature"
        )

    @property
    def _notes(self) -> list[str]:
        notes = [
            f"permuted: the values of the feature dealt anew within each query, mean of "
            f"{counted(self.permutations, 'deal')}",
            "removed: taken out of the model; at its splits in trees a document goes both ways, as the training "
            "documents did; elsewhere its mean",
            f"intervals: {tables.level_name(self.level)}, Student's t over queries",
        ]
        if self.unused:
            notes.append(f"{counted(len(self.unused), 'feature')} that the model never looks at lose nothing")
        return [*notes, *self.policies.sentences()]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        sizes = np.array([max(abs(loss.permuted), abs(loss.removed)) for loss in self.losses])
        shown = min(len(self.losses), 2 * feature_tables.SHOWN)
        level = f"{tables.level_name(self.level)} interval"
        rows = [
            [
                loss.feature,
                tables.number(loss.permuted, sign=True),
                tables.interval(*loss.permuted_interval, sign=True),
                tables.number(loss.removed, sign=True),
                tables.interval(*loss.removed_interval, sign=True),
            ]
            for loss in self.losses[:shown]
        ]
        if shown < len(self.losses):
            most = float(np.nanmax(sizes[shown:]))
            rows.append([f"{len(self.losses) - shown:,} others", f"≤ {most:.4f}", "", "", ""])
        return ["feature", "permuted", level, "removed", level], rows


def _json(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
