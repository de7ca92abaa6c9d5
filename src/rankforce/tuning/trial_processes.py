"""Trials that do not learn from each other, tried by several processes at once, in the order of one.

Each process is sent what trials are valued by when it starts. A store that is mapped is opened again there: all of them
read the same pages of it. Threads are shared out. Results do not depend on how many processes there are.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import pickle
import signal
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from rankforce.errors import SettingsError
from rankforce.remedies import Argument
from rankforce.threads import thread_count

AHEAD = 2  # trials that are handed out per process: none waits for the next, and few are left when the search is ended

_work: Any = None  # in a process: what values a combination of settings


class TrialProcesses:
    """So many processes, each with ``work``: ``work.run(number, settings, None)`` values a trial. A context manager."""

    def __init__(self, work: Any, count: int) -> None:
        try:
            content = pickle.dumps(work)
        except Exception as error:  # functions of a notebook, open files
            raise SettingsError(
                f"several processes need what can be sent to them, and something in the search cannot ({error}): "
                "define it in a module, or tune by ",
                Argument("processes", 1),
            ) from error
        self._count = count
        # Not forked: the threads of this process would be missing there, and the locks that they hold never given back.
        self._pool = ProcessPoolExecutor(
            count,
            multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(content, max(1, thread_count() // count)),
        )

    def __enter__(self) -> TrialProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def trials(self, asked: Iterator[tuple[int, dict[str, Any]]]) -> Generator[Any, None, None]:
        """The trials of numbered settings, in their order, each when it is done."""
        waiting: deque[Future[Any]] = deque()
        while True:
            with _deaf_to_ctrl_c():  # a process that is only starting could not ignore it yet
                for number, settings in itertools.islice(asked, AHEAD * self._count - len(waiting)):
                    waiting.append(self._pool.submit(_run, number, settings))
            if not waiting:
                return
            try:
                yield waiting.popleft().result()
            except BrokenProcessPool:
                raise SettingsError(
                    "a process of the search ended before its trial: was there memory for all of them? A script that "
                    "tunes by several processes calls it under if __name__ == '__main__'; fewer: ",
                    Argument("processes", 1),
                ) from None


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that are started inside never hear of Ctrl-C; this one does, afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(content: bytes, threads: int) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who tunes decides about Ctrl-C
    os.environ["NUMBA_NUM_THREADS"] = str(threads)  # of rankers that do not say how many they take
    _work = pickle.loads(content)


def _run(number: int, settings: dict[str, Any]) -> Any:
    return _work.run(number, settings, None)
