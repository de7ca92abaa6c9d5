"""Hashes, the same everywhere: what ``random_streams`` draws from.

Everything random about a query follows from a seed and the query's id, never from its place in the file or from the
thread that works on it; so the order of the queries does not matter.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.errors import SettingsError
from rankforce.kinds import shown

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix(values: Any) -> np.ndarray:
    """SplitMix64's finaliser: a bijection of 64-bit words whose every output bit depends on every input bit."""
    with np.errstate(over="ignore"):
        word = np.asarray(values).astype(dtypes.HASH) + _GOLDEN
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return word ^ (word >> np.uint64(31))


def combine(*parts: Any) -> np.ndarray:
    """One hash of several numbers or arrays (broadcast), order mattering."""
    word = np.zeros((), dtype=dtypes.HASH)
    with np.errstate(over="ignore"):
        for part in parts:
            word = mix(word * _GOLDEN + mix(part))
    return word


def hash_ids(ids: np.ndarray) -> np.ndarray:
    """A 64-bit hash of every id, whole numbers and text alike; 7 and "7" have the same."""
    if ids.dtype.kind in "iu":
        return mix(ids.astype(np.int64).view(dtypes.HASH))
    words = np.empty(len(ids), dtype=dtypes.HASH)
    for index, text in enumerate(map(str, ids)):
        number = _whole_number(text)
        if number is None:
            digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
            words[index] = int.from_bytes(digest, "little")
        else:
            words[index] = _mix_one(number)
    return words


def _whole_number(text: str) -> int | None:
    """The number that a text writes as Python would, if it has 64 bits with sign."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 19 or str(int(text)) != text:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _mix_one(number: int) -> int:
    """``mix`` of one number without the cost of an array."""
    mask = 2**64 - 1
    word = (number + int(_GOLDEN)) & mask
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & mask
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & mask
    return word ^ (word >> 31)


def checked_seed(seed: Any) -> int:
    """A seed as a Python int, or an error: a whole number of at most 64 bits."""
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise SettingsError(f"a seed is a whole number from 0 to 2^64 - 1, not {shown(seed)}")
    return int(seed)
