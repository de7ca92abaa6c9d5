"""Ctrl-C during training: finish the current step and keep what was learned."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any


class Interruption:
    """While active, the first Ctrl-C only sets ``wanted``; a second one interrupts at once."""

    def __init__(self) -> None:
        self.wanted = False
        self._before: Any = None
        self._active = False

    def __enter__(self) -> Interruption:
        handler = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and handler is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._note)
            self._active = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._active:
            signal.signal(signal.SIGINT, self._before)
            self._active = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
        print("\nrankforce: stopping after this step (Ctrl-C again to abort) ...", file=sys.stderr, flush=True)
