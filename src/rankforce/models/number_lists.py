"""Lists of numbers as model files write them, ``12, -3`` or ``0.5, -1e-05, 3.0``, read all at once.

JSON makes an object of every number, and a correctly rounded float of 17 digits takes it as long as fifty whole
numbers. Here digits are read as whole numbers, which NumPy does fast, and divided by a power of ten; the quotient is
made exact by its remainder. Whatever is written in another way than this module expects is None: read it as JSON.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

_MOST_DIGITS = 18  # a whole number of so many digits is an int64
_MOST_DECIMALS = 22  # 10^22 is the largest power of ten that is a float64
_POWERS = np.array([10.0**k for k in range(_MOST_DECIMALS + 1)])
_EXACT = 1 << 53
_SPLITTER = 134217729.0  # 2^27 + 1, which splits a float64 into halves whose products are exact
_COMMA, _MINUS, _DOT, _BLANK, _EXPONENT, _ZERO, _NINE = (ord(character) for character in ",-. e09")

Tokens: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]  # where each number starts and ends, and the bytes


def whole_numbers(text: bytes) -> np.ndarray | None:
    """int64 values of ``1, -2, 3``; None unless it is exactly that, each of at most 18 digits."""
    if not text:
        return np.empty(0, dtype=np.int64)
    if text.translate(None, b"0123456789-, "):
        return None
    tokens = _tokens(text)
    return None if tokens is None else _as_integers(text, tokens)


def numbers(text: bytes) -> np.ndarray | None:
    """float64 values of ``1.5, -2e-05, 3.0``, rounded as Python rounds them; None unless it is exactly that."""
    if not text:
        return np.empty(0, dtype=np.float64)
    if text.translate(None, b"0123456789-+.e, ") or text.count(b"+") != text.count(b"e+"):
        return None
    tokens = _tokens(text)
    if tokens is None:
        return None
    starts, ends, buffer = tokens
    odd = _odd_ones(text, tokens)
    dots = np.flatnonzero(buffer == _DOT)
    # beside the first and behind the last byte is nothing: the byte itself, a dot, stands for that
    around = buffer[np.maximum(dots - 1, 0)], buffer[np.minimum(dots + 1, len(buffer) - 1)]
    if odd is None or not all(_is_digit(codes).all() for codes in around):
        return None
    if odd:
        text, buffer = _without(odd, text, starts, ends)
    dots = np.flatnonzero(buffer == _DOT)
    negative = buffer[starts] == _MINUS
    if len(dots) != len(ends) or not ((starts < dots) & (dots < ends)).all():
        return None  # each has one dot
    decimals = ends - dots - 1
    decimals[list(odd)] = 0
    digits = text.translate(None, b".")
    earlier = np.arange(len(dots))  # dots that are gone: each number stands further to the front
    mantissas = _as_integers(digits, (starts - earlier, ends - earlier - 1, np.frombuffer(digits, dtype=np.uint8)))
    if mantissas is None or decimals.max() > _MOST_DECIMALS:
        return None
    values = _quotients(np.abs(mantissas), decimals, text, starts, ends)
    values[negative] *= -1.0
    values[list(odd)] = list(odd.values())
    return values


def can_be(dtype: np.dtype[Any], values: np.ndarray) -> bool:
    """Whether numbers are in the range of a dtype of whole numbers or truth values; any number can be a float."""
    if dtype.kind == "f" or not len(values):
        return True
    least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return bool(values.min() >= least and values.max() <= most)


def _tokens(text: bytes) -> Tokens | None:
    """Where each number begins and ends, and the bytes; None unless they stand ``, `` apart, none as in ``01``."""
    buffer = np.frombuffer(text, dtype=np.uint8)
    commas = np.flatnonzero(buffer == _COMMA)
    starts, ends = np.append(0, commas + 2), np.append(commas, len(text))
    if not (starts < ends).all():
        return None
    apart = (buffer[commas + 1] == _BLANK).all() and np.count_nonzero(buffer == _BLANK) == len(commas)
    return (starts, ends, buffer) if apart and not _zero_first(starts, ends, buffer).any() else None


def _zero_first(starts: np.ndarray, ends: np.ndarray, buffer: np.ndarray) -> np.ndarray:
    """Whether a digit follows a zero that each number begins with: then it is none."""
    firsts = starts + (buffer[starts] == _MINUS)
    more = firsts + 1 < ends
    firsts = firsts[more]
    return (buffer[firsts] == _ZERO) & _is_digit(buffer[firsts + 1])


def _is_digit(codes: np.ndarray) -> np.ndarray:
    return (codes >= _ZERO) & (codes <= _NINE)


def _as_integers(text: bytes, tokens: Tokens) -> np.ndarray | None:
    """The numbers of a text of digits, commas, blanks and minus signs."""
    starts, ends, buffer = tokens
    signs = buffer[starts] == _MINUS
    lengths = ends - starts - signs
    if lengths.min() < 1 or np.count_nonzero(buffer == _MINUS) != np.count_nonzero(signs):
        return None
    long = np.flatnonzero(lengths > _MOST_DIGITS)
    if len(long) and any(text[starts[place] : ends[place]].strip(b"0") for place in long.tolist()):
        return None
    values: np.ndarray = np.fromstring(text.decode("ascii"), dtype=np.int64, sep=",")
    return values if len(values) == len(starts) else None


def _odd_ones(text: bytes, tokens: Tokens) -> dict[int, float] | None:
    """The values, by place, of numbers that have an exponent or many digits; None if one is no number."""
    starts, ends, buffer = tokens
    odd = np.flatnonzero(ends - starts - (buffer[starts] == _MINUS) > _MOST_DIGITS + 1).tolist()  # with the dot
    if b"e" in text:
        odd = sorted({*odd, *np.searchsorted(ends, np.flatnonzero(buffer == _EXPONENT)).tolist()})
    try:
        return {
            number: float(text[start:end])
            for number, start, end in zip(odd, starts[odd].tolist(), ends[odd].tolist(), strict=True)
        }
    except ValueError:
        return None


def _without(odd: dict[int, float], text: bytes, starts: np.ndarray, ends: np.ndarray) -> tuple[bytes, np.ndarray]:
    """The text, and its bytes, with ``0.00`` of equal length in place of these numbers."""
    changed = bytearray(text)
    places = list(odd)
    for start, end in zip(starts[places].tolist(), ends[places].tolist(), strict=True):
        changed[start:end] = b"0." + b"0" * (end - start - 2)
    text = bytes(changed)
    return text, np.frombuffer(text, dtype=np.uint8)


def _quotients(
    mantissas: np.ndarray, decimals: np.ndarray, text: bytes, starts: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """mantissa / 10^decimals, correctly rounded: up to 2^53 both are float64 numbers, and one division does it."""
    powers = _POWERS[np.minimum(decimals, _MOST_DECIMALS)]
    values = mantissas.astype(np.float64) / powers
    long = np.flatnonzero(mantissas >= _EXACT)
    if not len(long):
        return values
    mantissa, power, quotient = mantissas[long], powers[long], values[long]
    rounded = mantissa.astype(np.float64)
    product, error = _product(quotient, power)
    remainder = (rounded - product) + ((mantissa - rounded.astype(np.int64)).astype(np.float64) - error)
    correction = remainder / power
    better = quotient + correction
    # what is left is at most half a unit of the last place; where it is nearly half, Python reads the digits
    left = np.abs(correction - (better - quotient)) / np.spacing(better)
    values[long] = better
    for place in long[left > 0.499999].tolist():
        values[place] = abs(float(text[starts[place] : ends[place]]))
    return values


def _product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(product, error): two float64 numbers whose sum is a · b exactly (Dekker)."""
    product = a * b
    a_high, b_high = _SPLITTER * a - (_SPLITTER * a - a), _SPLITTER * b - (_SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, error
