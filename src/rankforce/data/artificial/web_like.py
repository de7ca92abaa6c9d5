"""Artificial data with the kinds of features that web search has: for benchmarks of speed and memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankforce import dtypes
from rankforce.data.artificial.artificial import WEB_SHARES, grades_by_quantile, query_sizes
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import checked_seed
from rankforce.data.random_streams import Stream
from rankforce.kinds import check_number

_ROWS_AT_A_TIME = 4096
_HIDDEN = 8  # causes behind the features: matches in title, body, ..., quality of the page


def make_web_like(
    queries: int = 4000,
    documents: int | tuple[int, int] = 120,
    features: int = 136,
    seed: int = 0,
    *,
    function_seed: int = 0,
    shares: Sequence[float] = WEB_SHARES,
    missing: float = 0.0,
) -> Dataset:
    """Features of four kinds, in turn: sparse counts (mostly 0), few-valued (at most 8 values), dense and
    heavy-tailed (over many orders of magnitude), and dense and bounded; every 17th is the same for all documents
    of a query.

    A document has 8 hidden normal causes. A feature is a monotone function of one or two of them with noise of its
    own; the grade cuts a nonlinear function of the causes (with noise) at quantiles over all documents. No feature
    tells the grade, many tell a little. ``function_seed`` decides which feature shows what.
    """
    for name, value in (("queries", queries), ("features", features)):
        check_number(name, value, 1, whole=True)
    check_number("missing", missing, 0.0, 1.0)
    random = Stream.WEB_LIKE_DATA.generator(checked_seed(seed))
    sizes = query_sizes(queries, documents, random)
    n = int(sizes.sum())
    mixing, spread = _mixing(features, function_seed)
    per_query = random.standard_normal((queries, features), dtype=np.float32)
    query = np.repeat(np.arange(queries), sizes)
    matrix = np.empty((n, features), dtype=dtypes.FEATURE)
    target = np.empty(n)
    for first in range(0, n, _ROWS_AT_A_TIME):
        block = matrix[first : first + _ROWS_AT_A_TIME]
        causes = random.standard_normal((len(block), _HIDDEN), dtype=np.float32)
        random.standard_normal(out=block, dtype=np.float32)
        for cause in range(_HIDDEN):  # not a matrix product, whose last bits depend on the machine
            block += causes[:, cause, None] * mixing[cause]
        block[:, 16::17] = per_query[query[first : first + len(block)], 16::17]
        _shape(block, spread)
        if missing:
            block[random.random(block.shape, dtype=np.float32) < missing] = np.nan
        target[first : first + len(block)] = _relevance(causes) + 0.7 * random.standard_normal(len(block))
    return Dataset(matrix, grades_by_quantile(target, shares), np.repeat(np.arange(1, queries + 1), sizes))


def _mixing(features: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(how strongly each cause shows in each feature, the spread of each feature)."""
    random = Stream.WEB_LIKE_FUNCTION.generator(checked_seed(seed))
    mixing = np.zeros((_HIDDEN, features), dtype=np.float32)
    for _ in range(2):
        mixing[random.integers(_HIDDEN, size=features), np.arange(features)] += random.uniform(-0.2, 1.0, features)
    return mixing, random.uniform(0.5, 3.0, features).astype(np.float32)


def _shape(block: np.ndarray, spread: np.ndarray) -> None:
    """Turn normal columns into the four kinds, in place; every kind is a monotone function of the column."""
    counts, levels, tails, bounded = (block[:, kind::4] for kind in range(4))
    counts[:] = np.floor(np.exp(spread[0::4] * (counts - 1.0)))
    levels[:] = np.floor(np.clip(levels * 2.0 + 4.0, 0.0, 7.0))
    tails[:] = np.exp(np.minimum(spread[2::4] * 1.5 * tails, 60.0))
    bounded[:] = bounded / (1.0 + np.abs(bounded))


def _relevance(causes: np.ndarray) -> np.ndarray:
    """A function of the causes that trees can learn and lines cannot."""
    title, body, anchor, quality, fresh, spam, depth, taste = causes.T.astype(np.float64)
    return (
        title
        + 0.7 * body
        + 0.5 * title * quality
        + np.maximum(anchor, fresh)
        - np.maximum(spam, 0.0) * (1.0 + 0.3 * depth)
        + 0.3 * np.sin(3.0 * taste)
    )
