"""What users are shown: the list of each session, from one or several rankings, perhaps with places exchanged."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from rankforce.data.dataset import Dataset, tie_breakers
from rankforce.data.random_streams import Stream

EXCHANGES = ("swap", "adjacent", "shuffle")


@dataclasses.dataclass(frozen=True)
class RankedLists:
    """The first places of every query under one ranking.

    rows : int64 (queries, places), −1 beyond the end of a list
    sizes : int64 (queries): documents that are shown
    place : int64 (documents, by row): the place (from 0) of every document; −1: not shown
    """

    rows: np.ndarray
    sizes: np.ndarray
    place: np.ndarray

    @classmethod
    def by(cls, scores: np.ndarray, data: Dataset, places: int, seed: int) -> RankedLists:
        """Ranked by falling score (``by_query`` order); what has score −∞ is not shown, ties are in random order."""
        queries = np.repeat(np.arange(data.n_queries), data.query_sizes)
        order = np.lexsort((tie_breakers(data, seed), -scores, queries))
        place = np.arange(data.n_documents) - data.query_starts[queries]
        visible = (place < places) & (scores[order] > -np.inf)
        rows = np.full((data.n_queries, places), -1, dtype=np.int64)
        rows[queries[visible], place[visible]] = data.rows[order[visible]]
        places_by_row = np.full(data.n_documents, -1, dtype=np.int64)
        places_by_row[data.rows[order[visible]]] = place[visible]
        return cls(rows, np.bincount(queries[visible], minlength=data.n_queries), places_by_row)


@dataclasses.dataclass(frozen=True)
class ListPolicy:
    """Which lists a query may be shown: a ranking drawn evenly, then an exchange of places in some sessions.

    exchange : None; "swap": two places of the list, any with the same probability; "adjacent": two neighbours;
        "shuffle": all of them
    share : of the sessions with an exchange
    """

    rankings: Sequence[RankedLists]
    exchange: str | None
    share: float

    def draw(self, data: Dataset, queries: np.ndarray, numbers: np.ndarray, seed: int) -> np.ndarray:
        """The rows shown in each session, (sessions, places), −1 beyond the end.

        A session is given by its query and its number within the query: what it is shown depends on nothing else.
        """
        choice = Stream.SESSION_RANKER.uniform(seed, data.query_hashes[queries], numbers)
        ranking = (choice * len(self.rankings)).astype(np.int64)
        lists = np.stack([one.rows for one in self.rankings])[ranking, queries]
        sizes = np.stack([one.sizes for one in self.rankings])[ranking, queries]
        if self.exchange is None:
            return lists
        parts = np.arange(lists.shape[1] + 2)
        draws = Stream.SESSION_ORDER.uniform(
            seed, data.query_hashes[queries][:, None], numbers[:, None], parts
        )  # the first says whether, the others what
        chosen = np.flatnonzero((draws[:, 0] < self.share) & (sizes >= 2))
        lists[chosen] = self._exchanged(lists[chosen], sizes[chosen], draws[chosen, 1:])
        return lists

    def _exchanged(self, lists: np.ndarray, sizes: np.ndarray, draws: np.ndarray) -> np.ndarray:
        if self.exchange == "shuffle":
            keys = np.where(lists >= 0, draws[:, : lists.shape[1]], np.inf)
            return np.take_along_axis(lists, np.argsort(keys, axis=1, kind="stable"), axis=1)
        if self.exchange == "adjacent":
            first = (draws[:, 0] * (sizes - 1)).astype(np.int64)
            second = first + 1
        else:
            first = (draws[:, 0] * sizes).astype(np.int64)
            second = (draws[:, 1] * (sizes - 1)).astype(np.int64)
            second += second >= first
        sessions = np.arange(len(lists))
        result = lists.copy()
        result[sessions, first], result[sessions, second] = lists[sessions, second], lists[sessions, first]
        return result

    def placement(self, rows: np.ndarray, queries: np.ndarray, places: np.ndarray) -> np.ndarray:
        """The probability that this policy shows a document (by its row) of a query at a place (from 0)."""
        total = np.zeros(len(rows))
        for one in self.rankings:
            home = one.place[rows]
            total += np.where(home >= 0, self._moved(home, places, one.sizes[queries]), 0.0)
        return total / len(self.rankings)

    def _moved(self, home: np.ndarray, places: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """The probability that the document at a place of the ranking comes to another, in lists of such sizes."""
        stays = home == places
        if self.exchange is None:
            return stays.astype(np.float64)
        if self.exchange == "shuffle":
            return (1.0 - self.share) * stays + self.share * (places < sizes) / np.maximum(sizes, 1)
        others = np.maximum(sizes - 1, 1)
        if self.exchange == "swap":
            moves = np.where(sizes >= 2, 2.0 / sizes.clip(1), 0.0)  # that it is one of the two
            return np.where(stays, 1.0 - self.share * moves, self.share * moves / others * (places < sizes))
        neighbours = (home > 0).astype(np.int64) + (home < sizes - 1)
        near = (np.abs(home - places) == 1) & (places < sizes)
        return np.where(stays, 1.0 - self.share * neighbours / others, self.share * near / others)
