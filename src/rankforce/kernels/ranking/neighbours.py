"""Values of a measure along a chain of rankings, each of which differs from the last by a swap of neighbours.

The way is chosen when a kernel is compiled: the measure's own ``swap_neighbours``, or evaluating the ranking again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankforce.compiling.kernel_values import chosen_by_class


@chosen_by_class
def prepare_chain(measure: type) -> Callable[..., Any]:
    """``prepare_chain(measure, ranked, normaliser, running)``: the value of a ranking, from which a chain starts."""
    return _prepare_running if hasattr(measure, "swap_neighbours") else _value_alone


@chosen_by_class
def change_of_neighbours(measure: type) -> Callable[..., Any]:
    """``change_of_neighbours(measure, ranked, normaliser, running, value, r)``: swap the documents at r and r + 1.

    ``ranked`` and ``running`` are left as they are after the swap; returns value after minus ``value``.
    """
    return _change_by_running if hasattr(measure, "swap_neighbours") else _change_by_evaluating


@chosen_by_class
def rearrange(measure: type) -> Callable[..., Any]:
    """``rearrange(measure, ranked, normaliser, running, value, first, target, count)``: the value after it.

    The ``count`` documents from rank ``first`` on are put into the order ``target`` (worth of each; overwritten).
    """
    return _rearrange_by_swaps if hasattr(measure, "swap_neighbours") else _rearrange_at_once


def _prepare_running(measure: Any, ranked: Any, normaliser: Any, running: Any) -> Any:
    measure.prepare_neighbours(ranked, normaliser, running)
    return measure.value(ranked, normaliser)


def _value_alone(measure: Any, ranked: Any, normaliser: Any, running: Any) -> Any:
    return measure.value(ranked, normaliser)


def _change_by_running(measure: Any, ranked: Any, normaliser: Any, running: Any, value: Any, r: Any) -> Any:
    if ranked[r] == ranked[r + 1]:
        return 0.0
    change = measure.swap_neighbours(ranked, normaliser, running, r)
    ranked[r], ranked[r + 1] = ranked[r + 1], ranked[r]
    return change


def _change_by_evaluating(measure: Any, ranked: Any, normaliser: Any, running: Any, value: Any, r: Any) -> Any:
    if ranked[r] == ranked[r + 1]:
        return 0.0
    ranked[r], ranked[r + 1] = ranked[r + 1], ranked[r]
    return measure.value(ranked, normaliser) - value


def _rearrange_by_swaps(
    measure: Any, ranked: Any, normaliser: Any, running: Any, value: Any, first: Any, target: Any, count: Any
) -> Any:
    """A few documents are brought up one after the other; for many, the value is found anew."""
    if count * count > 2 * ranked.shape[0] + 32:
        for k in range(count):
            ranked[first + k] = target[k]
        measure.prepare_neighbours(ranked, normaliser, running)
        return measure.value(ranked, normaliser)
    for k in range(first, first + count):
        found = k
        while found + 1 < first + count and ranked[found] != target[k - first]:
            found += 1
        for r in range(found - 1, k - 1, -1):  # all of these differ from what passes them
            value += measure.swap_neighbours(ranked, normaliser, running, r)
            ranked[r], ranked[r + 1] = ranked[r + 1], ranked[r]
    return value


def _rearrange_at_once(
    measure: Any, ranked: Any, normaliser: Any, running: Any, value: Any, first: Any, target: Any, count: Any
) -> Any:
    for k in range(count):
        ranked[first + k] = target[k]
    return measure.value(ranked, normaliser)
