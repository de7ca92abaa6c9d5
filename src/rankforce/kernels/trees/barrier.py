"""Threads that run the same kernel at once, and wait for each other."""

from __future__ import annotations

from typing import Any

from rankforce.compiling.intrinsics import ABANDONED, ARRIVED, ROUND, atomic_add, atomic_load, let_others_run
from rankforce.compiling.jit import subroutine

SPINS = 4000  # looks before the processor is offered to others: about 10 µs


@subroutine
def meet(meeting: Any, threads: Any) -> Any:
    """Wait until all threads are here; False if one of them will never come.

    What any thread wrote before is then seen by all. The last to arrive starts the next round, for which the others
    look out. A microsecond at most where all have a processor.
    """
    if threads == 1:
        return True
    current = atomic_load(meeting, ROUND)
    if atomic_add(meeting, ARRIVED, 1) == threads - 1:
        atomic_add(meeting, ARRIVED, -threads)
        atomic_add(meeting, ROUND, 1)
        return True
    spins = 0
    while atomic_load(meeting, ROUND) == current:
        spins += 1
        if spins > SPINS:
            if atomic_load(meeting, ABANDONED) != 0:
                return False
            let_others_run()
    return True
