"""Scales at which forces and curvatures become integers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from rankforce.collective import highest, total, totals
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError
from rankforce.kernels.trees.quantised import (
    FINE_BITS,
    largest_magnitude,
    pack_as_guessed,
    pack_entries,
    redraw_forces,
    sum_of_magnitudes,
)
from rankforce.kernels.trees.splits import LEAST_SHIFT
from rankforce.threads import FEW_IN_A_PASS, over_queries, over_ranges
from rankforce.trees.magnitudes import magnitude_of

MAY_VANISH = 0.01  # share of the non-zero forces that may be rounded to 0


@dataclasses.dataclass(frozen=True)
class Scales:
    """What one unit of an entry ``q·2^shift + r`` means: λ ≈ q·2^−force_exponent, w ≈ r·2^−curvature_exponent.

    Magnitudes of forces, and of curvatures, were summed in units of 2^−k, for the k in ``fine_exponents``.
    """

    shift: int
    force_exponent: int
    curvature_exponent: int
    fine_exponents: tuple[int, ...] = dataclasses.field(default=(), compare=False)

    def may_be_of(self, shift: int, kinds: int) -> bool:
        """Whether these may be the scales of a tree with entries of that shift and so many kinds of values."""
        return self.shift == shift and len(self.fine_exponents) == kinds

    @property
    def force_scale(self) -> float:
        return math.ldexp(1.0, self.force_exponent)

    @property
    def curvature_scale(self) -> float:
        return math.ldexp(1.0, self.curvature_exponent)

    @property
    def gain_unit(self) -> float:
        """The gain that is 1 in units of q²/r."""
        return _power_of_two(self.curvature_exponent - 2 * self.force_exponent)

    @property
    def value_unit(self) -> float:
        """The leaf value that is 1 in units of q/r."""
        return _power_of_two(self.curvature_exponent - self.force_exponent)

    def curvature_in_units(self, curvature: float) -> float:
        """In units of r; infinite, so that nothing gains, where that is beyond all numbers."""
        try:
            return math.ldexp(curvature, self.curvature_exponent)
        except OverflowError:
            return math.inf

    def gain_in_units(self, gain: float) -> float:
        """In units of q²/r; forces may be so small that their square, the unit, is 0."""
        if self.gain_unit > 0.0:
            return gain / self.gain_unit
        return math.inf if gain > 0.0 else 0.0


class NegativeCurvatureError(DataError):
    """A Newton step would go the wrong way."""


def _power_of_two(exponent: int) -> float:
    try:
        return math.ldexp(1.0, exponent)
    except OverflowError:
        raise DataError(
            "forces are so large that gains, which are their squares, are beyond all numbers: lower the weights of the "
            "data, or what multiplies the forces (a diagonal, a share)"
        ) from None


def quantise(
    forces: np.ndarray,
    curvatures: np.ndarray | None,
    documents: np.ndarray,
    query_starts: np.ndarray,
    query_hashes: np.ndarray,
    seed: int,
    tree_number: int,
    entries: np.ndarray,
    n: int | None = None,
    before: Scales | None = None,
) -> Scales:
    """Fill ``entries`` for the given documents, ``n`` of everybody; without curvatures r = 1 counts documents.

    ``documents`` rise; room for all of them is filled with their numbers.

    ``before``, the scales of the tree before if there is one, makes it faster and changes nothing.

    The scale of the forces is 2^e with the largest e for which Σ|λ|·2^e + n cannot exceed what the upper bits of an
    entry hold (n, because rounding adds less than 1 each); likewise for the curvatures with 32 bits. Σ|λ| is a sum of
    integers ⌈|λ|·2^k⌉. Should over 1 % of the non-zero forces become 0, all forces are rounded at random instead (by
    hash), so that they are right on average.
    """
    n = total(len(documents)) if n is None else n
    shift = max(n.bit_length(), LEAST_SHIFT) if curvatures is None else 32
    limits = [(1 << (63 - shift)) - 1] + [(1 << shift) - 1] * (curvatures is not None)
    passes = _Passes(forces, curvatures, documents, entries)
    # What the guess finds is all that there is to find where it is right: then one pass has done everything.
    guess = before if before is not None and before.may_be_of(shift, len(limits)) else None
    if guess is not None:
        ends, sums, counts = passes.pack_as_guessed(guess)
    else:
        ends = passes.find_ends()
    fine = _fine_exponents(ends, n)
    if guess is None or fine != guess.fine_exponents:
        sums = passes.add_magnitudes(fine)
    sizes = totals(*sums)  # Σ|value| ≤ size·2^−k
    exponents = [_exponent(size, k, limit - n) for size, k, limit in zip(sizes, fine, limits, strict=True)]
    scales = Scales(shift, exponents[0], 0 if curvatures is None else exponents[1], fine)
    if scales != guess:
        counts = passes.pack(scales)
    nonzero, vanished = totals(*counts)
    if vanished > MAY_VANISH * nonzero:
        tree_word = np.uint64(Stream.FORCE_ROUNDING.words(seed, tree_number))
        over_queries(
            query_starts,
            lambda first, last: redraw_forces(
                forces, scales.force_scale, shift, query_starts, query_hashes, tree_word, first, last, entries
            ),
        )
    return scales


class _Passes:
    """Passes over the values of one tree by all threads; what they find is of the documents given, in this process."""

    def __init__(
        self, forces: np.ndarray, curvatures: np.ndarray | None, documents: np.ndarray, entries: np.ndarray
    ) -> None:
        self.forces = forces
        self.weights = forces if curvatures is None else curvatures
        self.counting = curvatures is None
        self.values = [forces] if curvatures is None else [forces, curvatures]
        self.bits = [of.view(np.int64) for of in self.values]
        self.documents = documents
        self.entries = entries

    def find_ends(self) -> list[tuple[int, int]]:
        """(bits of the largest magnitude, how many are negative) of the forces, and of the curvatures if there are."""
        return _ends_of_all(
            self._over_ranges(
                lambda first, last: [largest_magnitude(of, self.documents, first, last) for of in self.bits]
            )
        )

    def add_magnitudes(self, fine: Sequence[int]) -> list[int]:
        """Σ ⌈|value|·2^k⌉ of the forces, and of the curvatures; nonsense where that is beyond all integers."""
        scaled = [(of, math.ldexp(1.0, k)) for of, k in zip(self.values, fine, strict=True)]
        return _added(
            self._over_ranges(
                lambda first, last: [sum_of_magnitudes(of, self.documents, scale, first, last) for of, scale in scaled]
            )
        )

    def pack(self, scales: Scales) -> list[int]:
        """Fill the entries: how many forces are not zero, and how many of these are rounded to 0."""
        return _added(
            self._over_ranges(
                lambda first, last: pack_entries(
                    self.forces, self.weights, self.documents, scales.force_scale, scales.curvature_scale,
                    scales.shift, self.counting, first, last, self.entries,
                )
            )
        )  # fmt: skip

    def pack_as_guessed(self, scales: Scales) -> tuple[list[tuple[int, int]], list[int], list[int]]:
        """All of this in one pass, with the exponents of these scales."""
        fine = np.array([math.ldexp(1.0, k) for k in scales.fine_exponents])
        found = self._over_ranges(
            lambda first, last: pack_as_guessed(
                self.forces, self.weights, self.bits[0], self.bits[-1], self.documents, fine, scales.force_scale,
                scales.curvature_scale, scales.shift, self.counting, first, last, self.entries,
            )
        )  # fmt: skip
        kinds = len(self.values)
        ends = _ends_of_all(
            [[(of_forces, 0), (of_curvatures, below)][:kinds] for of_forces, of_curvatures, below, *_ in found]
        )
        return ends, _added(one[3 : 3 + kinds] for one in found), _added(one[5:] for one in found)

    def _over_ranges(self, work: Callable[[int, int], Any]) -> list[Any]:
        found: list[Any] = []
        over_ranges(len(self.documents), lambda first, last: found.append(work(first, last)), FEW_IN_A_PASS)
        return found


def _ends_of_all(found: Iterable[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    return [(max(top for top, _ in of), sum(below for _, below in of)) for of in zip(*found, strict=True)]


def _added(found: Iterable[Sequence[int]]) -> list[int]:
    return [sum(map(int, of)) for of in zip(*found, strict=True)]


def _fine_exponents(ends: Sequence[tuple[int, int]], n: int) -> tuple[int, ...]:
    """With which power of two the magnitudes are summed, of everybody; ``n`` counts the documents of everybody."""
    fine: list[int] = []
    *tops, negative = highest(*(top for top, _ in ends), any(below for _, below in ends[1:]))
    for what, top_bits in zip(("forces", "curvatures"), tops, strict=False):
        top = magnitude_of(top_bits)
        if not math.isfinite(top):
            raise DataError(f"{what} must be finite")
        if what == "curvatures" and negative:
            raise NegativeCurvatureError("curvatures must not be negative")
        _, exponent = math.frexp(top)
        k = min(FINE_BITS, 62 - n.bit_length()) - exponent  # top·2^k < 2^37
        fine.append(max(min(k, 1000), -1000))
    return tuple(fine)


def _exponent(total: int, k: int, room: int) -> int:
    """The largest e with total·2^(e − k) ≤ room; 0 if there is nothing to fit in."""
    if total == 0:
        return 0
    e = k + room.bit_length() - total.bit_length() + 1
    while _too_large(total, e - k, room):
        e -= 1
    return max(min(e, 1000), -1000)


def _too_large(total: int, power: int, room: int) -> bool:
    return (total << power) > room if power >= 0 else total > (room << -power)
