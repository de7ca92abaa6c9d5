"""How a measure changes when two documents swap ranks, by whichever way the measure offers.

The way is chosen when a kernel is compiled: columns, what lies between, or brute force.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel
from rankforce.compiling.kernel_values import chosen_by_class, column_of
from rankforce.dtypes import Array, Number


@chosen_by_class
def prepare_swaps(measure: type) -> Callable[..., Any]:
    """``prepare_swaps(measure, ranked, normaliser, columns)``: what ``swap_change`` needs of a ranking.

    Fills ``columns``, or returns the value of the ranking where brute force needs it (0 elsewhere).
    """
    if hasattr(measure, "swap_delta") or hasattr(measure, "swap_delta_between"):
        return _prepare_columns
    return _value_before


@chosen_by_class
def swap_change(measure: type) -> Callable[..., Any]:
    """``swap_change(measure, columns, ranked, normaliser, before, a, b)``: value after minus before, ranks a < b."""
    return _fastest_way(measure)


@chosen_by_class
def value_change(measure: type) -> Callable[..., Any]:
    """As ``swap_change``, but always the change of the value.

    A measure with a field ``swaps`` lets its user choose which changes pull, and says 0 of the others.
    """
    chosen = "swaps" in measure._fields  # type: ignore[attr-defined]  # every kernel tuple has them
    return _change_by_brute_force if chosen else _fastest_way(measure)


def _fastest_way(measure: type) -> Callable[..., Any]:
    if hasattr(measure, "swap_delta"):
        return _change_by_columns
    return _change_between if hasattr(measure, "swap_delta_between") else _change_by_brute_force


def _prepare_columns(measure: Any, ranked: Array, normaliser: Number, columns: Array) -> Number:
    measure.prepare(ranked, normaliser, columns)
    return 0.0


def _value_before(measure: Any, ranked: Array, normaliser: Number, columns: Array) -> Number:
    return measure.value(ranked, normaliser)


def _change_by_columns(
    measure: Any, columns: Array, ranked: Array, normaliser: Number, before: Number, a: Number, b: Number
) -> Number:
    return measure.swap_delta(column_of(measure, columns, a), column_of(measure, columns, b))


def _change_between(
    measure: Any, columns: Array, ranked: Array, normaliser: Number, before: Number, a: Number, b: Number
) -> Number:
    return measure.swap_delta_between(columns, a, b)


def _change_by_brute_force(
    measure: Any, columns: Array, ranked: Array, normaliser: Number, before: Number, a: Number, b: Number
) -> Number:
    ranked[a], ranked[b] = ranked[b], ranked[a]
    after = measure.value(ranked, normaliser)
    ranked[a], ranked[b] = ranked[b], ranked[a]
    return after - before


# ------------------------------------------------------------------------------ one document with many, in any order


@chosen_by_class
def find_runs(measure: type) -> Callable[..., Any]:
    """``find_runs(measure, columns, size, run_ends)``: where runs of equal worth end, if ``swap_deltas`` asks."""
    return _find_runs if hasattr(measure, "swap_deltas") else _find_no_runs


@chosen_by_class
def write_changes(measure: type) -> Callable[..., Any]:
    """``write_changes(measure, columns, run_ends, i, first, last, changes)``: what ``change_with`` i will read.

    Columns are those of documents in any order, and so are the places i and [first, last).
    """
    return _write_changes if hasattr(measure, "swap_deltas") else _write_no_changes


@chosen_by_class
def change_with(measure: type) -> Callable[..., Any]:
    """``change_with(measure, mine, columns, changes, j)``: value after minus before a swap with the document at j."""
    return _written_change if hasattr(measure, "swap_deltas") else _change_with_column


def _find_runs(measure: Any, columns: Array, size: Number, run_ends: Array) -> None:
    for p in range(size - 1, -1, -1):
        same = p + 1 < size and columns[0, p + 1] == columns[0, p]
        run_ends[p] = run_ends[p + 1] if same else p + 1


def _find_no_runs(measure: Any, columns: Array, size: Number, run_ends: Array) -> None:
    pass


def _write_changes(
    measure: Any, columns: Array, run_ends: Array, i: Number, first: Number, last: Number, changes: Array
) -> None:
    measure.swap_deltas(columns, run_ends, i, first, last, changes)


def _write_no_changes(
    measure: Any, columns: Array, run_ends: Array, i: Number, first: Number, last: Number, changes: Array
) -> None:
    pass


def _written_change(measure: Any, mine: Any, columns: Array, changes: Array, j: Number) -> Number:
    return changes[j]


def _change_with_column(measure: Any, mine: Any, columns: Array, changes: Array, j: Number) -> Number:
    return measure.swap_delta(mine, column_of(measure, columns, j))


@kernel
def swap_changes(measure: Any, ranked: Array, normaliser: Number, columns: Array, out: Array) -> None:
    """The change for every pair of ranks of one query: ``out[a, b]`` and ``out[b, a]``, 0 on the diagonal.

    ranked float64 (ranks): worth in ranked order, unchanged on return; columns float64 (``column_count``, ranks):
    overwritten; out float64 (ranks, ranks).
    """
    before = prepare_swaps(measure, ranked, normaliser, columns)
    for a in range(ranked.shape[0]):
        out[a, a] = 0.0
        for b in range(a + 1, ranked.shape[0]):
            out[a, b] = swap_change(measure, columns, ranked, normaliser, before, a, b)
            out[b, a] = out[a, b]


@kernel
def changes_of_pairs(measure: Any, ranked: Array, normaliser: Number, columns: Array, pairs: Array, out: Array) -> None:
    """The change for some pairs of ranks: ``out[p]`` float64 for ``pairs[p]``, int64 (pairs, 2); else as above."""
    before = prepare_swaps(measure, ranked, normaliser, columns)
    for p in range(pairs.shape[0]):
        out[p] = swap_change(measure, columns, ranked, normaliser, before, pairs[p, 0], pairs[p, 1])


@kernel
def changes_with_many(
    measure: Any, ranked: Array, normaliser: Number, columns: Array, order: Array, out: Array
) -> None:
    """The change for every pair of ranks of different worth, as ``write_changes`` writes it in the pair loop.

    order int32 (ranks): the ranks by falling worth; out[a, b] and out[b, a] as ``swap_changes``, 0 for equal worth.
    """
    size = ranked.shape[0]
    prepare_swaps(measure, ranked, normaliser, columns)
    ordered = np.empty_like(columns)
    for p in range(size):
        for c in range(columns.shape[0]):
            ordered[c, p] = columns[c, order[p]]
    run_ends = np.empty(size, dtype=np.int64)
    changes = np.zeros(size)
    find_runs(measure, ordered, size, run_ends)
    for i in range(size):
        write_changes(measure, ordered, run_ends, i, run_ends[i], size, changes)
        for j in range(i, size):
            out[order[i], order[j]] = changes[j] if j >= run_ends[i] else 0.0
            out[order[j], order[i]] = out[order[i], order[j]]
