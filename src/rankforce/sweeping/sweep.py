"""The mean of a measure at every mixture of two rankers: an exact sweep over all crossings of their documents.

``sweep(p, q, known, ...)`` follows (1 − x)·p + x·q from x = 0 to 1. Queries are swept independently
(``kernels/ranking/sweep.py``) and their changes are then merged by place: those of all members, where several train
together, in the same windows as one would have.

Sums over queries are sums of whole numbers: the value of a query times its share of the mean, in units of 2^−s with s
as large as 62 bits allow (near 2^−61 for a mean of about 1). Neither threads nor the order of the queries matter, and
no error builds up along the sweep.

Memory is bounded by ``MOST_CHANGES``: each query has room for its part of so many changes. It stops when its room is
full and goes on once all others have come as far.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from rankforce import dtypes
from rankforce.collective import exact_total, gathered, highest, total
from rankforce.errors import DataError
from rankforce.kernels.ranking.ordering import order_documents
from rankforce.kernels.ranking.sweep import SweepState, SweptChanges, SweptDocuments, sweep_queries
from rankforce.kernels.ranking.values import query_values
from rankforce.measures.judged import JudgedMeasure
from rankforce.sweeping.pieces import EQUAL_BITS, Pieces
from rankforce.threads import over_queries

MOST_CHANGES = 1_000_000  # held at once; with all that is needed to merge them about 100 bytes each
LEAST_ROOM = 64  # per query
LARGEST = 400  # scores are scaled to magnitudes below 2^400, so that neither products nor their rests leave float64
MOST_BITS = 900  # between the largest score and the last bit of the smallest; between the sizes of rankers
_WHOLE_BITS = 61
_FINEST_BITS = EQUAL_BITS + 62  # of a unit: what is equal to EQUAL_BITS still fits a whole number of 63 bits


@dataclasses.dataclass(frozen=True)
class Scaled:
    """Scores times 2^exponent, largest magnitude just below 2^``LARGEST``: exact, and safe to multiply exactly."""

    scores: np.ndarray
    exponent: int

    @classmethod
    def of(cls, scores: np.ndarray, name: str) -> Scaled:
        """Scores (finite) of one ranker; ``name`` is for messages."""
        sizes = np.abs(scores[scores != 0.0])
        smallest, largest = _range_of(sizes)
        if largest == 0.0:
            return cls(np.zeros(len(scores)), 0)
        exponents = np.frexp([smallest, largest])[1]
        if int(exponents[1]) - int(exponents[0]) + 53 > MOST_BITS:
            raise DataError(
                f"{name}: the scores {largest:g} and {smallest:g} lie too far apart to be combined exactly; "
                "take their logarithms"
            )
        exponent = LARGEST - int(exponents[1])
        return cls(np.ldexp(scores, exponent) + 0.0, exponent)  # + 0.0: −0 and 0 are one number

    def __neg__(self) -> Scaled:
        return Scaled(0.0 - self.scores, self.exponent)

    def paired_with(self, other: Scaled) -> Scaled:
        """Itself, but of the other's scale if all its scores are 0 and it has none of its own."""
        return self if self.scores.any() else dataclasses.replace(self, exponent=other.exponent)


def _range_of(sizes: np.ndarray) -> tuple[float, float]:
    """Everybody's (smallest, largest) of positive numbers, whose bits are in the order of the numbers; 0 of none."""
    bits = sizes.view(np.int64)
    least, most = highest(-int(bits.min(initial=np.iinfo(np.int64).max)), int(bits.max(initial=0)))
    return (0.0, 0.0) if most == 0 else tuple(np.array([-least, most]).view(np.float64).tolist())


def check_sizes(scores: Sequence[np.ndarray], names: Sequence[str]) -> None:
    """Refuse rankers whose scores (finite) no float64 weights can balance."""
    sizes = [float(np.abs(one).max(initial=0.0)) for one in scores]
    largest = int(np.argmax(sizes))
    smallest = min((index for index, size in enumerate(sizes) if size > 0.0), key=sizes.__getitem__, default=largest)
    if np.frexp(sizes[largest])[1] > MOST_BITS:
        raise DataError(
            f"{names[largest]} has scores up to {sizes[largest]:g}, too large to be weighted; divide by the largest"
        )
    if np.frexp(sizes[largest])[1] - np.frexp(sizes[smallest])[1] > MOST_BITS:
        raise DataError(
            f"{names[largest]} has scores up to {sizes[largest]:g}, {names[smallest]} up to {sizes[smallest]:g}: no "
            "weights can balance them; divide the scores of each by the largest of them"
        )


def sweep(
    p: Scaled,
    q: Scaled,
    judgement: JudgedMeasure,
    shares: np.ndarray,
    constant: float = 0.0,
    *,
    end: float = 1.0,
    tie_keys: np.ndarray | None = None,
    split_at_ties: bool = False,
    most_changes: int = MOST_CHANGES,
) -> Pieces:
    """The pieces of x from 0 to ``end`` on which Σ shares·value + constant does not change.

    p and q have one score per document that the measure of ``judgement`` keeps, in its order. ``shares`` is the weight
    of each query in the mean, 0 for blank ones. Documents that both rankers score alike are ranked by rising
    ``tie_keys`` (uint64), equal keys by position, at every x.

    Pieces are open. Two of them with the same value are one, though at the x between them, where three documents or
    more are tied, it may be another one; with ``split_at_ties`` they are then two. Ties are in row order there.
    """
    assert not split_at_ties or tie_keys is None
    starts, normalisers = judgement.starts, np.where(shares > 0.0, judgement.normalisers, 0.0)
    order = _order_at_start(p.scores, q.scores, starts, tie_keys)
    values = np.empty(len(normalisers))
    over_queries(
        starts,
        lambda a, b: query_values(judgement.kernel_tuple, judgement.worth, order, normalisers, starts, a, b, values),
    )
    judgement.check_values(np.where(normalisers == 0.0, 0.0, values))
    values[normalisers == 0.0] = 0.0
    bound = exact_total(np.abs(shares * values)) + abs(constant)
    most = max(abs(judgement.measure.LOWEST), abs(judgement.measure.HIGHEST))
    if np.isfinite(most):
        bound = max(bound, exact_total(shares) * most + abs(constant))
    reach = _Reach(end, split_at_ties)
    while True:
        sums = _Sums(shares, constant, bound)
        pieces = _swept(p.scores, q.scores, judgement, normalisers, order.copy(), values, sums, reach, most_changes)
        if pieces is not None:
            return pieces
        bound = 2.0 * sums.largest_seen  # values grew beyond what the whole numbers hold


def _order_at_start(p: np.ndarray, q: np.ndarray, starts: np.ndarray, tie_keys: np.ndarray | None) -> np.ndarray:
    """Documents by falling p, then falling q, then ``tie_keys``."""
    keys = np.zeros(len(p), dtype=dtypes.HASH) if tie_keys is None else tie_keys
    order = np.empty(len(p), dtype=dtypes.INDEX)
    over_queries(starts, lambda a, b: order_documents(q, keys, starts, a, b, order))
    by_q = np.empty(len(p), dtype=dtypes.HASH)
    by_q[order] = np.arange(len(p), dtype=dtypes.HASH)
    over_queries(starts, lambda a, b: order_documents(p, by_q, starts, a, b, order))
    return order


@dataclasses.dataclass(frozen=True)
class _Reach:
    """How far to sweep, and whether to end a piece where ties have another value."""

    end: float
    split_at_ties: bool


class _Sums:
    """Values of queries as whole numbers, whose sums are exact."""

    def __init__(self, shares: np.ndarray, constant: float, bound: float) -> None:
        self.shares = shares
        exponent = int(np.frexp(bound)[1]) if bound > 0.0 else -_FINEST_BITS
        self.bits = min(_WHOLE_BITS - exponent, _FINEST_BITS)
        self.constant = round(np.ldexp(constant, self.bits))
        self.largest_seen = 0.0

    def whole(self, values: np.ndarray, queries: np.ndarray) -> np.ndarray:
        """The parts of these queries in the mean; nothing of use once the values were too large (``overflow``)."""
        parts = values * self.shares[queries]
        largest = np.zeros(len(self.shares))
        np.maximum.at(largest, queries, np.abs(parts))
        self.largest_seen = max(self.largest_seen, exact_total(largest))
        if self.overflow:
            return np.zeros(len(parts), dtype=np.int64)
        return np.rint(np.ldexp(parts, self.bits)).astype(np.int64)

    @property
    def overflow(self) -> bool:
        return self.largest_seen >= 2.0 ** (62 - self.bits)


def _swept(
    p: np.ndarray,
    q: np.ndarray,
    judgement: JudgedMeasure,
    normalisers: np.ndarray,
    order: np.ndarray,
    values: np.ndarray,
    sums: _Sums,
    reach: _Reach,
    most_changes: int,
) -> Pieces | None:
    """The pieces, or None if the whole numbers were too small for the values."""
    starts, n_queries = judgement.starts, len(normalisers)
    sizes = np.diff(starts).astype(np.float64)
    pairs = np.where(normalisers == 0.0, 0.0, sizes * (sizes - 1.0) / 2.0)
    all_pairs = exact_total(pairs)
    room = pairs if all_pairs <= most_changes else np.ceil(pairs * (most_changes / all_pairs))
    room = np.minimum(pairs, np.maximum(room, LEAST_ROOM)).astype(np.int64)

    everything = np.arange(n_queries)
    last = sums.whole(values, everything)  # of each query, at the end of what it was swept
    pieces = Pieces(sums.bits, sums.constant + total(int(last.sum())))
    reached = np.where(room > 0, 0.0, np.inf)
    counts = np.zeros(n_queries, dtype=np.int64)
    waiting_places = np.empty(0)
    waiting_changes = np.empty(0, dtype=np.int64)
    waiting_queries = np.empty(0, dtype=np.int64)
    while True:
        active = np.isfinite(reached)
        active[waiting_queries] = False
        slots = np.concatenate([[0], np.cumsum(np.where(active, room, 0))])
        places, after = _advance(p, q, judgement, normalisers, reach, slots, order, counts, reached)
        queries = np.repeat(everything, counts)
        firsts = np.concatenate([[0], np.cumsum(counts)])
        written_slots = np.arange(firsts[-1]) + np.repeat(slots[:-1] - firsts[:-1], counts)
        places, after = places[written_slots], after[written_slots]
        judgement.check_values(after, queries)
        whole = sums.whole(after, queries)
        if sums.overflow:
            return None
        before = np.empty_like(whole)
        before[1:] = whole[:-1]
        with_changes = counts > 0
        before[firsts[:-1][with_changes]] = last[with_changes]
        last[with_changes] = whole[firsts[1:][with_changes] - 1]
        places = np.concatenate([waiting_places, places])
        changes = np.concatenate([waiting_changes, whole - before])
        queries = np.concatenate([waiting_queries, queries])
        horizon = _nearest(reached)
        ready = places <= horizon
        now, by = gathered(places[ready]), gathered(changes[ready])
        by_place = np.argsort(now)
        pieces.add(now[by_place], by[by_place])
        if horizon == np.inf:
            pieces.finish(reach.end)
            return pieces
        waiting_places, waiting_changes, waiting_queries = places[~ready], changes[~ready], queries[~ready]


def _nearest(reached: np.ndarray) -> float:
    """The first place that anybody's queries have come to; infinity if none is left to be swept."""
    bits = int(np.array(reached.min(initial=np.inf)).view(np.int64))  # of no negative number: in the same order
    return float(np.array(-highest(-bits)[0]).view(np.float64))


def _advance(
    p: np.ndarray,
    q: np.ndarray,
    judgement: JudgedMeasure,
    normalisers: np.ndarray,
    reach: _Reach,
    slots: np.ndarray,
    order: np.ndarray,
    counts: np.ndarray,
    reached: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Sweep all queries on as far as their slots allow: places of changes and values after them, in their slots."""
    swept = SweptDocuments(p, q, judgement.worth, judgement.starts, normalisers)
    state = SweepState(order, reached)
    changes = SweptChanges(slots, counts, np.empty(slots[-1]), np.empty(slots[-1]))
    over_queries(
        judgement.starts,
        lambda a, b: sweep_queries(judgement.kernel_tuple, swept, reach.end, reach.split_at_ties, a, b, state, changes),
    )
    return changes.places, changes.values
