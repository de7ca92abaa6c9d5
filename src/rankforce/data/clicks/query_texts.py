"""Texts of queries as terms: what two queries have in common.

A text is brought to Unicode's NFKC form with case folded, and cut at everything that is no letter, mark, digit or one
of ``+ # &``: "Red  SHOES," and "red shoes" have the same words, "c++" and "c#" have not.
"""

from __future__ import annotations

import functools
import unicodedata

_KEPT = frozenset("+#&")


def words_of(text: str) -> list[str]:
    """The words of a text in their order; none where it has no letter, digit or kept sign."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(map(_kept, folded)).split()


def word_terms(text: str, n: int) -> list[str]:
    """All runs of 1 to ``n`` words; with n = 1 the order of words does not matter."""
    words = words_of(text)
    return [" ".join(words[first : first + size]) for size in range(1, n + 1) for first in range(len(words) - size + 1)]


def character_terms(text: str, n: int) -> list[str]:
    """All runs of ``n`` characters of every word with a space on both sides; a shorter word is one run."""
    terms = []
    for word in words_of(text):
        padded = f" {word} "
        terms += [padded[first : first + n] for first in range(max(1, len(padded) - n + 1))]
    return terms


@functools.cache
def _kept(sign: str) -> str:
    return sign if sign in _KEPT or unicodedata.category(sign)[0] in "LMN" else " "
