"""Which documents are paired, as data: the pair loop knows no rule, it walks ranges.

Within each query the documents are sorted by (stratum, falling label). A document's partners are then contiguous: the
worse ones in ``[worse_first, worse_last)``, the better ones in ``[better_first, better_last)``. Different grades, tied
in all earlier tiers, no zero clicks, missing labels, all pairs: different arrays, the same kernel. Where labels are not
worth more the higher they are, other numbers stand for them (``JudgedMeasure.standing``).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from rankforce import dtypes

DOCUMENTS_AT_A_TIME = 2**16
FEW_PAIRS = 500_000  # that one thread is done with sooner than it could wake another: half a millisecond
PAIRS_PER_DOCUMENT = 32  # what a document costs beside its pairs, in pairs: ranks, columns, coordinates


@dataclass(frozen=True)
class PairRanges:
    """``members[starts[q] + p]`` is the document at place p of query q; places count within the query."""

    members: np.ndarray  # int32 (documents)
    worse: np.ndarray  # int32 (documents, 2): by place
    better: np.ndarray  # int32 (documents, 2): by place; empty unless asked for
    n_pairs: int

    @classmethod
    def of(
        cls,
        labels: np.ndarray,
        starts: np.ndarray,
        *,
        earlier: tuple[np.ndarray, ...] = (),
        active: np.ndarray | None = None,
        with_better: bool = True,
    ) -> PairRanges:
        """Pairs with different labels, both labelled and ``active``, and equal (or both missing) in ``earlier``.

        labels, earlier and active are in ``by_query`` order. Loops over all pairs walk each from its better end and
        need no ``better``.
        """
        n = len(labels)
        stratum = _strata(earlier, n)
        members = np.empty(n, dtype=dtypes.INDEX)
        worse = np.empty((n, 2), dtype=dtypes.INDEX)
        better = np.empty((n if with_better else 0, 2), dtype=dtypes.INDEX)
        # Some queries at a time: the intermediate arrays take 100 bytes and more per document.
        cuts = np.searchsorted(starts, np.arange(0, n, DOCUMENTS_AT_A_TIME))
        for first, last in itertools.pairwise([*np.unique(cuts).tolist(), len(starts) - 1]):
            begin, end = int(starts[first]), int(starts[last])
            part = slice(begin, end)
            usable = ~np.isnan(labels[part]) if active is None else active[part] & ~np.isnan(labels[part])
            ranges = _ranges(labels[part], usable, stratum[part], starts[first : last + 1] - begin)
            members[part] = ranges[0] + begin
            worse[part] = ranges[1]
            if with_better:
                better[part] = ranges[2]
        return cls(members, worse, better, n_pairs=int((worse[:, 1] - worse[:, 0]).sum(dtype=np.int64)))

    def costs_of_queries(self, starts: np.ndarray) -> np.ndarray:
        """Running totals over the queries, from 0, of what the pair loop takes, in pairs: int64 (queries + 1)."""
        costs = np.zeros(len(self.worse) + 1, dtype=np.int64)
        np.cumsum(self.worse[:, 1] - self.worse[:, 0] + PAIRS_PER_DOCUMENT, out=costs[1:], dtype=np.int64)
        return costs[starts]


def _ranges(
    labels: np.ndarray, usable: np.ndarray, stratum: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(members, worse, better) of some queries that begin at document 0."""
    queries = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    falling = np.where(usable, -labels, np.inf)
    order = np.lexsort((falling, ~usable, stratum, queries))
    group = _runs(queries[order], stratum[order], ~usable[order])  # one query, one stratum, usable or not
    level = _runs(group, falling[order])  # and one label
    query_start = starts[queries[order]]
    group_first, group_last = _spans(group)
    level_first, level_last = _spans(level)
    worse = np.column_stack([level_last - query_start, group_last - query_start])
    better = np.column_stack([group_first - query_start, level_first - query_start])
    worse[~usable[order]] = 0
    better[~usable[order]] = 0
    return order, worse, better


def _strata(earlier: tuple[np.ndarray, ...], n: int) -> np.ndarray:
    """A number for each combination of earlier labels; a missing label equals only a missing label."""
    stratum = np.zeros(n, dtype=np.int64)
    for labels in earlier:
        _, codes = np.unique(labels, return_inverse=True, equal_nan=True)
        _, stratum = np.unique(stratum * (codes.max(initial=0) + 1) + codes, return_inverse=True)
    return stratum


def _runs(*keys: np.ndarray) -> np.ndarray:
    """Number the runs of equal keys: 0, 0, 1, 1, 1, 2, ..."""
    changes = np.zeros(len(keys[0]), dtype=bool)
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    return np.cumsum(changes)


def _spans(runs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the run of each entry begins and ends."""
    edges = np.concatenate([[0], np.flatnonzero(np.diff(runs)) + 1, [len(runs)]])
    return edges[:-1][runs], edges[1:][runs]
