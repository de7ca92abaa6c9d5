"""Sets of categories as bits, many of them one after the other.

Bit c % 32 of word ``starts[s] + c // 32`` says whether category c is in set s: ``starts`` int64 (sets + 1,), ``words``
uint32. What is beyond the words of a set is not in it, nor is what is no category at all: a negative number, one that
is not whole, a missing value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rankforce.data.categories import MOST_CATEGORIES

BITS = 32  # categories per word


def words_of(categories: Iterable[int]) -> np.ndarray:
    """The bits of one set, without words of zeros at its end."""
    codes = np.asarray(list(categories), dtype=np.int64)
    words = np.zeros(int(codes.max()) // BITS + 1 if len(codes) else 0, dtype=np.uint32)
    np.bitwise_or.at(words, codes // BITS, np.uint32(1) << (codes % BITS).astype(np.uint32))
    return words


def categories_of(words: np.ndarray) -> np.ndarray:
    """The categories of one set, rising: the inverse of ``words_of``."""
    bits = np.unpackbits(np.ascontiguousarray(words, dtype="<u4").view(np.uint8), bitorder="little")
    return np.flatnonzero(bits)


def joined(sets: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(starts, words) of sets that are given by their words, each without the words of zeros at its end."""
    cut = [_without_end(np.asarray(words, dtype=np.uint32)) for words in sets]
    starts = np.concatenate([[0], np.cumsum([len(words) for words in cut], dtype=np.int64)])
    return starts, np.concatenate(cut) if cut else np.empty(0, dtype=np.uint32)


def are_in(values: np.ndarray, sets: np.ndarray, starts: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Whether each value is the code of a category of its set."""
    values = np.asarray(values)
    whole = (values >= 0) & (values < MOST_CATEGORIES)
    codes = np.where(whole, values, 0).astype(np.int64)
    whole &= codes == values
    place = starts[sets] + codes // BITS
    whole &= place < starts[sets + 1]
    if not len(words):
        return np.zeros(whole.shape, dtype=bool)
    word = words[np.where(whole, place, 0)]
    return whole & ((word >> (codes % BITS).astype(np.uint32)) & 1).astype(bool)


def _without_end(words: np.ndarray) -> np.ndarray:
    used = np.flatnonzero(words)
    return words[: used[-1] + 1] if len(used) else words[:0]
