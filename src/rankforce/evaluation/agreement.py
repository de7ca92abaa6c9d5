"""How far a ranking agrees with listed preferences: what there is to measure where there are no grades."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce.collective import exact_total, total
from rankforce.data.dataset import tie_breakers
from rankforce.data.preferences import Preferences
from rankforce.errors import DataError


@dataclasses.dataclass(frozen=True)
class Agreement:
    """Σ w·P̄(of the order that the ranking gives the two) / Σ w over all listed pairs, the share that it agrees with.

    A pair counts w: its weight × its query's × those of its two documents. A pair with the probability P̄ counts P̄ if
    the ranking has ``better`` above ``worse``, else 1 − P̄; so the highest value is Σ w·max(P̄, 1 − P̄) / Σ w.
    """

    pairs: int | None = None  # that count
    highest: float | None = None

    def __str__(self) -> str:
        return "preference agreement"

    def settings(self) -> dict[str, str]:
        """What a printed result says of it."""
        words = {} if self.pairs is None else {"pairs": f"{self.pairs:,}"}
        return words if self.highest is None else words | {"highest possible": f"{self.highest:.4f}"}


AGREEMENT = Agreement()


class ListedAgreement:
    """The pairs of a preference list and what they count."""

    def __init__(self, preferences: Preferences) -> None:
        data, listed = preferences.data, preferences.listed
        self.data = data
        self.listed = listed
        self.weights = listed.weight
        if data.query_weights is not None:
            self.weights = self.weights * np.repeat(data.query_weights, np.diff(listed.starts))
        if data.weights is not None:
            of_documents = data.by_query(data.weights)
            self.weights = self.weights * of_documents[listed.better] * of_documents[listed.worse]
        self.total = exact_total(self.weights)
        if self.total == 0:
            raise DataError(f"no agreement with {preferences}: all their weights are 0")
        self._query = np.repeat(np.arange(data.n_queries), np.diff(listed.starts))
        self.query_weights = np.bincount(self._query, self.weights, data.n_queries)

    @property
    def measure(self) -> Agreement:
        """The measure, with what is true of these pairs."""
        certain = np.maximum(self.listed.probability, 1.0 - self.listed.probability)
        return Agreement(total(int(np.count_nonzero(self.weights))), exact_total(self.weights * certain) / self.total)

    def of_ranks(self, ranks: np.ndarray) -> float:
        """The agreement with a ranking without ties, from the rank of every document (``by_query`` order)."""
        above = ranks[self.listed.better] < ranks[self.listed.worse]
        agreeing = np.where(above, self.listed.probability, 1.0 - self.listed.probability)
        return exact_total(self.weights * agreeing) / self.total

    def per_query(self, scores: np.ndarray, ties: str, seed: int) -> np.ndarray:
        """The agreement within every query at these scores (``by_query`` order); NaN where no pair counts."""
        listed = self.listed
        better, worse = scores[listed.better], scores[listed.worse]
        agreeing = np.where(better > worse, listed.probability, 1.0 - listed.probability)
        agreeing = np.where(better == worse, self._of_ties(ties, seed), agreeing)
        sums = np.bincount(self._query, self.weights * agreeing, self.data.n_queries)
        return np.divide(sums, self.query_weights, out=np.full(len(sums), np.nan), where=self.query_weights > 0)

    def _of_ties(self, ties: str, seed: int) -> np.ndarray:
        """What each pair would count if its two documents had the same score."""
        better, worse, probability = self.listed.better, self.listed.worse, self.listed.probability
        if ties == "expected":
            return np.full(len(better), 0.5)
        if ties == "pessimistic":
            return np.minimum(probability, 1.0 - probability)
        if ties == "optimistic":
            return np.maximum(probability, 1.0 - probability)
        above = better < worse
        if ties == "hashed":
            keys = tie_breakers(self.data, seed)
            above = (keys[better] < keys[worse]) | ((keys[better] == keys[worse]) & above)
        return np.where(above, probability, 1.0 - probability)
