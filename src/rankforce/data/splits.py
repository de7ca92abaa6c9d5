"""Parts and folds of whole queries, stratified by the number of documents.

Queries are put in order of size. Runs of neighbours in this order are shuffled by a hash of seed and query id, and
the queries are then dealt evenly: every part gets its share of short and of long queries. Neither the order of the
queries in the file nor the platform plays a role.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from rankforce.collective import collective, gathered, total
from rankforce.data.hashing import checked_seed
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError, SettingsError
from rankforce.kinds import Number, check_number

_SLACK = 1e-9  # 0.7 + 0.2 + 0.1 is not 1 in floating point


class WholeQueries(Protocol):
    """What is dealt: a data set, or one whose documents are elsewhere."""

    @property
    def n_queries(self) -> int: ...
    @property
    def query_sizes(self) -> np.ndarray: ...
    @property
    def query_hashes(self) -> np.ndarray: ...
    def take_queries(self, queries: Any) -> Self: ...


Dealt = TypeVar("Dealt", bound=WholeQueries)


def split(data: Dealt, shares: Sequence[float], seed: int = 0) -> tuple[Dealt, ...]:
    """Parts with these shares of the queries; what the shares leave of 1 is in no part.

    The numbers of queries are the shares rounded by largest remainder, but no part is empty.
    """
    seed = checked_seed(seed)
    shares = _checked_shares(shares)
    queries = total(data.n_queries)
    if queries < len(shares):
        raise DataError(f"{len(shares)} parts need at least as many queries, there are {queries}")
    counts = _counts(shares, queries)
    part = _deal(data, counts, Stream.SPLIT, seed)
    return tuple(data.take_queries(part == number) for number in range(len(shares)))


def folds(data: Dealt, count: int = 5, seed: int = 0) -> Iterator[tuple[Dealt, Dealt]]:
    """(train, test) for each of ``count`` folds; the tests are disjoint and together all queries.

    Numbers of queries differ by at most 1 between folds.
    """
    seed = checked_seed(seed)
    check_number("the number of folds", count, 2, whole=True)
    queries = total(data.n_queries)
    if queries < count:
        raise DataError(f"{count} folds need at least as many queries, there are {queries}")
    fold = _deal(data, _counts([1.0 / count] * int(count), queries), Stream.FOLDS, seed)
    return ((data.take_queries(fold != number), data.take_queries(fold == number)) for number in range(int(count)))


def _checked_shares(shares: Sequence[float]) -> list[float]:
    if not len(shares):
        raise SettingsError("say which shares of the queries the parts get: split(0.6, 0.2, 0.2)")
    result = []
    for share in shares:
        if not Number(0.0, 1.0 + _SLACK, above=True).holds(share):
            raise SettingsError(f"a share must be a number above 0 and at most 1, not {share!r}")
        result.append(float(share))
    if math.fsum(result) > 1.0 + _SLACK:
        raise SettingsError(f"the shares must not add up to more than 1: {' + '.join(f'{s:g}' for s in result)}")
    return result


def _counts(shares: list[float], queries: int) -> list[int]:
    """Whole numbers for the shares and for what they leave of 1, which comes last."""
    rest = max(0.0, 1.0 - math.fsum(shares))
    targets = [share * queries for share in [*shares, rest if rest > _SLACK else 0.0]]
    counts = [math.floor(target + _SLACK) for target in targets]
    by_remainder = sorted(range(len(targets)), key=lambda part: (counts[part] - targets[part], part))
    for part in by_remainder[: queries - sum(counts)]:
        counts[part] += 1
    for part in range(len(shares)):
        if counts[part] == 0:
            donors = [other for other in range(len(counts)) if counts[other] > (other < len(shares))]
            counts[max(donors, key=lambda other: (counts[other] - targets[other], counts[other]))] -= 1
            counts[part] = 1
    return counts


def _deal(data: WholeQueries, counts: list[int], stream: Stream, seed: int) -> np.ndarray:
    """The part of every query: ``counts[p]`` of all queries get part p, spread evenly over the sizes."""
    sizes = gathered(data.query_sizes)
    mine = sum(gathered(np.array([data.n_queries]))[: collective().rank])  # where the own queries begin among all
    queries = len(sizes)
    of_equal_size, within_runs = (gathered(stream.words(seed, draw, data.query_hashes)) for draw in range(2))
    by_size = np.lexsort((of_equal_size, sizes))
    run = max(len(counts), math.ceil(queries / min(count for count in counts if count)))
    runs = np.arange(queries) // run
    shuffled = by_size[np.lexsort((within_runs[by_size], runs))]
    part = np.repeat(np.arange(len(counts)), counts)
    # the j-th of the c queries of a part wants to stand at (j + 1/2) / c of the way
    wanted = np.concatenate([(np.arange(count) + 0.5) / count for count in counts if count])
    result = np.empty(queries, dtype=np.int64)
    result[shuffled] = part[np.lexsort((part, wanted))]
    return result[mine : mine + data.n_queries]
