"""Rows that come block by block, put in the order of their queries; and a digest of every query."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.data.fingerprints import DIGEST_SIZE


class RowPlaces:
    """Where rows go, whose queries may come in pieces; ``starts`` says where each query begins."""

    def __init__(self, starts: np.ndarray) -> None:
        self._filled = np.array(starts[:-1])  # where the next row of each query goes

    def of(self, numbers: np.ndarray) -> np.ndarray:
        """The places of the next rows, given by the numbers of their queries."""
        order = np.argsort(numbers, kind="stable")
        distinct, starts, counts = np.unique(numbers[order], return_index=True, return_counts=True)
        places = np.empty(len(numbers), dtype=np.int64)
        places[order] = np.arange(len(numbers)) + np.repeat(self._filled[distinct] - starts, counts)
        self._filled[distinct] += counts
        return places


class QueryDigests:
    """Digests as ``fingerprint_of`` takes them: per query its features, then labels and weights.

    starts : where each query begins
    columns : arrays by query, of which a query's part is known when its last row comes
    weight_of : the weight of a query, given by its number; None: there are none
    digests : of the queries of which all rows came
    """

    def __init__(
        self, starts: np.ndarray, columns: Sequence[np.ndarray], weight_of: Callable[[int], np.ndarray] | None
    ) -> None:
        self._starts = starts
        self._columns = columns
        self._weight_of = weight_of
        self._open: dict[int, Any] = {}  # of queries of which not all rows were seen
        self.digests: list[bytes] = []

    @property
    def complete(self) -> bool:
        """Whether all rows came of every query of which one did."""
        return not self._open

    def take(self, block: Dataset, numbers: np.ndarray) -> None:
        """The next rows, and the numbers of their queries."""
        features = block.by_query(block.features)
        for query, number in enumerate(numbers[block.rows[block.query_starts[:-1]]].tolist()):
            first, last = self._starts[number : number + 2].tolist()
            digest, seen = self._open.pop(number, (None, 0))
            if digest is None:
                name = str(block.query_ids[query]).encode(errors="surrogatepass")
                digest = hashlib.blake2b(b"%d %d " % (len(name), last - first) + name, digest_size=DIGEST_SIZE)
            rows = features[block.query_starts[query] : block.query_starts[query + 1]]
            digest.update(rows.ravel().data)
            if seen + len(rows) < last - first:
                self._open[number] = (digest, seen + len(rows))
                continue
            for column in self._columns:
                digest.update(np.ascontiguousarray(column[first:last]).data)
            if self._weight_of is not None:
                digest.update(self._weight_of(number).tobytes())
            self.digests.append(digest.digest())
