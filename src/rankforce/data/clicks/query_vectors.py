"""Queries as vectors of their terms, and which of them point in nearly the same direction.

tf·idf with idf = ln((1 + n)/(1 + queries with the term)) + 1 over the n queries of a log, each counted once however
often it was asked; the similarity is the cosine. No order of the log can change a number: terms are numbered by how
rare they are, and products are summed in that order.

Only pairs that can reach the threshold are looked at. Of a vector, the entries of its most frequent terms are set aside
as long as their norm stays below the threshold: what shares only these with it cannot reach the threshold, since all
vectors have norm 1. The others are found through an inverted index of the rest, which has no terms that half of all
queries share, and their cosines are computed in full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

ENTRIES_AT_ONCE = 1 << 22  # of products of a block of queries with all others
_DIGITS = 12  # cosines are rounded to: equal vectors have similarity 1
_MARGIN = 1e-9  # for what rounding does to bounds


class QueryVectors:
    """The vectors of some queries, by which other texts find those that are similar to them."""

    def __init__(self, texts: Sequence[str], terms: Callable[[str], list[str]]) -> None:
        self._terms = terms
        counted = [Counter(terms(text)) for text in texts]
        frequency = Counter(term for counts in counted for term in counts)
        rare_first = sorted(frequency, key=lambda term: (frequency[term], term))
        self._numbers = {term: number for number, term in enumerate(rare_first)}
        self._frequency = np.array([frequency[term] for term in rare_first], dtype=np.int64)
        self._idf = np.log((1.0 + len(texts)) / (1.0 + self._frequency)) + 1.0
        self._unseen_idf = float(np.log(1.0 + len(texts)) + 1.0)
        self._vectors = self._rows(counted)
        self._inverted = self._vectors.T.tocsr()

    def above(self, texts: Sequence[str], threshold: float) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(number of the text, number of the query, similarity) of all pairs at or above a threshold, in blocks."""
        vectors = self._rows([Counter(self._terms(text)) for text in texts])
        decisive, rest_norms = _split(vectors, threshold)
        work = np.bincount(_row_numbers(decisive), self._frequency[decisive.indices], len(texts))
        for first, last in _blocks(work):
            found = (decisive[first:last] @ self._inverted).tocoo()
            possible = found.data + rest_norms[first:last][found.row] >= threshold - _MARGIN
            rows, queries = found.row[possible].astype(np.int64) + first, found.col[possible].astype(np.int64)
            for part in range(0, len(rows), ENTRIES_AT_ONCE // 8):
                some = slice(part, part + ENTRIES_AT_ONCE // 8)
                cosines = self._cosines(vectors, rows[some], queries[some])
                similar = cosines >= threshold
                yield rows[some][similar], queries[some][similar], cosines[similar]

    def _cosines(self, vectors: Any, rows: np.ndarray, queries: np.ndarray) -> np.ndarray:
        products = vectors[rows].multiply(self._vectors[queries]).tocsr()
        products.sort_indices()
        cosines = np.asarray(products.sum(axis=1)).ravel()
        return np.minimum(np.round(cosines, _DIGITS), 1.0)

    def _rows(self, counted: Sequence[Counter[str]]) -> Any:
        """One vector of norm 1 per text. A term that no query has counts in the norm and has no entry."""
        from scipy import sparse

        starts, numbers, counts, unseen = [0], [], [], []
        for one in counted:
            known = sorted((self._numbers[term], count) for term, count in one.items() if term in self._numbers)
            numbers += [number for number, _ in known]
            counts += [count for _, count in known]
            starts.append(len(numbers))
            unseen.append(sum(count**2 for term, count in one.items() if term not in self._numbers))
        columns = np.array(numbers, dtype=np.int64)
        weights = np.array(counts, dtype=np.float64) * self._idf[columns]
        rows = np.repeat(np.arange(len(counted)), np.diff(starts))
        norms = np.sqrt(np.bincount(rows, weights**2, len(counted)) + self._unseen_idf**2 * np.array(unseen, float))
        entries = (weights / norms[rows], columns, np.array(starts, dtype=np.int64))
        return sparse.csr_array(entries, shape=(len(counted), len(self._numbers)))


def _split(vectors: Any, threshold: float) -> tuple[Any, np.ndarray]:
    """The entries without which a vector reaches no threshold, and the norms of what was set aside."""
    from scipy import sparse

    ends, squares = vectors.indptr[1:].copy(), np.zeros(vectors.shape[0])
    going_on = np.flatnonzero(ends > vectors.indptr[:-1])
    while len(going_on):  # the most frequent term that is left, of every vector at once
        further = squares[going_on] + vectors.data[ends[going_on] - 1] ** 2
        set_aside = np.sqrt(further) < threshold - _MARGIN
        going_on, further = going_on[set_aside], further[set_aside]
        squares[going_on] = further
        ends[going_on] -= 1
        going_on = going_on[ends[going_on] > vectors.indptr[:-1][going_on]]
    decisive = np.arange(len(vectors.data)) < np.repeat(ends, np.diff(vectors.indptr))
    starts = np.concatenate([[0], np.cumsum(ends - vectors.indptr[:-1])])
    entries = (vectors.data[decisive], vectors.indices[decisive], starts)
    return sparse.csr_array(entries, shape=vectors.shape), np.sqrt(squares)


def _row_numbers(vectors: Any) -> np.ndarray:
    return np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))


def _blocks(work: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose work together stays within a bound, where one row's does."""
    first, total = 0, 0
    for row, amount in enumerate(work.tolist()):
        if row > first and total + amount > ENTRIES_AT_ONCE:
            yield first, row
            first, total = row, 0
        total += amount
    if first < len(work):
        yield first, len(work)
