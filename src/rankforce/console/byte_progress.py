"""A progress bar for files that take long."""

from __future__ import annotations

import os
import sys
import time

from rankforce.console.bars import Bar
from rankforce.displayed_text import displayed_path

PATIENCE = 2.0  # seconds without a bar


class ByteProgress:
    """Shows how many bytes of a file are done, on standard error. Use as a context manager.

    ``wanted`` None: on a terminal only, once ``PATIENCE`` seconds have passed with much left to do.
    """

    def __init__(self, path: str, total: int | None, wanted: bool | None) -> None:
        self._name = displayed_path(os.path.basename(path))
        self._total = total
        self._wanted = wanted
        self._began = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> ByteProgress:
        return self

    def advance_to(self, done: int) -> None:
        """``done`` bytes are done."""
        if self._bar is None:
            if not self._due(done):
                return
            self._bar = Bar(f"reading {self._name}", self._total, in_bytes=True, stays=self._wanted is not None)
        self._bar.update(done)

    def _due(self, done: int) -> bool:
        if self._wanted is not None:
            return self._wanted
        if not sys.stderr.isatty() or time.monotonic() - self._began < PATIENCE:
            return False
        return self._total is None or done < 0.8 * self._total

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
