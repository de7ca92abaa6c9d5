"""Several members of one training in one process: threads that meet, and add up what each has."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from rankforce.collective import using_collective
from rankforce.errors import PeerLostError

TIMEOUT = 120  # seconds that a member waits for the others before everybody fails


class GoneError(Exception):
    """What a member that dies is told."""


class Meeting:
    """Where members wait for each other. Whoever has met is not concerned by a member that leaves afterwards."""

    def __init__(self, size):
        self._size = size
        self._changed = threading.Condition()
        self._here = self._met = 0
        self._left = False

    def wait(self):
        with self._changed:
            self._here += 1
            if self._here == self._size:
                self._here = 0
                self._met += 1
                self._changed.notify_all()
                return
            before = self._met
            self._changed.wait_for(lambda: self._met > before or self._left, TIMEOUT)
            if self._met == before:
                raise PeerLostError("a member of the crowd is gone")

    def leave(self):
        with self._changed:
            self._left = True
            self._changed.notify_all()


class Member:
    """One of a crowd: a Collective that checks that all make the same calls."""

    def __init__(self, crowd, rank):
        self._crowd = crowd
        self.rank = rank
        self.size = crowd.size
        self.calls = 0

    def add(self, values):
        parts = self._exchange("add", values)
        return np.sum(parts, axis=0, dtype=np.int64).reshape(np.shape(values))

    def scatter_add(self, values, edges):
        first, last = edges[self.rank : self.rank + 2]
        assert edges[0] == 0
        assert edges[-1] == len(values)
        return np.sum(self._exchange("scatter_add", values), axis=0, dtype=np.int64)[first:last]

    def all_to_all(self, values, edges, came, places):
        assert values.dtype == came.dtype == np.uint32
        parts = [values[edges[m] : edges[m + 1]].tobytes() for m in range(self.size)]
        for member, offered in enumerate(self._exchange("all_to_all", parts)):
            came[places[member] : places[member + 1]] = np.frombuffer(offered[self.rank], np.uint32)

    def highest(self, values):
        return np.max(self._exchange("highest", values), axis=0)

    def gather(self, content):
        return [bytes(one) for one in self._exchange("gather", content)]

    def _exchange(self, operation, value):
        crowd = self._crowd
        counted = operation not in ("gather", "all_to_all")
        if counted:
            assert value.dtype == np.int64, f"{operation} of {value.dtype}"
        shape = value.shape if counted else None
        if crowd.dies == (self.rank, self.calls):
            raise GoneError
        self.calls += 1
        crowd.offered[self.rank] = (operation, shape, value)
        crowd.meeting.wait()
        offered = [(*one[:2], np.array(one[2]) if counted else one[2]) for one in crowd.offered]
        calls = {one[:2] for one in offered}
        crowd.meeting.wait()  # nobody offers the next value, or writes over this one, before all have read it
        assert len(calls) == 1, f"members took different branches: {calls}"
        crowd.calls += self.rank == 0
        return [one[2] for one in offered]


class Crowd:
    """``run(work)`` calls ``work(rank)`` in every member at once and returns what they return, by rank.

    dies : (rank, call), optional
        This member is gone when it is about to make its call of this number, from 0; the others lose it.
    """

    def __init__(self, size, dies=None):
        self.size = size
        self.meeting = Meeting(size)
        self.offered = [None] * size
        self.calls = 0
        self.dies = dies

    def run(self, work):
        results = self.outcomes(work)
        errors = [one for one in results if isinstance(one, BaseException)]
        own = [error for error in errors if not isinstance(error, PeerLostError)]
        if errors:
            raise (own or errors)[0]
        return results

    def outcomes(self, work):
        """As ``run``, with the error of a member in place of what it returns."""

        def take_part(rank):
            try:
                with using_collective(Member(self, rank)):
                    return work(rank)
            except BaseException as error:
                self.meeting.leave()  # the others must not wait for this one
                return error

        with ThreadPoolExecutor(self.size, thread_name_prefix="member") as pool:
            return list(pool.map(take_part, range(self.size)))
