"""Sums of float64 numbers without any rounding, in integers: they can be added to each other, in any order.

A float64 number is m·2^(e − 1074) with a whole m below 2^53 and 0 ≤ e ≤ 2045. The sum of many is kept in base 2^32, as
digits that may be larger than the base or negative: int64, whose carries are only resolved when the sum is rounded.
"""

from __future__ import annotations

import math

import numpy as np

BITS = 32  # of a digit
DIGITS = 68  # of 32 bits: 2045 + 53 bits, and room above
POINT = 1074  # a sum is its digits · 2^−1074
INFINITE, MINUS_INFINITE, NOT_A_NUMBER = DIGITS, DIGITS + 1, DIGITS + 2  # further places: how many there were
PARTS = DIGITS + 3
AT_A_TIME = 2**20  # values: sums of so many digits of 32 bits are exact in float64


class ExactSum:
    """A sum: ``parts`` int64 (71,), digits and how many values were infinite or no numbers.

    The parts of a sum of up to 2^31 values are below 2^63; sums of parts are the parts of sums.
    """

    def __init__(self) -> None:
        self.parts = np.zeros(PARTS, dtype=np.int64)

    @classmethod
    def of(cls, values: np.ndarray) -> ExactSum:
        """The sum of an array of float64."""
        result = cls()
        flat = np.asarray(values, dtype=np.float64).ravel()
        for first in range(0, len(flat), AT_A_TIME):
            result._add(flat[first : first + AT_A_TIME])
        return result

    @classmethod
    def from_parts(cls, parts: np.ndarray) -> ExactSum:
        result = cls()
        result.parts[:] = parts
        return result

    def _add(self, values: np.ndarray) -> None:
        fine = np.isfinite(values)
        if not fine.all():
            self.parts[INFINITE] += np.count_nonzero(values == math.inf)
            self.parts[MINUS_INFINITE] += np.count_nonzero(values == -math.inf)
            self.parts[NOT_A_NUMBER] += np.count_nonzero(np.isnan(values))
            values = values[fine]
        bits = values.view(np.uint64)
        exponent = (bits >> np.uint64(52)).astype(np.int64) & 0x7FF
        mantissa = bits & np.uint64(2**52 - 1)
        mantissa += np.where(exponent > 0, np.uint64(2**52), np.uint64(0))
        exponent = np.maximum(exponent - 1, 0)
        digit, shift = exponent // BITS, (exponent % BITS).astype(np.uint64)
        sign = np.where(values < 0.0, -1.0, 1.0)
        # m·2^shift has up to 84 bits: m's lower and upper 32 bits, shifted each, make three digits.
        low = (mantissa & np.uint64(0xFFFFFFFF)) << shift
        high = ((mantissa >> np.uint64(BITS)) << shift) + (low >> np.uint64(BITS))
        for place, part in enumerate((low, high, high >> np.uint64(BITS))):
            of_part = (part & np.uint64(0xFFFFFFFF)).astype(np.float64)
            self.parts[:DIGITS] += np.bincount(digit + place, sign * of_part, DIGITS).astype(np.int64)

    def rounded(self) -> float:
        """The nearest float64 number, of two equally near ones the even one."""
        if self.parts[NOT_A_NUMBER] or (self.parts[INFINITE] and self.parts[MINUS_INFINITE]):
            return math.nan
        if self.parts[INFINITE] or self.parts[MINUS_INFINITE]:
            return math.inf if self.parts[INFINITE] else -math.inf
        whole = sum(int(part) << (BITS * place) for place, part in enumerate(self.parts[:DIGITS]))
        return whole / (1 << POINT)  # Python divides whole numbers and rounds once; raises OverflowError beyond all
