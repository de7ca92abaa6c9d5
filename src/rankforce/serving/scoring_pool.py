"""Threads that score, and the line before them: short, and left when it takes too long.

The event loop stays free to accept, to refuse and to say that it is alive. Each request is one thread's work from
bytes to bytes; a query of a thousand documents is scored faster by one thread than several are woken.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from rankforce.serving.limits import ServingLimits
from rankforce.serving.metrics import ServingMetrics
from rankforce.serving.refusals import too_busy

Result = TypeVar("Result")


class ScoringPool:
    """Admits as many requests as the limits allow, and runs them on its threads."""

    def __init__(self, threads: int, limits: ServingLimits, metrics: ServingMetrics) -> None:
        self.limits = limits
        self.metrics = metrics
        self._admitted = 0
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="rankforce-scoring")

    @contextlib.contextmanager
    def admission(self) -> Iterator[None]:
        """Take one of the places, or refuse. For the event loop's thread alone."""
        if self._admitted >= self.limits.requests:
            raise too_busy(f"{self._admitted:,} requests are already being answered: try again later")
        self._admitted += 1
        self.metrics.running.set(self._admitted)
        try:
            yield
        finally:
            self._admitted -= 1
            self.metrics.running.set(self._admitted)

    async def run(self, work: Callable[[], Result], seconds: float) -> Result:
        """What ``work`` gives, on a thread. Work that has not begun in time never begins."""
        future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                return await future
        except TimeoutError:
            if not future.cancelled():
                raise  # the work's own
            raise too_busy(f"there was no answer within {self.limits.seconds:g} s: try again later") from None

    def shut(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
