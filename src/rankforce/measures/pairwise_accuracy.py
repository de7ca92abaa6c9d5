"""Pairwise accuracy."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankforce.measures.concordance import (
    WITHOUT_TABLE,
    concordance_change,
    concordance_changes,
    different_pairs,
    expected_surplus,
    grade_places,
    ordered_pairs,
    prepare_concordance,
    table_rows,
)
from rankforce.measures.measure import Measure


class PairwiseAccuracy(Measure):
    """Share of the pairs of documents with different labels that are in the right order.

    Expected over ties, a pair of equal scores counts one half; for two grades that is the area under the ROC curve.
    Unlabelled documents are left out by definition. A swap costs O(1) up to 64 distinct labels in the data, and the
    distance of the two ranks beyond.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("pairwise",)
    ALWAYS_JUDGED_ONLY: ClassVar[bool] = True

    def worth(self, labels: np.ndarray) -> np.ndarray:
        return grade_places(labels)

    def column_count(self, worth: np.ndarray) -> int:
        return table_rows(worth)

    def normaliser(self: Any, ideal: Any) -> Any:
        return different_pairs(ideal)

    def value(self: Any, ranked: Any, normaliser: Any) -> Any:
        right, _ = ordered_pairs(ranked)
        return right / normaliser

    def prepare(self: Any, ranked: Any, normaliser: Any, columns: Any) -> Any:
        prepare_concordance(ranked, 1.0 / normaliser, columns)

    def swap_delta_between(self: Any, columns: Any, i: Any, j: Any) -> Any:
        return concordance_change(columns, i, j)

    def gives_swap_deltas(self, column_count: int) -> bool:
        return column_count > WITHOUT_TABLE

    def swap_deltas(self: Any, columns: Any, run_ends: Any, i: Any, first: Any, last: Any, changes: Any) -> Any:
        concordance_changes(columns, run_ends, i, first, last, changes)

    def prepare_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any) -> Any:
        pass  # two neighbours that swap change the order of no other pair

    def swap_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any, r: Any) -> Any:
        return (1.0 if ranked[r + 1] > ranked[r] else -1.0) / normaliser

    def expected_value(self: Any, ranked: Any, tie_ends: Any, normaliser: Any) -> Any:
        return 0.5 + 0.5 * expected_surplus(ranked, tie_ends) / normaliser
