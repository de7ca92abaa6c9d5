"""Kendall's rank correlation."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankforce.compiling.kernel_values import choice
from rankforce.measures.concordance import (
    Concordance,
    different_pairs,
    expected_pairs,
    ordered_pairs,
    prepare_concordance,
)


class KendallTau(Concordance):
    """(pairs in the right order − pairs in the wrong order) / pairs with different labels.

    That is 2·PairwiseAccuracy − 1 where every document was retrieved; a pair with one that was not is neither right
    nor wrong.

    ``variant="b"`` divides by √(pairs with different labels · pairs with different scores) instead: τ_b, as
    ``scipy.stats.kendalltau``. A ranking has no equal scores; under ``ties="expected"`` pairs of equal score count
    as neither right nor wrong, which for the first variant is the mean over their orders and for ``"b"`` is τ_b
    with ties (0 if all scores are equal, where scipy says NaN).

    Unlabelled documents are left out by definition. Swaps cost what those of PairwiseAccuracy cost.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("tau", "Kendall")
    LOWEST: ClassVar[float] = -1.0

    variant: str = choice("a", "b")

    @property
    def expects_the_mean(self) -> bool:
        return self.variant == "a"  # τ_b divides by the pairs of different scores

    def normaliser(self: Any, ideal: Any) -> Any:
        if self.variant == 1:
            return np.sqrt(different_pairs(ideal) * (ideal.shape[0] * (ideal.shape[0] - 1.0) / 2.0))
        return different_pairs(ideal)

    def value(self: Any, ranked: Any, normaliser: Any) -> Any:
        right, wrong = ordered_pairs(ranked)
        return (right - wrong) / normaliser

    def prepare(self: Any, ranked: Any, normaliser: Any, columns: Any) -> Any:
        prepare_concordance(ranked, 2.0 / normaliser, columns)  # a pair that is put right is no longer wrong

    def swap_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any, r: Any) -> Any:
        return (2.0 if ranked[r + 1] > ranked[r] else -2.0) / normaliser

    def expected_value(self: Any, ranked: Any, tie_ends: Any, normaliser: Any) -> Any:
        right, wrong = expected_pairs(ranked, tie_ends)
        surplus = right - wrong
        if self.variant == 0:
            return surplus / normaliser
        size = ranked.shape[0]
        pairs = size * (size - 1.0) / 2.0
        different_scores = pairs
        for r in range(size):
            different_scores -= tie_ends[r] - r - 1.0
        if different_scores == 0.0:
            return 0.0
        return surplus / normaliser * np.sqrt(pairs / different_scores)
