"""How files that take long are shown to be read: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import sys
import time

from rankforce.console.bars import Bar
from rankforce.displayed_text import displayed_path
from rankforce.memory import written_size

PATIENCE = 2.0  # seconds without a bar
SECONDS_BETWEEN_LINES = 10.0


class ByteProgress:
    """Shows how many bytes of a file are done, and the time left, on standard error. Use as a context manager.

    ``wanted`` None: on a terminal only, once ``PATIENCE`` seconds have passed with much left to do. ``part`` says which
    of several readings it is.
    """

    def __init__(self, path: str, total: int | None, wanted: bool | None, part: str = "") -> None:
        self._name = f"reading {displayed_path(os.path.basename(path))}" + (f", {part}" if part else "")
        self._total = total
        self._wanted = wanted
        self._began = self._said = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> ByteProgress:
        return self

    def advance_to(self, done: int) -> None:
        """``done`` bytes are done."""
        if self._bar is None:
            if not self._due(done):
                return
            if not sys.stderr.isatty():
                self._say(done)
                return
            self._bar = Bar(self._name, self._total, in_bytes=True, stays=self._wanted is not None)
        self._bar.update(done)

    def _due(self, done: int) -> bool:
        if self._wanted is not None:
            return self._wanted
        if not sys.stderr.isatty() or time.monotonic() - self._began < PATIENCE:
            return False
        return self._total is None or done < 0.8 * self._total

    def _say(self, done: int) -> None:
        """A line, unless there was one a moment ago: what is no terminal keeps all of them."""
        moment = time.monotonic()
        if moment - self._said < SECONDS_BETWEEN_LINES or not done:
            return
        self._said = moment
        told = written_size(done)
        if self._total is not None:
            share = min(done / self._total, 1.0)
            seconds = (moment - self._began) * (1.0 - share) / share
            told = f"{share:.0%} of {written_size(self._total)}; about {seconds:.0f} s left"
        print(f"{self._name}: {told}", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
