"""Ctrl-C during long work: finish the current step and keep what was learned, or stop at once."""

from __future__ import annotations

import contextlib
import contextvars
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

_at_once = contextvars.ContextVar("Ctrl-C interrupts at once", default=False)


class Interruption:
    """While active, the first Ctrl-C only sets ``wanted``; a second one interrupts at once.

    It is not active where another one is around it, which then decides, nor inside ``interrupting_at_once``, unless it
    is ``orderly``: of work that others do, and must be told to end. The block is then left in order, and the first
    Ctrl-C raised at its end. ``last`` is what is still finished, as the user is told.
    """

    def __init__(self, last: str = "step", *, orderly: bool = False) -> None:
        self.wanted = False
        self.last = last
        self.orderly = orderly
        self._before: Any = None
        self._active = False

    def __enter__(self) -> Interruption:
        handler = signal.getsignal(signal.SIGINT)
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and handler is signal.default_int_handler and (self.orderly or not _at_once.get()):
            self._before = signal.signal(signal.SIGINT, self._note)
            self._active = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._active:
            signal.signal(signal.SIGINT, self._before)
            self._active = False
            if kind is None and self.wanted and _at_once.get():
                raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
        print(f"\nrankforce: stopping after this {self.last} (Ctrl-C again to abort) ...", file=sys.stderr, flush=True)


@contextlib.contextmanager
def interrupting_at_once() -> Iterator[None]:
    """Inside, no training ends by Ctrl-C with what it has learned: KeyboardInterrupt is raised out of it.

    For work of several trainings, to which a model that was cut short is no use.
    """
    before = _at_once.set(True)
    try:
        yield
    finally:
        _at_once.reset(before)


def holds_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C led to this exception: what is interrupted while it is imported may raise another."""
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, KeyboardInterrupt):
            return True
        if id(one) not in seen:
            seen.add(id(one))
            waiting += [cause for cause in (one.__cause__, one.__context__) if cause is not None]
            waiting += one.exceptions if isinstance(one, BaseExceptionGroup) else ()
    return False
