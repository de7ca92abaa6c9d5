"""Scales at which forces and curvatures become integers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from rankforce.collective import highest, total, totals
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError
from rankforce.kernels.trees.quantised import (
    FINE_BITS,
    largest_magnitude,
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

    ``before``, the scales of the tree before if there is one, makes it faster and changes nothing.

    The scale of the forces is 2^e with the largest e for which Σ|λ|·2^e + n cannot exceed what the upper bits of an
    entry hold (n, because rounding adds less than 1 each); likewise for the curvatures with 32 bits. Σ|λ| is a sum of
    integers ⌈|λ|·2^k⌉. Should over 1 % of the non-zero forces become 0, all forces are rounded at random instead (by
    hash), so that they are right on average.
    """
    here = len(documents)
    n = total(here) if n is None else n
    shift = max(n.bit_length(), LEAST_SHIFT) if curvatures is None else 32
    values, limits = [forces], [(1 << (63 - shift)) - 1]
    if curvatures is not None:
        values.append(curvatures)
        limits.append((1 << shift) - 1)
    exponents, fine = _exponents(values, documents, n, limits, before)
    force_exponent = exponents[0]
    curvature_exponent = 0 if curvatures is None else exponents[1]
    force_scale = math.ldexp(1.0, force_exponent)
    curvature_scale = math.ldexp(1.0, curvature_exponent)
    counting = curvatures is None
    weights = forces if counting else curvatures
    counts: list[tuple[int, int]] = []
    over_ranges(
        here,
        lambda first, last: counts.append(
            pack_entries(
                forces, weights, documents, force_scale, curvature_scale, shift, counting, first, last, entries
            )
        ),
        FEW_IN_A_PASS,
    )
    nonzero, vanished = totals(*map(sum, zip(*counts, strict=True)))
    if vanished > MAY_VANISH * nonzero:
        tree_word = np.uint64(Stream.FORCE_ROUNDING.words(seed, tree_number))
        over_queries(
            query_starts,
            lambda first, last: redraw_forces(
                forces, force_scale, shift, query_starts, query_hashes, tree_word, first, last, entries
            ),
        )
    return Scales(shift, force_exponent, curvature_exponent, fine)


def _exponents(
    values: Sequence[np.ndarray], documents: np.ndarray, n: int, limits: Sequence[int], before: Scales | None
) -> tuple[list[int], tuple[int, ...]]:
    """For forces, and curvatures if there are any: the largest e with Σ|value|·2^e + n ≤ limit, computed in integers.

    ``n`` counts the documents of everybody. In one pass over all values, if the exponents with which magnitudes are
    summed are those of the tree before, as they mostly are: waking the threads takes as long as thousands of documents.
    """
    here = len(documents)
    bits = [of.view(np.int64) for of in values]
    guesses = () if before is None or len(before.fine_exponents) != len(limits) else before.fine_exponents
    ends: list[list[tuple[int, int]]] = []
    sums: list[list[int]] = []

    def find_ends_and_sums(first: int, last: int) -> None:
        ends.append([largest_magnitude(of, documents, first, last) for of in bits])
        if guesses:
            sums.append(_fine_sums(values, documents, guesses, first, last))

    over_ranges(here, find_ends_and_sums, FEW_IN_A_PASS)
    fine: list[int] = []
    *tops, negative = highest(
        *(max(magnitude for magnitude, _ in found) for found in zip(*ends, strict=True)),
        any(below for found in ends for _, below in found[1:]),
    )
    for what, top_bits in zip(("forces", "curvatures"), tops, strict=False):
        top = magnitude_of(top_bits)
        if not math.isfinite(top):
            raise DataError(f"{what} must be finite")
        if what == "curvatures" and negative:
            raise NegativeCurvatureError("curvatures must not be negative")
        _, exponent = math.frexp(top)
        k = min(FINE_BITS, 62 - n.bit_length()) - exponent  # top·2^k < 2^37
        fine.append(max(min(k, 1000), -1000))
    if tuple(fine) != guesses:
        sums.clear()
        over_ranges(here, lambda a, b: sums.append(_fine_sums(values, documents, fine, a, b)), FEW_IN_A_PASS)
    sizes = totals(*map(sum, zip(*sums, strict=True)))  # Σ|value| ≤ size·2^−k
    exponents = [_exponent(size, k, limit - n) for size, k, limit in zip(sizes, fine, limits, strict=True)]
    return exponents, tuple(fine)


def _fine_sums(
    values: Sequence[np.ndarray], documents: np.ndarray, fine: Sequence[int], first: int, last: int
) -> list[int]:
    """Σ ⌈|value|·2^k⌉ of the documents at places ``first`` to ``last``; nonsense where that is beyond all integers."""
    return [
        int(sum_of_magnitudes(of, documents, math.ldexp(1.0, k), first, last))
        for of, k in zip(values, fine, strict=True)
    ]


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
