"""Small tables for people: aligned text for terminals, numbers in them, data frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rankforce.console.result_tables import aligned
from rankforce.errors import missing_dependency


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, rule: bool = True) -> str:
    """Columns aligned: the first ``left`` ones to the left, the others to the right; a rule below the header."""
    return aligned(header, rows, left=left, rule=rule)[0]


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
