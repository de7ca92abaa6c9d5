"""The queries and features that a tree sees, drawn by hash."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankforce import dtypes
from rankforce.collective import anybody, gathered
from rankforce.data.dataset import Dataset
from rankforce.data.random_streams import Stream


@dataclass(frozen=True)
class TreeSample:
    """What one round of trees sees; None: everything.

    queries : mask
    documents : of these queries, int32, rising, in ``by_query`` order
    features : mask
    """

    queries: np.ndarray | None
    documents: np.ndarray | None
    features: np.ndarray | None

    @classmethod
    def of(cls, data: Dataset, query_fraction: float, feature_fraction: float, seed: int, tree: int) -> TreeSample:
        """Drawn for round ``tree``, by hashes of the seed, the round and query ids or numbers of features."""
        queries = _drawn_queries(data, query_fraction, seed, tree)
        documents = None
        if queries is not None:
            documents = np.flatnonzero(np.repeat(queries, data.query_sizes)).astype(dtypes.INDEX)
        return cls(queries, documents, _drawn_features(data.n_features, feature_fraction, seed, tree))

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self.queries is None and self.features is None


def _drawn_queries(data: Dataset, fraction: float, seed: int, tree: int) -> np.ndarray | None:
    """A mask of at least one query; None for all."""
    if fraction >= 1.0:
        return None
    draws = Stream.TREE_QUERIES.uniform(seed, tree, data.query_hashes)
    mask = draws < fraction
    if not anybody(bool(mask.any())):  # then the one with the smallest draw; there are few if none is drawn
        mask |= draws == gathered(draws).min()
    return mask


def _drawn_features(n_features: int, fraction: float, seed: int, tree: int) -> np.ndarray | None:
    """A mask of at least one feature; None for all."""
    if fraction >= 1.0:
        return None
    count = max(1, round(fraction * n_features))
    mask = np.zeros(n_features, dtype=bool)
    mask[np.argsort(Stream.TREE_FEATURES.words(seed, tree, np.arange(n_features)), kind="stable")[:count]] = True
    return mask
