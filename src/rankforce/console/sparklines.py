"""A curve in one line of text: eight heights of blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], width: int) -> str:
    """The values from the lowest to the highest, at most ``width`` of them; nothing below two that are known."""
    chosen = [float(values[place]) for place in thinned(len(values), width)]
    known = [value for value in chosen if math.isfinite(value)]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    span = (high - low) or 1.0
    return "".join(BLOCKS[min(int(len(BLOCKS) * (value - low) / span), len(BLOCKS) - 1)] for value in known)


def thinned(length: int, most: int) -> list[int]:
    """Places of a list that are at even distances, at most ``most`` of them, the first and the last among them."""
    if length <= most:
        return list(range(length))
    return [round(step * (length - 1) / (most - 1)) for step in range(most)]
