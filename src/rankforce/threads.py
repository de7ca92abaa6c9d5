"""How many threads work, and ranges of queries handed to them.

Kernels are serial and release the interpreter lock. A pool of threads drives most of them over ranges of queries; the
kernel that grows a tree runs on all threads at once, which meet inside it. Never one within the other.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import numpy as np

from rankforce.compiling import jit
from rankforce.compiling.intrinsics import ABANDONED, MEETING_SIZE
from rankforce.errors import SettingsError
from rankforce.kinds import Whole, shown
from rankforce.processors import usable_processors

# Documents below which waking another thread takes longer than it saves: where each takes some hundred nanoseconds, in
# a walk down a tree or a ranking (tens of nanoseconds), in a pass over arrays (a few), and in a copy (a quarter).
FEW = 2048
FEW_IN_A_WALK = 16_384
FEW_IN_A_PASS = 100_000
FEW_IN_A_COPY = 1_000_000

# Into how many ranges work is divided: so many per thread, none smaller than this part of what counts as few.
PIECES_PER_THREAD = 8
PIECES_OF_FEW = 8
RANGES_PER_THREAD = 32  # where a kernel takes them by itself

MOST_THREADS = 4096
THREADS = Whole(1, MOST_THREADS)

_threads: ContextVar[int | None] = ContextVar("rankforce_threads", default=None)
_POOL_NAME = "rankforce-worker"
_pools: dict[int, ThreadPoolExecutor] = {}
_group = threading.Lock()


def default_threads() -> int:
    """NUMBA_NUM_THREADS if set, else the processors this process may use: by its affinity and its quota of time."""
    wanted = os.environ.get("NUMBA_NUM_THREADS")
    if wanted and wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return usable_processors()


def thread_count() -> int:
    """The number of threads in force."""
    return _threads.get() or default_threads()


@contextlib.contextmanager
def using_threads(count: int | None) -> Iterator[None]:
    """Work with ``count`` threads (None: the default) inside the block. Results never depend on it."""
    if count is not None and not THREADS.holds(count):
        raise SettingsError(f"threads must be a positive whole number up to {MOST_THREADS} or None, not {shown(count)}")
    token = _threads.set(default_threads() if count is None else int(count))
    try:
        yield
    finally:
        _threads.reset(token)


def over_queries(
    starts: np.ndarray, work: Callable[[int, int], Any], few: int = FEW, costs: np.ndarray | None = None
) -> None:
    """Call ``work(first, last)`` on ranges of queries that cover all of them, in parallel.

    Ranges cost about the same: ``costs`` (queries + 1) are running totals from 0, by default documents, that is,
    ``starts``. A total below ``few`` is one range. ``work`` must write to disjoint places, query by query.
    """
    queries = len(starts) - 1
    count = thread_count()
    totals = starts if costs is None else costs
    if count == 1 or queries < 2 or totals[-1] < few or jit.PLAIN:
        work(0, queries)
        return
    pieces = min(queries, count * PIECES_PER_THREAD, max(count, int(PIECES_OF_FEW * totals[-1] / max(few, 1))))
    _share_out([(int(first), int(last)) for first, last in _dearest_first(totals, pieces)], work)


def ranges_of_queries(totals: np.ndarray, few: int) -> np.ndarray:
    """Ranges of queries that cover all of them, the dearest first, for ``take_ranges``: int64 (ranges, 2).

    ``totals`` are running totals of costs from 0. A total below ``few`` is one range.
    """
    queries, count = len(totals) - 1, thread_count()
    if count == 1 or queries < 2 or totals[-1] < few or jit.PLAIN:
        return np.array([[0, queries]], dtype=np.int64)
    return _dearest_first(totals, min(queries, count * RANGES_PER_THREAD))


def _dearest_first(totals: np.ndarray, pieces: int) -> np.ndarray:
    """Many ranges: costs are estimates, a query cannot be divided, and threads are interrupted.

    Each is smaller than the one before, and the dearest comes first: what is taken last decides how long others wait.
    """
    left = np.arange(pieces - 1, 0, -1)
    cuts = np.searchsorted(totals, float(totals[-1]) * (1 - left * (left + 1) / (pieces * (pieces + 1))))
    edges = np.unique(np.concatenate([[0], cuts, [len(totals) - 1]]))
    ranges = np.column_stack([edges[:-1], edges[1:]])
    return ranges[np.argsort(totals[edges[:-1]] - totals[edges[1:]], kind="stable")]


def take_ranges(ranges: np.ndarray, work: Callable[[np.ndarray, np.ndarray], Any]) -> None:
    """Call ``work(ranges, taken)`` on all threads, for as long as there are ranges left.

    ``work`` is a kernel that takes the next range by counting ``taken[0]`` up (``atomic_add``) until there are no more:
    between two ranges it needs neither Python nor its lock. Writes must be disjoint.
    """
    taken = np.zeros(1, dtype=np.int64)

    def stop() -> None:
        taken[0] = len(ranges)

    _with_helpers(len(ranges), lambda: work(ranges, taken), stop)


def over_pieces(edges: Sequence[int], work: Callable[[int, int], Any]) -> None:
    """Call ``work(first, last)`` on every pair of neighbouring edges, in parallel. Writes must be disjoint."""
    _share_out(list(itertools.pairwise(edges)), work)


def _share_out(ranges: list[tuple[int, int]], work: Callable[[int, int], Any]) -> None:
    """Call ``work`` on every range, each taken by whichever thread is free, in this order."""
    pieces = collections.deque(ranges)

    def take_pieces() -> None:
        while True:
            try:
                first, last = pieces.popleft()
            except IndexError:
                return
            work(first, last)

    _with_helpers(len(ranges), take_pieces, pieces.clear)


def _with_helpers(pieces: int, take_pieces: Callable[[], Any], stop: Callable[[], Any]) -> None:
    """Call ``take_pieces`` here and on as many other threads as there are pieces for."""
    count = thread_count()
    inside = threading.current_thread().name.startswith(_POOL_NAME)  # a pool that waits for itself waits for ever
    if count == 1 or pieces == 1 or inside or jit.PLAIN:
        take_pieces()
        return
    # The caller works, too: to wake a thread and wait for it takes as long as thousands of documents.
    helpers = [_pool(count).submit(take_pieces) for _ in range(min(count, pieces) - 1)]
    try:
        take_pieces()
    finally:
        stop()  # after an error or an interrupt, nothing more is begun
        for helper in helpers:
            if not helper.cancel():  # it has begun
                helper.exception()
    for helper in helpers:
        if not helper.cancelled():
            helper.result()


def over_ranges(size: int, work: Callable[[int, int], Any], few: int = FEW) -> None:
    """Call ``work(first, last)`` on equal ranges that cover 0 … size, in parallel; on one if size < ``few``.

    Writes must be disjoint.
    """
    pieces = 1 if size < few else thread_count()
    over_pieces([size * piece // pieces for piece in range(pieces + 1)], work)


def together(work: Callable[[int, int, np.ndarray], Any]) -> Any:
    """Call ``work(thread, threads, meeting)`` on all threads at once; return what thread 0 returned.

    ``meeting`` is what ``kernels.trees.barrier.meet`` counts in, to wait for the others. There are never more threads
    than processors (or NUMBA_NUM_THREADS): they would wait for each other's. One such group runs at a time: two that
    each have some of the pool's threads and wait for more would wait for ever.
    """
    meeting = np.zeros(MEETING_SIZE, dtype=np.int64)
    count = min(thread_count(), default_threads())
    inside = threading.current_thread().name.startswith(_POOL_NAME)
    if count == 1 or inside or jit.PLAIN:
        return work(0, 1, meeting)

    def take_part(thread: int) -> Any:
        try:
            return work(thread, count, meeting)
        except BaseException:  # an interrupt, too: nobody may wait for this thread any longer
            meeting[ABANDONED] = 1
            raise

    with _group:
        try:
            others = [_pool(count).submit(take_part, thread) for thread in range(1, count)]
            result = take_part(0)
        except BaseException:
            meeting[ABANDONED] = 1
            raise
        for other in others:
            other.result()
        return result


def _pool(count: int) -> ThreadPoolExecutor:
    pool = _pools.get(count)
    if pool is None:
        pool = _pools.setdefault(count, ThreadPoolExecutor(count, thread_name_prefix=_POOL_NAME))
    return pool


def _forget_pools() -> None:
    global _group
    _pools.clear()  # the threads of a parent process do not exist in a forked child
    _group = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)
