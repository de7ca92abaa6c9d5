"""Progress in a notebook: one output that changes in place, with the curve of what is watched.

It is plain HTML with a drawing in it, replaced as a whole: nothing flickers, and no picture is rendered. What is left
at the end is the curve of the whole training.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.console import html_parts
from rankforce.displayed_text import displayed, displayed_lines

SECONDS_BETWEEN_UPDATES = 0.5


def notebook_display() -> Any:
    """What shows output in the notebook that this runs in, and hands back something to change it by; None elsewhere."""
    module = sys.modules.get("IPython")  # whoever runs in a notebook has it
    shell = None if module is None else module.get_ipython()
    if shell is None or getattr(shell, "kernel", None) is None:  # a terminal
        return None
    from IPython.display import display

    return display


class NotebookProgress:
    """What was said, how much is done, a note, and curves; updated at most twice a second and at the end."""

    def __init__(self, name: str, total: int | None, unit: str, display: Any) -> None:
        self._name, self._total, self._unit = name, total, unit
        self._done, self._note = 0, ""
        self._said: list[str] = []
        self._curves: Mapping[str, Sequence[float]] = {}
        self._title = ""
        self._began = self._drawn = time.monotonic()
        self._first: tuple[int, float] | None = None  # steps and time after the first, which may have compiled kernels
        self._handle = display(self._bundle(ended=False), raw=True, display_id=True)

    def update(
        self, done: int, note: str = "", curves: Mapping[str, Sequence[float]] | None = None, title: str = ""
    ) -> None:
        self._done, self._note, self._title = done, note, title
        self._first = self._first or (done, time.monotonic())
        if curves is not None:
            self._curves = curves
        if time.monotonic() - self._drawn >= SECONDS_BETWEEN_UPDATES:
            self._draw(ended=False)

    def say(self, text: str) -> None:
        """One line, above what changes."""
        self._said.append(text)

    def stop(self) -> None:
        self._draw(ended=True)

    def _draw(self, *, ended: bool) -> None:
        self._handle.update(self._bundle(ended=ended), raw=True)
        self._drawn = time.monotonic()

    def _time_left(self, total: int) -> str:
        if self._first is None or self._done <= self._first[0]:
            return ""
        each = (time.monotonic() - self._first[1]) / (self._done - self._first[0])
        return f", about {each * max(total - self._done, 0):.0f} s left"

    def _bundle(self, *, ended: bool) -> dict[str, str]:
        total = self._total or None
        count = f"{self._done:,} of {total:,} {self._unit}" if total else f"{self._done:,} {self._unit}"
        drawing = html_parts.curves(self._curves, self._title) if self._curves else ""
        line = f"{count} in {time.monotonic() - self._began:.1f} s"
        bar = ""
        if not ended and total:
            width = f"width:{html_parts.WIDTH}px"
            bar = f'<progress value="{min(self._done, total)}" max="{total}" style="{width}"></progress>'
            line += self._time_left(total)
        shown = html_parts.block(
            html_parts.heading(self._name),
            f"<div>{bar} {html.escape(line)}</div>",
            drawing or html_parts.small(self._note),
            html_parts.small(*self._said),
        )
        words = "; ".join(part for part in (f"{displayed(self._name)}: {count}", displayed_lines(self._note)) if part)
        return {"text/html": shown, "text/plain": words}
