"""A progress bar for files that take long."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

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
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> ByteProgress:
        return self

    def advance_to(self, done: int) -> None:
        """``done`` bytes are done."""
        if self._bar is None:
            if not self._due(done):
                return
            self._open()
        self._bar.update(self._task, completed=done)

    def _due(self, done: int) -> bool:
        if self._wanted is not None:
            return self._wanted
        if not sys.stderr.isatty() or time.monotonic() - self._began < PATIENCE:
            return False
        return self._total is None or done < 0.8 * self._total

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("reading {task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=self._wanted is None,
        )
        self._bar.start()
        self._task = self._bar.add_task(self._name, total=self._total)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
