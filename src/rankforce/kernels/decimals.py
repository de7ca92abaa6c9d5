"""Numbers as files write them, ``-12``, ``0.5``, ``1.5e-07``, rounded to float64 as Python rounds them.

Digits are read as a whole number w, to be multiplied by 10^q. Where w < 2^53 and |q| <= 22 both are float64 numbers,
and one operation rounds correctly. Else w is multiplied by the first 64 (if need be 128) bits of 5^q, of which the
first 53 are the number unless what follows them lies too close to a tie (the method of Eisel and Lemire). More than 19
digits, subnormal numbers, overflow and such ties are *hard*: Python reads them.
"""

from __future__ import annotations

import numpy as np

from rankforce.compiling.intrinsics import high_product, leading_zeros, trailing_zeros, word_at
from rankforce.compiling.jit import subroutine, uncounted_subroutine
from rankforce.dtypes import Array, Number

MINUS, PLUS, POINT, ZERO, NINE, LETTER_E, LOWER_CASE = 45, 43, 46, 48, 57, 101, 32

# What was read: no number, a whole one, one with a point or an exponent, one that Python has to read.
NONE, WHOLE, DECIMAL, HARD = 0, 1, 2, 3

MOST_DIGITS = 19  # 10^19 < 2^64
LARGEST_EXPONENT = 999
EXACT_POWERS = 22
EXACT = 2**53
SMALLEST_POWER, LARGEST_POWER = -300, 300  # of ten, in the table: beyond, numbers are hard
LEAST_BINARY = -1074  # the exponent of the last bit of the smallest normal number

# Eight digits of a word at a time, the first in its lowest byte. A byte above '9' to which the first is added, or below
# '0' from which the second is taken, has its highest bit set in one of the two. What a byte that is no digit carries or
# borrows changes those behind it alone: the first of them is always found.
ABOVE_NINE = np.uint64(0x4646464646464646)
ALL_ZEROS = np.uint64(0x3030303030303030)
HIGHEST_BITS = np.uint64(0x8080808080808080)
EIGHT = np.uint64(8)

ALL_ONES = np.uint64(2**64 - 1)
UNSURE = np.uint64(2**9 - 1)  # bits of a first product behind the 55 that decide


def _five_powers() -> np.ndarray:
    """uint64 (powers, 2): the first 128 bits of 5^q, the higher half first.

    Rounded down, but up from 5^-27 to 5^-1: the proof that the product decides is for this table.
    """
    table = np.empty((LARGEST_POWER - SMALLEST_POWER + 1, 2), dtype=np.uint64)
    for place, power in enumerate(range(SMALLEST_POWER, LARGEST_POWER + 1)):
        five = 5 ** abs(power)
        if power >= 0:
            shift = five.bit_length() - 128
            bits = five >> shift if shift > 0 else five << -shift
        else:
            bits = (1 << (five.bit_length() + 127)) // five + (power >= -27)
        table[place] = bits >> 64, bits & (2**64 - 1)
    return table


FIVE_POWERS = _five_powers()
TEN_POWERS = np.array([10.0**k for k in range(EXACT_POWERS + 1)])
TENS = np.array([10**k for k in range(9)], dtype=np.uint64)
TWO_POWERS = np.ldexp(1.0, np.arange(LEAST_BINARY, 972))


@subroutine
def scaled(digits: Number, power: Number) -> tuple[Number, Number]:
    """(digits · 10^power, DECIMAL), or (0, HARD); digits uint64, below 10^19."""
    if digits == np.uint64(0):
        return 0.0, DECIMAL
    if digits < np.uint64(EXACT) and -EXACT_POWERS <= power <= EXACT_POWERS:
        if power < 0:
            return np.float64(digits) / TEN_POWERS[-power], DECIMAL
        return np.float64(digits) * TEN_POWERS[power], DECIMAL
    if not SMALLEST_POWER <= power <= LARGEST_POWER:
        return 0.0, HARD
    zeros = leading_zeros(digits)
    word = digits << np.uint64(zeros)
    five = FIVE_POWERS[power - SMALLEST_POWER, 0]
    high = high_product(word, five)
    low = word * five
    if high & UNSURE == UNSURE:
        more = high_product(word, FIVE_POWERS[power - SMALLEST_POWER, 1])
        low += more
        if low < more:
            high += np.uint64(1)
    if low >= ALL_ONES - np.uint64(1) and high & UNSURE == UNSURE:
        return 0.0, HARD  # a carry from bits that were not computed could go all the way up
    first = high >> np.uint64(63)
    shift = first + np.uint64(9)
    mantissa = high >> shift  # 54 bits: the last one rounds
    # What is exactly between two numbers goes to the even one; a power of five beyond 5^23 divides no such number.
    if mantissa & np.uint64(3) == np.uint64(1) and mantissa << shift == high and low <= np.uint64(1):
        return 0.0, HARD
    mantissa = (mantissa + (mantissa & np.uint64(1))) >> np.uint64(1)
    # 217706 / 2^16 approximates log2(10) closely enough for every power in the table
    binary = ((217706 * power) >> 16) + 63 - zeros + np.int64(first) - 52
    if binary < LEAST_BINARY or binary > 970:
        return 0.0, HARD
    return np.float64(mantissa) * TWO_POWERS[binary - LEAST_BINARY], DECIMAL


@uncounted_subroutine
def read_digits(text: Array, at: Number, digits: Number) -> tuple[Number, Number]:
    """(where the digits end that begin at ``at``, their number behind ``digits``); a uint64, which may overflow."""
    size = np.uint64(text.shape[0])
    while at + EIGHT <= size:
        word = word_at(text, at)
        other = ((word + ABOVE_NINE) | (word - ALL_ZEROS)) & HIGHEST_BITS
        count = np.uint64(trailing_zeros(other)) >> np.uint64(3)
        if count == np.uint64(0):
            return at, digits
        # Zeros before them make them eight; then pairs, fours and all of them become one number each.
        word = (word - ALL_ZEROS) << (np.uint64(64) - EIGHT * count)
        word = word * np.uint64(10) + (word >> EIGHT)
        fours = (word & np.uint64(0x000000FF000000FF)) * np.uint64(100 + (1000000 << 32))
        fours += ((word >> np.uint64(16)) & np.uint64(0x000000FF000000FF)) * np.uint64(1 + (10000 << 32))
        digits = digits * TENS[count] + (fours >> np.uint64(32))
        at += count
        if count < EIGHT:
            return at, digits
    byte = np.int64(text[at])
    while ZERO <= byte <= NINE:
        digits = digits * np.uint64(10) + np.uint64(byte - ZERO)
        at += np.uint64(1)
        byte = np.int64(text[at])
    return at, digits


@uncounted_subroutine
def read_number(text: Array, at: Number) -> tuple[Number, Number, Number, Number]:
    """(its end, what it is, its digits, its value) of the number that begins at ``at``, as JSON spells numbers.

    text uint8, and it goes on behind every number. ``digits``, with their sign, are those of a WHOLE number, of which
    there are 18 at most. The value is that of a DECIMAL; where it is NONE or HARD there is neither.
    """
    one = np.uint64(1)
    byte = np.int64(text[at])
    negative = byte == MINUS
    if negative:
        at += one
        byte = np.int64(text[at])
    begin = at
    at, digits = read_digits(text, at, np.uint64(0))
    byte = np.int64(text[at])
    count = np.int64(at - begin)
    if count == 0 or (count > 1 and text[begin] == ZERO):
        return at, NONE, np.int64(0), 0.0
    if byte != POINT and byte | LOWER_CASE != LETTER_E:
        if count >= MOST_DIGITS:
            return at, HARD, np.int64(0), 0.0
        return at, WHOLE, -np.int64(digits) if negative else np.int64(digits), 0.0
    power: Number = 0
    if byte == POINT:
        at += one
        point = at
        at, digits = read_digits(text, at, digits)
        byte = np.int64(text[at])
        power = -np.int64(at - point)
        if power == 0:
            return at, NONE, np.int64(0), 0.0
        count -= power
        if count > MOST_DIGITS:  # unless they begin with zeros, they have overflown
            while begin < at and (text[begin] == ZERO or text[begin] == POINT):
                count -= np.int64(text[begin] == ZERO)
                begin += one
    if byte | LOWER_CASE == LETTER_E:
        at += one
        byte = np.int64(text[at])
        below = byte == MINUS
        if below or byte == PLUS:
            at += one
            byte = np.int64(text[at])
        exponent: Number = 0
        first = at
        while ZERO <= byte <= NINE:
            exponent = min(exponent * 10 + byte - ZERO, LARGEST_EXPONENT)
            at += one
            byte = np.int64(text[at])
        if at == first:
            return at, NONE, np.int64(0), 0.0
        power += -exponent if below else exponent
    if count > MOST_DIGITS:
        return at, HARD, np.int64(0), 0.0
    value, kind = scaled(digits, power)
    return at, kind, np.int64(0), -value if negative else value
