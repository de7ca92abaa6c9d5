"""Rankings measured on the same queries: rows of means, and of paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.evaluation.evaluate import evaluate
from rankforce.reproducing.rows import Row

NDCGS = tuple(f"NDCG@{cut}" for cut in range(1, 11))


def measured(
    rankings: Mapping[str, Any],
    test: Dataset,
    measures: Sequence[str],
    pairs: Sequence[tuple[str, str]] = (),
    *,
    ties: str = "stable",
    **columns: Any,
) -> list[Row]:
    """A row of kind "mean" for every ranking and measure, and one of kind "difference" for every pair (new, old)."""
    values = {name: evaluate(one, test, list(measures), ties=ties).per_query for name, one in rankings.items()}
    return means_of(values, measures, **columns) + differences_of(values, measures, pairs, **columns)


def means_of(values: Mapping[str, Any], measures: Sequence[str], **columns: Any) -> list[Row]:
    """From values per query, by arm and measure."""
    rows: list[Row] = []
    for arm, found in values.items():
        for measure in measures:
            counted = found[measure][~np.isnan(found[measure])]
            rows.append(
                {"kind": "mean", "arm": arm, "measure": measure, "value": float(counted.mean())}
                | {"error": float(counted.std(ddof=1) / np.sqrt(len(counted))), "queries": len(counted), **columns}
            )
    return rows


def differences_of(
    values: Mapping[str, Any], measures: Sequence[str], pairs: Sequence[tuple[str, str]], **columns: Any
) -> list[Row]:
    rows: list[Row] = []
    for new, old in pairs:
        for measure in measures:
            both = values[new][measure] - values[old][measure]
            both = both[~np.isnan(both)]
            rows.append(
                {"kind": "difference", "arm": new, "against": old, "measure": measure, "value": float(both.mean())}
                | {"deviation": float(both.std(ddof=1)), "queries": len(both), **columns}
            )
    return rows
