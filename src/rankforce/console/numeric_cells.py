"""Numbers in tables of results: rounded for people, with all their digits for programs."""

from __future__ import annotations

from typing import Any

from rankforce.console import tables
from rankforce.console.result_tables import Cell


def number_cell(value: float, digits: int = 4, *, sign: bool = False, **more: Any) -> Cell:
    """A number with fixed digits; ``more`` is that of a ``Cell``."""
    return Cell(tables.number(value, digits, sign=sign), values=(float(value),), **more)


def interval_cell(low: float, high: float, *, sign: bool = False) -> Cell:
    return Cell(tables.interval(low, high, sign=sign), values=(float(low), float(high)))


def p_value_cell(value: float) -> Cell:
    return Cell(tables.p_value(value), values=(float(value),))


def share_cell(share: float) -> Cell:
    """A share: per cent for people, a part of 1 for programs."""
    return Cell(tables.per_cent(share), values=(float(share),))


def count_cell(count: int) -> Cell:
    return Cell(f"{count:,}", values=(int(count),))
