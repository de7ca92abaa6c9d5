"""How the labels of a data set are spread over documents and queries."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.data.pair_counts import ManyPairs, many_pairs


@dataclasses.dataclass(frozen=True)
class LabelSummary:
    """One label source: how its values are spread, and which queries can teach nothing.

    ``values`` maps each value to its number of documents if there are at most 32 different ones, else it is empty.
    A *blank* query has labels, but none above 0; a *uniform* one has at least two labels, all equal (blank ones
    included).
    """

    name: str
    unlabelled: int
    distinct: int
    values: Mapping[float, int]
    lowest: float
    highest: float
    mean: float
    blank_queries: int
    uniform_queries: int
    unlabelled_queries: int
    mixed_queries: int
    sorted_queries: int  # among the mixed ones: rows in falling or rising order of the label
    many_pairs: ManyPairs | None  # the query with the most pairs of different labels, if there are very many

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self) | {
            "values": {f"{value:g}": count for value, count in self.values.items()},
            "many_pairs": None if self.many_pairs is None else self.many_pairs._asdict(),
        }


def label_summary(data: Dataset, name: str) -> LabelSummary:
    labels = data.by_query(data.labels[name])
    starts = data.query_starts[:-1]
    labelled = ~np.isnan(labels)
    counts = np.add.reduceat(labelled.astype(np.int64), starts)
    lowest = np.fmin.reduceat(labels, starts)
    highest = np.fmax.reduceat(labels, starts)
    mixed = lowest < highest  # NaN compares false
    values, frequency = np.unique(labels[labelled], return_counts=True)
    return LabelSummary(
        name=name,
        unlabelled=int((~labelled).sum()),
        distinct=len(values),
        values={float(value): int(count) for value, count in zip(values, frequency, strict=True)}
        if len(values) <= 32
        else {},
        lowest=float(values[0]) if len(values) else float("nan"),
        highest=float(values[-1]) if len(values) else float("nan"),
        mean=float(labels[labelled].mean()) if len(values) else float("nan"),
        blank_queries=int((highest <= 0.0).sum()),
        uniform_queries=int(((counts > 1) & ~mixed).sum()),
        unlabelled_queries=int((counts == 0).sum()),
        mixed_queries=int(mixed.sum()),
        sorted_queries=int((mixed & (_sorted(labels, data, -1.0) | _sorted(labels, data, 1.0))).sum()),
        many_pairs=many_pairs(data, name),
    )


def _sorted(labels: np.ndarray, data: Dataset, direction: float) -> np.ndarray:
    """Whether the labels of each query's rows rise (direction 1) or fall (-1), equal ones allowed."""
    steps = np.zeros(len(labels), dtype=bool)  # steps[k]: row k goes against the direction
    steps[1:] = direction * (labels[1:] - labels[:-1]) < 0.0
    steps[data.query_starts[:-1]] = False
    return np.add.reduceat(steps.astype(np.int64), data.query_starts[:-1]) == 0
