"""A slow, obvious evaluation: plain Python over one query at a time, for the tests."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

import rankforce as rf


def queries(data: rf.Dataset, scores: np.ndarray, label: str = "grades") -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(labels, scores) of each query."""
    for rows in data.each_query():
        yield data.labels[label][rows], scores[rows]


def value(measure: rf.Measure, labels: np.ndarray, order: np.ndarray) -> float:
    """The value of one query ranked in ``order``; NaN if it is blank."""
    if measure.leaves_out_unlabelled:
        order = order[~np.isnan(labels[order])]
    kernel = measure.kernel_tuple()
    worth = measure.worth(labels)
    ideal = np.sort(worth[~np.isnan(labels)])[::-1].copy()
    normaliser = kernel.normaliser(ideal)
    if normaliser == 0.0:
        return np.nan
    return float(kernel.value(worth[order].copy(), normaliser))


def orders(scores: np.ndarray) -> Iterator[np.ndarray]:
    """Every order of the documents that falls by score."""
    blocks = [np.flatnonzero(scores == one) for one in sorted(set(scores.tolist()), reverse=True)]
    for choice in itertools.product(*(itertools.permutations(block) for block in blocks)):
        yield np.array(list(itertools.chain.from_iterable(choice)))


def over_orders(
    measure: rf.Measure, labels: np.ndarray, scores: np.ndarray, summary: Callable[[list[float]], float]
) -> float:
    return float(summary([value(measure, labels, order) for order in orders(scores)]))
