"""Small tables for people: aligned text for terminals, numbers in them, data frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rankforce.displayed_text import displayed
from rankforce.errors import missing_dependency


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned: the first to the left, the others to the right; a rule below the header."""
    header, *rows = [[displayed(cell) for cell in line] for line in (header, *rows)]
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]
    lines = [_line(header, widths), "─" * (sum(widths) + 2 * (len(widths) - 1))]
    lines += [_line(row, widths) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


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


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(
        cell.ljust(width) if index == 0 else cell.rjust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )


def load_pandas() -> Any:
    """The pandas module, or an error that says how to get it."""
    try:
        import pandas
    except ImportError:
        raise missing_dependency("pandas", "frames", "a data frame") from None
    return pandas
