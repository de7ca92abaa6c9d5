"""Of several processes that need a kernel at once, one compiles it and the others wait for its file.

Workers of one machine, and joblib's, start together with an empty cache: each would compile all kernels for itself. The
turn is a lock of the system's on a file beside the kernels; who ends, however it ends, gives it up. Nothing depends on
it: where files cannot be locked, or a turn takes too long, everybody compiles.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LONGEST_WAIT = 120.0  # seconds for another process that compiles the same
_LOOK_AGAIN = 0.02


class Turn:
    """The turn of this process to compile something, while it has one."""

    def __init__(self) -> None:
        self._held: tuple[int, Path] | None = None

    def take(self, file: Path) -> None:
        """Wait until nobody else compiles what will be written to ``file``; look for it afterwards."""
        self.give_up()
        if fcntl is None:
            return
        lock = file.with_name(f"{file.name}.lock")
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return
        last = time.monotonic() + LONGEST_WAIT
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < last:
                    time.sleep(_LOOK_AGAIN)
                    continue
            except OSError:  # a file system without locks
                pass
            else:
                self._held = descriptor, lock
                return
            os.close(descriptor)
            return

    def give_up(self) -> None:
        """Let the next one look. Who has waited for a lock that is removed here finds the kernel, or compiles it."""
        if self._held is None:
            return
        descriptor, lock = self._held
        self._held = None
        with suppress(OSError):
            lock.unlink()
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # a forked child may have the file open
        os.close(descriptor)


TURN = Turn()  # the one of this process: Numba compiles one function at a time
