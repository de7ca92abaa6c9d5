"""Hashes that decide what is random and yet the same everywhere: ties, subsamples, splits.

Everything random about a query follows from a seed and the query's id, never from its place in the file or from the
thread that works on it; so the order of the queries does not matter.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from rankforce import dtypes

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
    return np.fromiter((_hash_text(str(one)) for one in ids), dtype=dtypes.HASH, count=len(ids))


def _hash_text(text: str) -> int:
    if text.lstrip("-").isdecimal() and text == str(int(text)) and -(2**63) <= int(text) < 2**63:
        return int(mix(np.array([int(text)], dtype=np.int64).view(dtypes.HASH))[0])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def uniform(words: np.ndarray) -> np.ndarray:
    """Hashes as numbers in [0, 1), with 53 bits."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
