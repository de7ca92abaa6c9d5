"""The sorting kernels against NumPy's lexsort."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rankforce.kernels.ranking.ordering import BLOCK, order_documents, reorder_documents


def expected_order(scores: np.ndarray, keys: np.ndarray, starts: np.ndarray) -> np.ndarray:
    parts = []
    for a, b in itertools.pairwise(starts):
        parts.append(a + np.lexsort((np.arange(b - a), keys[a:b], -scores[a:b])))
    return np.concatenate(parts)


def a_case(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    sizes = np.array([0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5, 5])
    starts = np.concatenate([[0], np.cumsum(generator.permutation(sizes))]).astype(np.int64)
    n = int(starts[-1])
    scores = {
        "distinct": generator.normal(size=n),
        "many ties": generator.integers(-2, 2, n).astype(np.float64),
        "all equal": np.zeros(n),
        "infinite and both zeros": generator.choice([-np.inf, -0.0, 0.0, 1.0], n),
        "falling": -np.arange(n, dtype=np.float64),
    }[kind]
    keys = generator.integers(0, 4, n).astype(np.uint64) if seed % 2 else np.zeros(n, dtype=np.uint64)
    return scores, keys, starts


@pytest.mark.parametrize("kind", ["distinct", "many ties", "all equal", "infinite and both zeros", "falling"])
@pytest.mark.parametrize("seed", range(4))
def test_order_is_falling_score_then_key_then_position(kind: str, seed: int) -> None:
    scores, keys, starts = a_case(seed, kind)
    order = np.full(len(scores), -1, dtype=np.int32)
    order_documents(scores, keys, starts, 0, len(starts) - 1, order)
    np.testing.assert_array_equal(order, expected_order(scores, keys, starts))


@pytest.mark.parametrize("kind", ["distinct", "many ties", "all equal", "infinite and both zeros", "falling"])
@pytest.mark.parametrize("change", [0.0, 0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(2))
def test_reordering_from_any_order_gives_the_same(seed: int, change: float, kind: str) -> None:
    """From one that is nearly right by merging, from another by counting, up to 256 documents."""
    scores, keys, starts = a_case(seed, kind)
    order = np.empty(len(scores), dtype=np.int32)
    noise = change * np.random.default_rng(seed).normal(size=len(scores))
    order_documents(scores + noise, keys[::-1].copy(), starts, 0, len(starts) - 1, order)
    reorder_documents(scores, keys, starts, 0, len(starts) - 1, order)
    np.testing.assert_array_equal(order, expected_order(scores, keys, starts))


def test_only_the_queries_asked_for_are_written() -> None:
    scores, keys, starts = a_case(0, "distinct")
    order = np.full(len(scores), -1, dtype=np.int32)
    order_documents(scores, keys, starts, 3, 5, order)
    written = np.flatnonzero(order >= 0)
    np.testing.assert_array_equal(written, np.arange(starts[3], starts[5]))
