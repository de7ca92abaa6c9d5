"""A data set as notebooks show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankforce.console.result_tables import ResultTable

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset

_NAMES_SHOWN = 20  # of features


def html_of(data: Dataset) -> str:
    """Sizes, and the range of each label source."""
    rows = []
    for name, values in data.labels.items():
        labelled = values[~np.isnan(values)]
        ends = [f"{labelled.min():g}", f"{labelled.max():g}"] if len(labelled) else ["–", "–"]
        rows.append([name, *ends, f"{len(values) - len(labelled):,}"])
    names = ", ".join(data.feature_names[:_NAMES_SHOWN]) + (", ..." if data.n_features > _NAMES_SHOWN else "")
    title = repr(data).partition(", labels:")[0] + ")"
    header = ["label", "lowest", "highest", "unlabelled"]
    return ResultTable(title, header, rows, [f"features: {names or 'none'}"]).html()
