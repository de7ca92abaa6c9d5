"""Numbers as people write them, and no reader takes them: ``4,8``, ``15%``, ``12.99 €``, ``1.299,00``.

A column of them is meant as numbers. As categories it would be learnt without its order, and nobody would notice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SPELLED = re.compile(r"\s*[€$£]?\s*[+-]?\s*(\d+|\d{1,3}([.,' ]\d{3})+)([.,]\d+)?\s*[%€$£]?\s*", re.ASCII)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*", re.ASCII)
_MOST = 0.5  # of the different texts: others may be words for a missing value, or cells that are wrong


def spelled_number(texts: Sequence[str], plain: Sequence[str]) -> str | None:
    """An example, if these different texts are mostly numbers, and more of them spelled so than plain; else None."""
    spelled = set(filter(_SPELLED.fullmatch, texts)).difference(plain)
    if len(spelled) > len(plain) and len(spelled) + len(plain) > _MOST * len(texts):
        return min(spelled)
    return None


def has_decimal_comma(text: str) -> bool:
    """Whether it is a number but for the comma before its fraction."""
    return _DECIMAL_COMMA.fullmatch(text) is not None


def with_point(text: str, decimal: str) -> str:
    """A text whose decimal sign is ``decimal`` as one with a point; what has a point then is no number."""
    return text if decimal == "." else text.replace(".", "·").replace(decimal, ".")
