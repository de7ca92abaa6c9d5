"""A random number for every document that the order of the file does not change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankforce.data.hashing import combine
from rankforce.data.random_streams import Stream

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset


def tie_breakers(data: Dataset, seed: int) -> np.ndarray:
    """A random number for every document (in ``by_query`` order) that decides equal scores in training.

    A hash of seed, query id and position in the query: never the order of the file, which is often sorted by grade.
    """
    return Stream.TIES.words(seed, document_hashes(data))


def document_hashes(data: Dataset) -> np.ndarray:
    """A hash of every document (in ``by_query`` order), of its query's id and its position in the query.

    What random choices about a document are made from.
    """
    positions = np.arange(data.n_documents) - np.repeat(data.query_starts[:-1], data.query_sizes)
    return combine(np.repeat(data.query_hashes, data.query_sizes), positions)
