"""The bar on standard error, drawn by rich, which is imported when there is something to draw."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.console.sparklines import BLOCKS, sparkline
from rankforce.console.terminals import terminal
from rankforce.displayed_text import displayed_lines

CURVE_WIDTH = 16
ROOM_FOR_A_CURVE = 100  # columns of the terminal: below, the numbers need them, and a bar tells less than they do
ROOM_FOR_BYTES = 80
_ROOM_OF_TIMES = len(" 0:00:00") + 2 * len(" ")
_OF_TIES = re.compile(r" \(ties [^)]*\)")


class Bar:
    """A bar with what it is of, how much is done, a curve, a note and the time left.

    ``stays`` where it was when it stops.
    """

    def __init__(self, name: str, total: int | None, *, in_bytes: bool = False, stays: bool = False) -> None:
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        console = terminal(stderr=True)
        self._draws_curves = console.width >= ROOM_FOR_A_CURVE and _writes_blocks(console.encoding)
        draws_bar = console.width >= (ROOM_FOR_BYTES if in_bytes else ROOM_FOR_A_CURVE)
        count = 0 if total is None else 2 * len(str(total)) + 1
        self._room = console.width - len(name) - count - _ROOM_OF_TIMES if not draws_bar else None
        self._drawn = Progress(
            TextColumn("{task.description}", markup=False),
            *([BarColumn(CURVE_WIDTH if self._draws_curves and not in_bytes else 40)] if draws_bar else []),
            DownloadColumn() if in_bytes else MofNCompleteColumn(),
            *([TextColumn("{task.fields[curve]}", markup=False)] if self._draws_curves and not in_bytes else []),
            TextColumn("{task.fields[note]}", markup=False),
            *([TimeElapsedColumn()] if draws_bar else []),
            TimeRemainingColumn(),
            console=console,
            transient=not stays,
        )
        self._task: Any = self._drawn.add_task(name, total=total, note="", curve="")
        self._drawn.start()

    def update(
        self, done: int, note: str = "", curves: Mapping[str, Sequence[float]] | None = None, title: str = ""
    ) -> None:
        """Of several curves the one on validation data is drawn; a bar has no place for a ``title``."""
        curve = ""
        if curves and self._draws_curves:
            curve = sparkline(curves.get("validation") or next(iter(curves.values())), CURVE_WIDTH)
        self._drawn.update(self._task, completed=done, note=fitted(note, self._room), curve=curve)

    def say(self, text: str) -> None:
        """One line, above the bar."""
        self._drawn.console.print(displayed_lines(text), markup=False, highlight=False)

    def stop(self) -> None:
        self._drawn.stop()


def fitted(note: str, room: int | None) -> str:
    """A note that fits beside what must not be lost; None: there is room for all of it."""
    if room is None or len(note) <= room:
        return note
    shorter = _OF_TIES.sub("", note)
    if len(shorter) <= room:
        return shorter
    return shorter[: room - 1] + "…" if room > 1 else ""


def _writes_blocks(encoding: str) -> bool:
    try:
        BLOCKS.encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return True
