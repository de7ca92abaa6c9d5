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
def meet(meeting: Array, threads: Number) -> Number:
    """Wait until all threads are here; False if one of them will never come.

    What any thread wrote before is then seen by all. The last to arrive starts the next round, for which the others
    look out: busily at first, since they are microseconds apart where all have a processor, then asleep, so that one
    that has none gets theirs. Where threads had to sleep of late, processors are shared with others, and looking out
    busily is given up sooner.
    """
    if threads == 1:
        return True
    current = atomic_load(meeting, ROUND)
    if atomic_add(meeting, ARRIVED, 1) == threads - 1:
        atomic_add(meeting, ARRIVED, -threads)
        atomic_add(meeting, ROUND, 1)
        if atomic_load(meeting, ASLEEP) != 0:  # who counts itself asleep after this sees the new round
            wake_waiting(meeting, ROUND)
        return True
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
