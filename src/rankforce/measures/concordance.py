"""Pairs of documents in the right order: what PairwiseAccuracy and KendallTau count.

Worth is the place of a label among the distinct labels of the data (0, 1, 2, ...), so that counts per grade are rows
of a table.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.collective import highest, union
from rankforce.compiling.jit import subroutine
from rankforce.measures.measure import Measure

MOST_GRADES = 64  # up to here a table of counts per grade makes every swap O(1)
WITHOUT_TABLE = 2  # rows: worth, scale


def grade_places(labels: np.ndarray) -> np.ndarray:
    """The place of every label among the distinct labels, from 0; unlabelled documents get 0."""
    labelled = ~np.isnan(labels)
    places = np.zeros(labels.shape, dtype=dtypes.WORTH)
    places[labelled] = np.searchsorted(union(labels[labelled]), labels[labelled])
    return places


def table_rows(worth: np.ndarray) -> int:
    """How many rows ``prepare_concordance`` fills: worth and one per grade, or two where grades are too many."""
    (grades,) = highest(int(worth.max(initial=0.0)) + 1)
    return 1 + grades if 2 <= grades <= MOST_GRADES else WITHOUT_TABLE


@subroutine
def different_pairs(ideal: Any) -> Any:
    """Pairs with different worth, from worth in falling order."""
    pairs = 0.0
    first_of_run = 0
    for r in range(ideal.shape[0]):
        if ideal[r] != ideal[first_of_run]:
            first_of_run = r
        pairs += first_of_run
    return pairs


@subroutine
def ordered_pairs(ranked: Any) -> Any:
    """(pairs in the right order, pairs in the wrong order), by a merge sort into falling worth: O(n log n)."""
    size = ranked.shape[0]
    runs = ranked.copy()
    merged = np.empty(size)
    right = 0.0
    wrong = 0.0
    width = 1
    while width < size:
        for start in range(0, size, 2 * width):
            middle = min(start + width, size)
            end = min(middle + width, size)
            # For each document of the lower run: how many of the upper run are worth more (better), how many less.
            better = start
            not_worse = start
            for q in range(middle, end):
                while better < middle and runs[better] > runs[q]:
                    better += 1
                not_worse = max(not_worse, better)
                while not_worse < middle and runs[not_worse] >= runs[q]:
                    not_worse += 1
                right += better - start
                wrong += middle - not_worse
            p = start
            q = middle
            for k in range(start, end):
                if p < middle and (q >= end or runs[p] >= runs[q]):
                    merged[k] = runs[p]
                    p += 1
                else:
                    merged[k] = runs[q]
                    q += 1
        for k in range(size):
            runs[k] = merged[k]
        width *= 2
    return right, wrong


@subroutine
def expected_pairs(ranked: Any, tie_ends: Any) -> Any:
    """``ordered_pairs`` on average over the orders of equal scores: each of their pairs is half right, half wrong."""
    right, wrong = ordered_pairs(ranked)
    start = 0
    while start < ranked.shape[0]:
        end = tie_ends[start]
        if end - start > 1:
            tied_right, tied_wrong = ordered_pairs(ranked[start:end])
            right += 0.5 * (tied_wrong - tied_right)
            wrong += 0.5 * (tied_right - tied_wrong)
        start = end
    return right, wrong


@subroutine
def prepare_concordance(ranked: Any, scale: Any, columns: Any) -> Any:
    """Write worth into row 0 and, for each grade g, scale · Σ_{k≤r} sign(g − worth(k)) into row 1 + g.

    With too many grades for a table, row 1 holds the scale.
    """
    for r in range(ranked.shape[0]):
        columns[0, r] = ranked[r]
    if columns.shape[0] == WITHOUT_TABLE:
        for r in range(ranked.shape[0]):
            columns[1, r] = scale
        return
    for grade in range(columns.shape[0] - 1):
        surplus = 0.0
        for r in range(ranked.shape[0]):
            surplus += (1.0 if ranked[r] < grade else 0.0) - (1.0 if ranked[r] > grade else 0.0)
            columns[1 + grade, r] = scale * surplus


@subroutine
def concordance_change(columns: Any, i: Any, j: Any) -> Any:
    """scale · (pairs in the right order after − before) when the documents at ranks i < j swap.

    With u the worth at i and v the worth at j it is Σ_{i<k≤j} sign(v − worth(k)) − sign(u − worth(k)).
    """
    upper = columns[0, i]
    lower = columns[0, j]
    if columns.shape[0] > WITHOUT_TABLE:
        u = 1 + int(upper)
        v = 1 + int(lower)
        return (columns[v, j] - columns[v, i]) - (columns[u, j] - columns[u, i])
    surplus = 0.0
    for k in range(i + 1, j + 1):
        worth = columns[0, k]
        surplus += (1.0 if worth < lower else 0.0) - (1.0 if worth > lower else 0.0)
        surplus -= (1.0 if worth < upper else 0.0) - (1.0 if worth > upper else 0.0)
    return surplus * columns[1, i]


@subroutine
def concordance_changes(columns: Any, run_ends: Any, i: Any, first: Any, last: Any, changes: Any) -> Any:
    """``concordance_change`` of the document at i with each of those at [first, last), from the table.

    Which of the two ranks higher does not matter: exchanging them exchanges both differences and their signs. A run of
    documents of one grade reads one row.
    """
    u = 1 + int(columns[0, i])
    p = first
    while p < last:
        end = min(run_ends[p], last)
        v = 1 + int(columns[0, p])
        mine = columns[u, i]
        theirs = columns[v, i]
        for j in range(np.uint64(p), np.uint64(end)):
            changes[j] = (columns[v, j] - theirs) - (columns[u, j] - mine)
        p = end


class Concordance(Measure):
    """Base of measures of the order of all pairs. A subclass gives ``prepare`` its scale by ``prepare_concordance``."""

    ALWAYS_JUDGED_ONLY: ClassVar[bool] = True

    def worth(self, labels: np.ndarray) -> np.ndarray:
        return grade_places(labels)

    def column_count(self, worth: np.ndarray) -> int:
        return table_rows(worth)

    def swap_delta_between(self: Any, columns: Any, i: Any, j: Any) -> Any:
        return concordance_change(columns, i, j)

    def gives_swap_deltas(self, column_count: int) -> bool:
        return column_count > WITHOUT_TABLE

    def swap_deltas(self: Any, columns: Any, run_ends: Any, i: Any, first: Any, last: Any, changes: Any) -> Any:
        concordance_changes(columns, run_ends, i, first, last, changes)

    def prepare_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any) -> Any:
        pass  # two neighbours that swap change the order of no other pair
