"""How training shows that it goes on.

A bar on a terminal, an output that changes in place in a notebook, a line now and then elsewhere, nothing on request.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from rankforce.console.bars import Bar
from rankforce.console.notebook_progress import NotebookProgress, notebook_display
from rankforce.displayed_text import displayed, displayed_lines

SECONDS_BETWEEN_LINES = 10.0


def numbers(values: Mapping[str, float]) -> str:
    """Values by their names."""
    return ", ".join(f"{displayed(name)} {value:.4f}" for name, value in values.items())


class Progress:
    """A bar (terminal) or lines (elsewhere) on standard error, with the measures and the time left.

    In a notebook it is an output with curves. On anything but a terminal or a notebook short work prints nothing: the
    first line comes after ten seconds.
    """

    def __init__(self, name: str, total: int, unit: str, wanted: bool = True) -> None:
        self.name = name
        self.total = total
        self.unit = unit
        self.wanted = wanted
        self._bar: Bar | NotebookProgress | None = None
        self.in_words: Callable[[Mapping[str, float]], str] = numbers  # how values are written beside the bar
        self._settled = ""
        self._said = time.monotonic()
        self._first: tuple[int, float] | None = None  # steps and time when the first step was done

    def __enter__(self) -> Progress:
        if not self.wanted:
            return self
        display = notebook_display()
        if display is not None:
            self._bar = NotebookProgress(self.name, self.total, self.unit, display)
        elif sys.stderr.isatty():
            self._bar = Bar(self.name, self.total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, text: str) -> None:
        """One line, above the bar."""
        if self._bar is not None:
            self._bar.say(f"{self.name}: {text}")
        elif self.wanted:
            print(f"{self.name}: {displayed_lines(text)}", file=sys.stderr, flush=True)

    def explain(self, settled: Mapping[str, Any]) -> None:
        """Say what was settled before the work: at once above a bar, elsewhere before the first line."""
        words = ", ".join(f"{name}={value}" for name, value in settled.items())
        if self._bar is not None:
            self.say(words)
        else:
            self._settled = words

    def advance(
        self,
        done: int,
        values: dict[str, float],
        history: Mapping[str, Sequence[float]] | None = None,
        watched: str = "",
    ) -> None:
        """``done`` steps are done; ``values`` are shown beside, and the ``history`` of what is watched as a curve."""
        if not self.wanted:
            return
        if self._bar is not None:
            self._bar.update(done, self.in_words(values), history, watched)
            return
        moment = time.monotonic()
        if self._first is None:  # the first step may have compiled kernels: it says nothing of the others
            self._first = (done, moment)
            return
        if moment - self._said >= SECONDS_BETWEEN_LINES:
            self._said = moment
            if self._settled:
                self.say(self._settled)
                self._settled = ""
            seconds = (moment - self._first[1]) / max(done - self._first[0], 1) * (self.total - done)
            print(
                f"{self.name}: {done}/{self.total} {self.unit}; {self.in_words(values)}; about {seconds:.0f} s left",
                file=sys.stderr,
                flush=True,
            )
