"""Several members of one training in one process: threads that meet, and add up what each has."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from rankforce.collective import using_collective

TIMEOUT = 120  # seconds that a member waits for the others before everybody fails


class Member:
    """One of a crowd: a Collective that checks that all make the same calls."""

    def __init__(self, crowd, rank):
        self._crowd = crowd
        self.rank = rank
        self.size = crowd.size

    def add(self, values):
        parts = self._exchange("add", values)
        return np.sum(parts, axis=0, dtype=np.int64).reshape(np.shape(values))

    def highest(self, values):
        return np.max(self._exchange("highest", values), axis=0)

    def gather(self, content):
        return [bytes(one) for one in self._exchange("gather", content)]

    def _exchange(self, operation, value):
        crowd = self._crowd
        if operation != "gather":
            assert value.dtype == np.int64, f"{operation} of {value.dtype}"
        shape = None if operation == "gather" else value.shape
        crowd.offered[self.rank] = (operation, shape, value)
        crowd.barrier.wait(TIMEOUT)
        offered = list(crowd.offered)
        calls = {one[:2] for one in offered}
        crowd.barrier.wait(TIMEOUT)  # nobody offers the next value before all have read this one
        assert len(calls) == 1, f"members took different branches: {calls}"
        crowd.calls += self.rank == 0
        return [np.array(one[2]) if operation != "gather" else one[2] for one in offered]


class Crowd:
    """``run(work)`` calls ``work(rank)`` in every member at once and returns what they return, by rank."""

    def __init__(self, size):
        self.size = size
        self.barrier = threading.Barrier(size)
        self.offered = [None] * size
        self.calls = 0

    def run(self, work):
        def take_part(rank):
            try:
                with using_collective(Member(self, rank)):
                    return work(rank)
            except BaseException:
                self.barrier.abort()  # the others must not wait for this one
                raise

        with ThreadPoolExecutor(self.size, thread_name_prefix="member") as pool:
            futures = [pool.submit(take_part, rank) for rank in range(self.size)]
            errors = [one.exception() for one in futures]
        own = [error for error in errors if error is not None and not isinstance(error, threading.BrokenBarrierError)]
        if own or any(errors):
            raise (own or [error for error in errors if error])[0]
        return [one.result() for one in futures]
