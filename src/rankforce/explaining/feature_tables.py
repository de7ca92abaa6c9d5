"""Tables that fit the terminal: the features that count most, and the rest in one line."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence

import numpy as np

from rankforce.console.tables import text_table
from rankforce.console.wording import counted
from rankforce.displayed_text import displayed

SHOWN = 15  # features
_NARROWEST = 8  # characters of a name


def most_first(sizes: np.ndarray, shown: int = SHOWN) -> tuple[list[int], list[int]]:
    """(the features of the largest size that is not 0, the largest first; all others)."""
    order = [int(place) for place in np.argsort(-sizes, kind="stable") if sizes[place] > 0.0]
    chosen = order[: shown if len(order) > shown + 1 else shown + 1]  # a rest of one feature has a line, too
    return chosen, [place for place in range(len(sizes)) if place not in set(chosen)]


def rest_name(rest: Sequence[int]) -> str:
    """The line of all that is not shown."""
    return counted(len(rest), "other")


def value(number: float, categories: Sequence[str | int] = ()) -> str:
    """The value of a feature; of one with categories, the category."""
    if categories and number == number:
        return str(categories[int(number)]) if number >= 0 else "unknown"
    return "missing" if math.isnan(number) else f"{number:.5g}"


def plain(number: float, categories: Sequence[str | int] = ()) -> float | str | int | None:
    """The value of a feature as JSON has it: None if it is missing, or a category that is not known."""
    if math.isnan(number) or (categories and number < 0):
        return None
    return categories[int(number)] if categories else number


def share(number: float) -> str:
    """A contribution, with its sign; four digits after the point, or as many as it needs."""
    if number == 0.0 or abs(number) >= 0.001:
        return f"{number:+.4f}"
    return f"{number:+.1e}"


def width() -> int:
    """Characters of a line of the terminal; 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns


def fitted_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An aligned table whose first column is cut short where the line would be wider than the terminal."""
    lines = [[displayed(cell) for cell in line] for line in (header, *rows)]
    others = sum(max(map(len, column)) + 2 for column in list(zip(*lines, strict=True))[1:])
    room = max(_NARROWEST, width() - others)
    cut = [[_cut(line[0], room), *line[1:]] for line in lines]
    return text_table(cut[0], cut[1:])


def _cut(name: str, room: int) -> str:
    return name if len(name) <= room else name[: room - 1] + "…"
