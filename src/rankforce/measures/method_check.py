"""Whether the methods of a user's measure agree: its swaps and its mean over orders of ties with its ``value``.

Training believes ``swap_delta``, evaluation ``expected_value``: a mistake in one shows in no error, only in models and
numbers that are wrong. So what a user wrote is compared with ``value`` on a few short lists, once per class and
settings. Lists are as long, and documents worth as much, as those of the data: a method need not know others. Measures
of this package are not looked at; the tests hold them on more lists than these.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from rankforce import dtypes
from rankforce.collective import anybody, highest, union
from rankforce.compiling.kernel_values import NO_CUTOFF
from rankforce.data.random_streams import Stream
from rankforce.errors import MeasureError
from rankforce.kernels.ranking.swaps import changes_of_pairs, changes_with_many
from rankforce.kernels.ranking.values import query_expected_values, query_normalisers, query_values
from rankforce.measures.judged import JudgedMeasure
from rankforce.measures.measure import Measure

LENGTHS = (2, 3, 5, 8, 13)  # of lists, where the data has such; a cut-off adds one that is longer than it
MOST_WORTHS = 5
MOST_TIED = 4  # documents of a block: 24 orders
TOLERANCE = 1e-6  # of the largest value of a list: rounding is far below it
NOTHING = 1e-12  # a change that is none

_agreeing: WeakKeyDictionary[type, set[tuple[Any, ...]]] = WeakKeyDictionary()


class KnownLists(NamedTuple):
    """What lists of the data are like, those of all members of a training.

    worths : what documents are worth, rising; ``MOST_WORTHS`` of them at most
    shortest, longest : documents of a list
    """

    worths: tuple[float, ...]
    shortest: int
    longest: int

    @classmethod
    def of(cls, judged: JudgedMeasure) -> KnownLists:
        worths = union(judged.worth)
        worths = worths[np.isfinite(worths)]
        if len(worths) > MOST_WORTHS:
            worths = worths[np.linspace(0, len(worths) - 1, MOST_WORTHS).astype(int)]
        sizes = np.diff(judged.starts)
        sizes = sizes[sizes > 0]
        below, longest = highest(-int(sizes.min(initial=NO_CUTOFF)), int(sizes.max(initial=0)))
        return cls(tuple(worths.tolist()), -below, longest)

    def lengths(self, cut: int | None) -> list[int]:
        wanted = LENGTHS if cut is None else (*LENGTHS, cut + 3)
        return [min(max(length, self.shortest), self.longest) for length in wanted]

    def rankings(self, cut: int | None) -> Iterator[np.ndarray]:
        """Worth in ranked order: of every length two random lists, and one of documents that are worth the same."""
        rng = Stream.MEASURE_CHECK.generator(0)
        for length in self.lengths(cut):
            for _ in range(2):
                ranked = rng.choice(self.worths, length)
                ranked[rng.random(length) < 0.4] = self.worths[0]
                ranked[rng.integers(length)] = self.worths[-1]
                yield ranked
            yield np.full(length, self.worths[-1])


def check_swaps(judged: JudgedMeasure, *, signed: bool) -> None:
    """Refuse a user's measure whose swaps are not changes of its value; without ``signed`` their size alone counts."""
    if judged.measure.Kernel.FOREIGN and judged.measure.swap_kind != "brute":
        _once(judged, ("swaps", signed), lambda lists: compare_swaps(judged.measure, lists, signed=signed))


def check_expected_values(judged: JudgedMeasure) -> None:
    """Refuse a user's measure whose expected value is not the mean over all orders of tied documents."""
    if judged.measure.Kernel.FOREIGN and hasattr(judged.measure.Kernel, "expected_value"):
        _once(judged, ("expected value",), lambda lists: compare_expected_values(judged.measure, lists))


def _once(judged: JudgedMeasure, what: tuple[Any, ...], compare: Callable[[KnownLists], int]) -> None:
    """Compare, unless all members did so for this class, these settings and as many different worths."""
    lists = KnownLists.of(judged)
    known = _agreeing.setdefault(type(judged.kernel_tuple), set())
    now = (*what, tuple(judged.kernel_tuple), len(lists.worths))
    if anybody(now not in known):
        compare(lists)
        known.add(now)


def compare_swaps(measure: Measure, lists: KnownLists, *, signed: bool) -> int:
    """Compare the swaps of a measure with its value; how many were compared."""
    if len(lists.worths) < 2 or lists.longest < 2:
        return 0
    count = 0
    kernel = measure.kernel_tuple()
    for ranked, normaliser in _scoring(kernel, lists.rankings(measure.cut)):
        pairs = _pairs(len(ranked), measure.cut)
        swapped = np.tile(ranked, (len(pairs) + 1, 1))  # the last one is the list as it is
        each = np.arange(len(pairs))[:, None]
        swapped[each, pairs] = swapped[each, pairs[:, ::-1]]
        values = _values(kernel, swapped, normaliser)
        for method, places, changes in _changes(measure, kernel, ranked, normaliser, pairs):
            _compare_changes(measure, method, ranked, places, changes, values, signed)
        count += len(pairs)
    return count


def compare_expected_values(measure: Measure, lists: KnownLists) -> int:
    """Compare the expected values of a measure with means of its value; how many were compared."""
    if not lists.worths or lists.longest < 1 or not measure.expects_the_mean:
        return 0
    count = 0
    kernel = measure.kernel_tuple()
    for ranked, normaliser in _scoring(kernel, lists.rankings(measure.cut)):
        for blocks in _blocks(len(ranked), measure.cut):
            mean = float(_values(kernel, _orders(ranked, blocks), normaliser).mean())
            given = _expected_value(kernel, ranked, blocks, normaliser)
            count += 1
            if np.isfinite(mean) and not abs(given - mean) <= TOLERANCE * abs(mean) + NOTHING:
                tied = " and ".join(f"{start} to {end - 1}" for start, end in blocks)
                raise MeasureError(
                    f"{_named(measure, 'expected_value')} gives {given:.10g} on a list worth {_written(ranked)} with "
                    f"equal scores at the ranks {tied} (from 0); the mean of value over all orders of these is "
                    f"{mean:.10g}. Correct expected_value, or derive from Measure and leave it out: means over ties "
                    "are then sampled"
                )
    return count


# ------------------------------------------------------------------------------------------------------------ swaps


def _changes(
    measure: Measure, kernel: Any, ranked: np.ndarray, normaliser: float, pairs: np.ndarray
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(method, pairs of ranks, changes) by every method that training may ask."""
    columns = np.zeros((max(1, measure.column_count(ranked)), len(ranked)))
    # ``swap_delta`` is asked in either order
    asked = {"swap_delta": [pairs, np.ascontiguousarray(pairs[:, ::-1])], "swap_delta_between": [pairs]}
    method = "swap_delta" if measure.swap_kind == "columns" else "swap_delta_between"
    for places in asked[method]:
        changes = np.empty(len(places))
        changes_of_pairs(kernel, ranked, normaliser, columns, places, changes)
        yield method, places, changes
    if hasattr(kernel, "swap_deltas") and measure.gives_swap_deltas(len(columns)):
        order = np.argsort(-ranked, kind="stable").astype(dtypes.INDEX)
        written = np.empty((len(ranked), len(ranked)))
        changes_with_many(kernel, ranked, normaliser, columns, order, written)
        yield "swap_deltas", pairs, written[pairs[:, 0], pairs[:, 1]]


def _compare_changes(
    measure: Measure,
    method: str,
    ranked: np.ndarray,
    places: np.ndarray,
    changes: np.ndarray,
    values: np.ndarray,
    signed: bool,
) -> None:
    before, after = values[-1], values[:-1]
    true = after - before
    given, wanted = (changes, true) if signed else (np.abs(changes), np.abs(true))
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    wrong = ~(np.abs(given - wanted) <= TOLERANCE * largest + NOTHING) & np.isfinite(true)
    if "swaps" in measure.Kernel._fields:  # lets its user choose which changes pull: the others are 0
        wrong &= changes != 0.0
    if not wrong.any():
        return
    p = int(np.argmax(wrong))
    a, b = places[p]
    raise MeasureError(
        f"{_named(measure, method)} gives {changes[p] + 0.0:.10g} for the documents at ranks {a} and {b} (from 0) of a "
        f"list worth {_written(ranked)}; value is {before:.10g} before they swap and {after[p]:.10g} after, a change "
        f"of {true[p]:.10g}. Correct prepare and {method}, or derive from Measure and leave both out: swaps are "
        "then found from value, which is slower"
    )


def _pairs(length: int, cut: int | None) -> np.ndarray:
    """(pairs, 2) ranks, the upper first: all of a short list; else those of the top, around the cut-off and the end."""
    ranks = set(range(length))
    if length > LENGTHS[-1]:
        ranks = {*range(8), length // 2, length - 2, length - 1}
        ranks |= {rank for rank in range(cut - 2, cut + 2) if 0 <= rank < length} if cut is not None else set()
    return np.array(list(itertools.combinations(sorted(ranks), 2)), dtype=np.int64)


# ------------------------------------------------------------------------------------------------------------- ties


def _blocks(length: int, cut: int | None) -> list[list[tuple[int, int]]]:
    """Ranks [start, end) of tied documents: at the top, around the cut-off, at the end, two blocks, none."""
    edge = length if cut is None else min(cut + 2, length)
    ends = sorted({min(MOST_TIED, length), max(edge, 1), length})
    found = [[(max(0, end - MOST_TIED), end)] for end in ends]
    return [*found, [(0, 2), (2, 5)], [(0, 1)]] if length >= 5 else [*found, [(0, 1)]]


def _orders(ranked: np.ndarray, blocks: list[tuple[int, int]]) -> np.ndarray:
    """(orders, documents): the list in every order of its tied documents."""
    places = [itertools.permutations(range(start, end)) for start, end in blocks]
    orders = []
    for chosen in itertools.product(*places):
        order = np.arange(len(ranked))
        for (start, end), block in zip(blocks, chosen, strict=True):
            order[start:end] = block
        orders.append(ranked[order])
    return np.array(orders)


def _expected_value(kernel: Any, ranked: np.ndarray, blocks: list[tuple[int, int]], normaliser: float) -> float:
    scores = -np.arange(len(ranked), dtype=dtypes.SCORE)
    for start, end in blocks:
        scores[start:end] = scores[start]
    order, starts = _places(1, len(ranked))
    out = np.empty(1)
    query_expected_values(kernel, ranked, order, scores, np.full(1, normaliser), starts, 0, 1, out)
    return float(out[0])


# ----------------------------------------------------------------------------------- lists as kernels take queries


def _places(count: int, length: int) -> tuple[np.ndarray, np.ndarray]:
    """(order, starts) of lists whose documents are ranked as they stand; of the kind that an evaluation has."""
    starts = (length * np.arange(count + 1)).astype(dtypes.OFFSET)
    starts.setflags(write=False)
    return np.arange(count * length, dtype=dtypes.INDEX), starts


def _scoring(kernel: Any, rankings: Iterator[np.ndarray]) -> Iterator[tuple[np.ndarray, float]]:
    """The lists that can score, each with its normaliser."""
    for ranked in rankings:
        normaliser = _normaliser(kernel, ranked)
        if normaliser != 0.0:
            yield ranked, normaliser


def _normaliser(kernel: Any, ranked: np.ndarray) -> float:
    order, starts = _places(1, len(ranked))
    out = np.empty(1)
    labelled = np.array([len(ranked)], dtype=dtypes.OFFSET)
    query_normalisers(kernel, np.sort(ranked)[::-1].copy(), order, labelled, starts, 0, 1, out)
    return float(out[0]) if np.isfinite(out[0]) else 0.0  # what is no number is refused where it is met in data


def _values(kernel: Any, rankings: np.ndarray, normaliser: float) -> np.ndarray:
    """The value of each row of worths."""
    count, length = rankings.shape
    order, starts = _places(count, length)
    out = np.empty(count)
    query_values(kernel, rankings.ravel(), order, np.full(count, normaliser), starts, 0, count, out)
    return out


# ------------------------------------------------------------------------------------------------------------ words


def _owner(measure: Measure, method: str) -> type:
    return next(base for base in type(measure).__mro__ if method in vars(base))


def _named(measure: Measure, method: str) -> str:
    owner = _owner(measure, method)
    return f"{measure}: {method}" + ("" if owner is type(measure) else f", which it has from {owner.__name__},")


def _written(ranked: np.ndarray) -> str:
    shown = [f"{worth:g}" for worth in ranked[:20]]
    return ", ".join(shown if len(ranked) <= 20 else [*shown, "..."])
