"""What does the work of a kernel that is not compiled yet, where little is to be done.

Compiling takes seconds, once per installation. Who reads a small file for the first time would wait longer for the
compiler than for the work. A kernel may have a stand-in in Python or NumPy that does the same, to the last bit: whole
numbers, or numbers that are rounded the same way. It serves until it has taken as much time as compiling would, or the
compiled kernel is on disk; so nobody waits more than twice as long as who had known beforehand. What it took in earlier
processes counts, too: who trains on small data every day would otherwise never have the kernel.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

SECONDS_WORTH_COMPILING = 1.0  # of all processes, per kernel
SECONDS_OF_A_MARK = 0.05  # that are written down at a time

_wanted = True


class _OnDisk(Protocol):
    @property
    def is_on_disk(self) -> bool: ...
    @property
    def marks(self) -> int: ...
    def add_mark(self) -> None: ...


class StandIn:
    """A function in a kernel's place. What it returns says whether it has done the work; else nobody has."""

    def __init__(self, function: Callable[..., bool]) -> None:
        self._function = function
        self._seconds = 0.0  # of a processor that it has taken so far: a busy machine compiles slowly, too
        self._marked = 0.0  # those of them that are written down
        self._needed: bool | None = None  # not while the disk has the kernel: looked up once

    def does(self, kernel: _OnDisk, arguments: Sequence[Any]) -> bool:
        """Do the work, if that is sooner done than compiled; False if it is not, or cannot be."""
        if not _wanted:
            return False
        if self._needed is None:
            self._needed = not kernel.is_on_disk
            self._seconds = self._marked = SECONDS_OF_A_MARK * kernel.marks if self._needed else 0.0
        if not self._needed or self._seconds > SECONDS_WORTH_COMPILING:
            return False
        begin = time.thread_time()
        done = self._function(*arguments)
        self._seconds += time.thread_time() - begin
        while self._seconds >= self._marked + SECONDS_OF_A_MARK:
            self._marked += SECONDS_OF_A_MARK
            kernel.add_mark()
        return done


@contextlib.contextmanager
def compiling_at_once() -> Iterator[None]:
    """Let every kernel that is called within be compiled: ``rankforce warmup``."""
    global _wanted
    before, _wanted = _wanted, False
    try:
        yield
    finally:
        _wanted = before
