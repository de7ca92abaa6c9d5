"""Small tables for people: aligned text for terminals, numbers in them, data frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rankforce.displayed_text import displayed
from rankforce.errors import missing_dependency


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, rule: bool = True) -> str:
    """Columns aligned: the first ``left`` ones to the left, the others to the right; a rule below the header."""
    lines = [[displayed(cell) for cell in line] for line in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = []
    for line in lines:
        cells = zip(line, widths, range(len(widths)), strict=True)
        text.append("  ".join(cell.ljust(width) if place < left else cell.rjust(width) for cell, width, place in cells))
    if rule:
        text.insert(1, "─" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(line.rstrip() for line in text)


def number(value: float, digits: int = 4, *, sign: bool = False) -> str:
    """A number with fixed digits; a dash where there is none."""
    if math.isnan(value):
        return "–"
    return f"{value:{'+' if sign else ''}.{digits}f}"


def interval(low: float, high: float, *, sign: bool = False) -> str:
    return "–" if math.isnan(low) else f"[{number(low, sign=sign)}, {number(high, sign=sign)}]"


def p_value(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def per_cent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100.0 * share:.1f} %"


def level_name(level: float) -> str:
    return f"{100.0 * level:g} %"


def load_pandas() -> Any:
    """The pandas module, or an error that says how to get it."""
    try:
        import pandas
    except ImportError:
        raise missing_dependency("pandas", "frames", "a data frame") from None
    return pandas
