"""The bar on standard error, drawn by rich, which is imported when there is something to draw."""

from __future__ import annotations

from typing import Any

from rankforce.displayed_text import displayed_lines


class Bar:
    """A bar with what it is of, how much is done, a note and the time left; ``stays`` where it was when it stops."""

    def __init__(self, name: str, total: int | None, *, in_bytes: bool = False, stays: bool = False) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._drawn = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn() if in_bytes else MofNCompleteColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=not stays,
        )
        self._task: Any = self._drawn.add_task(name, total=total, note="")
        self._drawn.start()

    def update(self, done: int, note: str = "") -> None:
        self._drawn.update(self._task, completed=done, note=note)

    def say(self, text: str) -> None:
        """One line, above the bar."""
        self._drawn.console.print(displayed_lines(text), markup=False, highlight=False)

    def stop(self) -> None:
        self._drawn.stop()
