"""Pairwise accuracy."""

from __future__ import annotations

from typing import Any, ClassVar

from rankforce.measures.concordance import (
    Concordance,
    different_pairs,
    expected_pairs,
    ordered_pairs,
    prepare_concordance,
)


class PairwiseAccuracy(Concordance):
    """Share of the pairs of documents with different labels that are in the right order.

    Expected over ties, a pair of equal scores counts one half; for two grades that is the area under the ROC curve.
    A pair with a document that was not retrieved earns nothing. Unlabelled documents are left out by definition. A swap
    costs O(1) up to 64 distinct labels in the data, and the distance of the two ranks beyond.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("pairwise",)

    def normaliser(self: Any, ideal: Any) -> Any:
        return different_pairs(ideal)

    def value(self: Any, ranked: Any, normaliser: Any) -> Any:
        right, _ = ordered_pairs(ranked)
        return right / normaliser

    def prepare(self: Any, ranked: Any, normaliser: Any, columns: Any) -> Any:
        prepare_concordance(ranked, 1.0 / normaliser, columns)

    def swap_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any, r: Any) -> Any:
        return (1.0 if ranked[r + 1] > ranked[r] else -1.0) / normaliser

    def expected_value(self: Any, ranked: Any, tie_ends: Any, normaliser: Any) -> Any:
        right, _ = expected_pairs(ranked, tie_ends)
        return right / normaliser
