"""Threads that run the same kernel at once, and wait for each other."""

from __future__ import annotations

from rankforce.compiling.intrinsics import (
    ABANDONED,
    ARRIVED,
    ASLEEP,
    HURRY,
    ROUND,
    atomic_add,
    atomic_load,
    wait_for_change,
    wake_waiting,
)
from rankforce.compiling.jit import subroutine
from rankforce.dtypes import Array, Number

SPINS = 200_000  # looks before a thread goes to sleep: about half a millisecond, ten times what it takes to wake one
HALVING = 4  # looks are halved for every so many of HURRY, which a sleep raises by as many, and a meeting lowers by one
MOST_HURRY = 6 * HALVING


@subroutine
def arrive(meeting: Array, threads: Number) -> tuple[Number, Number]:
    """(number of the round, whether all others are here already): then this thread ends it, else it waits for that.

    In between, the last to arrive may do what is for one thread alone: a meeting less.
    """
    if threads == 1:
        return 0, True
    current = atomic_load(meeting, ROUND)
    return current, atomic_add(meeting, ARRIVED, 1) == threads - 1


@subroutine
def end_round(meeting: Array, threads: Number) -> None:
    """All go on, and see whatever any of them wrote before."""
    if threads == 1:
        return
    atomic_add(meeting, ARRIVED, -threads)
    atomic_add(meeting, ROUND, 1)
    if atomic_load(meeting, ASLEEP) != 0:  # who counts itself asleep after this sees the new round
        wake_waiting(meeting, ROUND)


@subroutine
def wait_for_end(meeting: Array, current: Number) -> Number:
    """Wait until the round has ended; False if a thread will never come.

    Busily at first, since threads are microseconds apart where all have a processor, then asleep, so that one that has
    none gets theirs. Where threads had to sleep of late, processors are shared with others, and looking out busily is
    given up sooner.
    """
    hurry = meeting[HURRY]  # a guess that threads share: whose change is lost does not matter
    for _ in range(SPINS >> (hurry // HALVING)):
        if atomic_load(meeting, ROUND) != current:
            meeting[HURRY] = max(hurry - 1, 0)
            return True
    meeting[HURRY] = min(hurry + HALVING, MOST_HURRY)
    atomic_add(meeting, ASLEEP, 1)
    while atomic_load(meeting, ROUND) == current:
        if atomic_load(meeting, ABANDONED) != 0:
            return False
        wait_for_change(meeting, ROUND, current)
    atomic_add(meeting, ASLEEP, -1)
    return True


@subroutine
def meet(meeting: Array, threads: Number) -> Number:
    """Wait until all threads are here; False if one of them will never come. Then all see what any wrote before."""
    current, last = arrive(meeting, threads)
    if not last:
        return wait_for_end(meeting, current)
    end_round(meeting, threads)
    return True
