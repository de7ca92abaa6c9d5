"""Parts and folds of data on a cluster: what ``Dataset`` has, for data that stays where it is."""

from __future__ import annotations

import abc
import weakref
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.data import splits
from rankforce.data.dataset import Dataset
from rankforce.data.query_groups import query_mask
from rankforce.data.spread import SpreadData
from rankforce.distributed.digests import find_fingerprint
from rankforce.distributed.ingesting import Ingested, cut
from rankforce.distributed.scoring import bare_piece
from rankforce.distributed.tasks import Limits, gathered_from, quietly
from rankforce.distributed.views import chosen_queries, queries_in_order


class DivisibleData(SpreadData):
    """Data on a cluster that can be taken apart by queries.

    whole, mask : of what it is a part, and which queries of that it has; None of data that is no part
    """

    client: Any
    ingested: Ingested
    options: dict[str, Any]
    whole: Self | None = None
    mask: np.ndarray | None = None

    # A part that somebody still has is given again: neither its thresholds nor what is loaded is found twice.
    @cached_property
    def _parts(self) -> weakref.WeakValueDictionary[bytes, Self]:
        return weakref.WeakValueDictionary()

    @abc.abstractmethod
    def _part(self, ingested: Ingested) -> Self:
        """Some queries, as data of its own."""

    @property
    def limits(self) -> Limits:
        """Seconds that workers have, as ``rf.shared`` was told."""
        return Limits(self.options["timeout"], self.options["silence"])

    @property
    def n_queries(self) -> int:
        return len(self.query_sizes)

    @cached_property
    def _queries(self) -> tuple[np.ndarray, np.ndarray]:
        return queries_in_order(self.ingested)

    @property
    def query_hashes(self) -> np.ndarray:
        """A hash of every query id, by first appearance."""
        return self._queries[0]

    @property
    def query_sizes(self) -> np.ndarray:
        """How many documents each query has."""
        return self._queries[1]

    def take_queries(self, queries: Any) -> Self:
        """Some queries, given by their numbers (from 0, by first appearance) or as a mask.

        A fit on them is that on ``Dataset.take_queries``, with thresholds from these queries (of a store: its own).
        """
        mask = query_mask(queries, self.n_queries)
        part = self._parts.get(mask.tobytes())
        if part is None:
            part = self._part(chosen_queries(self.ingested, mask))
            part.whole, part.mask = self, mask
            self._parts[mask.tobytes()] = part
        return part

    def split(self, *shares: float, seed: int = 0) -> tuple[Self, ...]:
        """Whole queries dealt into parts with these shares (0.6, 0.2, 0.2): those of ``Dataset.split``."""
        return splits.split(self, shares, seed)

    def folds(self, count: int = 5, seed: int = 0) -> Iterator[tuple[Self, Self]]:
        """(train, test) pairs for cross-validation: those of ``Dataset.folds``."""
        return splits.folds(self, count, seed)

    def with_thresholds(self) -> Ingested:
        """What is known of the data. Thresholds of some queries are found when they are first asked for."""
        if self.ingested.binning is None and not self.ingested.layout.kind.categories:
            self.ingested = cut(self.client, self.ingested, self.limits)
        return self.ingested

    @cached_property
    def fingerprint(self) -> str:
        """That of the Dataset of the same rows; files are read for it."""
        return find_fingerprint(self.client, self.ingested, self.limits)

    def without_values(self) -> Dataset:
        """Labels, queries and weights of all documents, here, in the order of the pieces and of the rows in them."""
        if self.whole is not None:
            return self.whole.without_values().take_queries(self.mask)
        return self._bare

    @cached_property
    def _bare(self) -> Dataset:
        found = self.ingested
        with quietly():
            tasks = [
                self.client.submit(bare_piece, piece, found.contents.get(number), pure=False)
                for number, piece in found.original_pieces().items()
            ]
        parts = gathered_from(self.client, tasks, self.limits)
        return Dataset.concat([part for part in parts if part is not None], same_query="merge")
