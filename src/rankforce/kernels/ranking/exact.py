"""Which of two crossings of lines comes first, decided exactly.

A line is a pair (p, q): its height at x is (1 − x)·p + x·q. Where u is above l at 0 and below it at 1 they cross at
x = a / (a + b), a = p_u − p_l > 0 and b = q_l − q_u > 0, so that x < x' is a·b' < a'·b. Differences and products of
float64 numbers are sums of two float64 numbers each without any error (Dekker 1971, Knuth), and a sum of such terms
is added up as Shewchuk (1997) does: as numbers that do not overlap, of which the largest has the sign. That needs
sums and products neither to overflow nor to underflow: ``sweeping/sweep.py`` scales scores to that end.
"""

from __future__ import annotations

from rankforce.compiling.jit import subroutine
from rankforce.dtypes import Array, Number

SPLITTER = 134217729.0  # 2^27 + 1: cuts 53 bits into 26 and 26 and a sign
TERMS = 16  # of the difference of two products of two sums of two


@subroutine
def _difference(a: Number, b: Number) -> tuple[Number, Number]:
    """a − b as (rounded, rest)."""
    rounded = a - b
    b_part = a - rounded
    a_part = rounded + b_part
    return rounded, (a - a_part) + (b_part - b)


@subroutine
def _sum(a: Number, b: Number) -> tuple[Number, Number]:
    """a + b as (rounded, rest)."""
    rounded = a + b
    b_part = rounded - a
    a_part = rounded - b_part
    return rounded, (a - a_part) + (b - b_part)


@subroutine
def _product(a: Number, b: Number) -> tuple[Number, Number]:
    """a·b as (rounded, rest)."""
    rounded = a * b
    wide = SPLITTER * a
    a_high = wide - (wide - a)
    a_low = a - a_high
    wide = SPLITTER * b
    b_high = wide - (wide - b)
    b_low = b - b_high
    return rounded, a_low * b_low - (((rounded - a_high * b_high) - a_low * b_high) - a_high * b_low)


@subroutine
def _add(total: Array, count: Number, term: Number) -> Number:
    """Add a term to the sum ``total[:count]`` of numbers that do not overlap, smallest first; the new count."""
    for k in range(count):
        term, rest = _sum(term, total[k])
        total[k] = rest
    total[count] = term
    return count + 1


@subroutine
def _add_product(total: Array, count: Number, a: Number, b: Number, sign: Number) -> Number:
    rounded, rest = _product(a, b)
    return _add(total, _add(total, count, sign * rest), sign * rounded)


@subroutine
def first_crossing(
    p: Array, q: Array, upper: Number, lower: Number, other_upper: Number, other_lower: Number, total: Array
) -> Number:
    """−1, 0 or 1: two lines cross before, where, or after two others do.

    p, q float64: the heights of the lines at 0 and 1; ``total`` float64 (``TERMS``) is overwritten.
    """
    a, a_rest = _difference(p[upper], p[lower])
    b, b_rest = _difference(q[lower], q[upper])
    c, c_rest = _difference(p[other_upper], p[other_lower])
    d, d_rest = _difference(q[other_lower], q[other_upper])
    if a_rest == 0.0 and b_rest == 0.0 and c_rest == 0.0 and d_rest == 0.0:  # as on a lattice
        left, left_rest = _product(a, d)
        right, right_rest = _product(c, b)
        if left != right:
            return -1 if left < right else 1
        return 0 if left_rest == right_rest else (-1 if left_rest < right_rest else 1)
    count = 0
    count = _add_product(total, count, a_rest, d_rest, 1.0)
    count = _add_product(total, count, a_rest, d, 1.0)
    count = _add_product(total, count, a, d_rest, 1.0)
    count = _add_product(total, count, a, d, 1.0)
    count = _add_product(total, count, c_rest, b_rest, -1.0)
    count = _add_product(total, count, c_rest, b, -1.0)
    count = _add_product(total, count, c, b_rest, -1.0)
    count = _add_product(total, count, c, b, -1.0)
    for k in range(count - 1, -1, -1):
        if total[k] != 0.0:
            return -1 if total[k] < 0.0 else 1
    return 0
