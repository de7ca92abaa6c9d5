"""Threads that wait for each other: all see what was written before, sleepers are woken, nobody waits for ever."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from rankforce.compiling import intrinsics
from rankforce.compiling.intrinsics import ABANDONED, ASLEEP, MEETING_SIZE
from rankforce.compiling.jit import kernel
from rankforce.kernels.trees.barrier import arrive, end_round, meet, wait_for_end

pytestmark = pytest.mark.compiled_only


@kernel
def take_turns(meeting, thread, threads, rounds, pause, shared):
    """Each thread in turn adds to what the one before it wrote; the others wait. Returns the rounds that were met."""
    for r in range(rounds):
        if r % threads == thread:
            total = shared[r] + 1
            for k in range(pause):  # others fall asleep meanwhile
                total += shared[(r + k) % (r + 1)] & 0
            shared[r + 1] = total
        if not meet(meeting, threads):
            return r
    return rounds


@kernel
def let_the_last_work(meeting, thread, threads, rounds, pause, shared):
    """In every round the last to arrive adds to what all saw, while the others wait."""
    for r in range(rounds):
        seen = shared[r]
        current, last = arrive(meeting, threads)
        if last:
            for k in range(pause):
                seen += shared[(r + k) % (r + 1)] & 0
            shared[r + 1] = seen + 1
            end_round(meeting, threads)
        elif not wait_for_end(meeting, current):
            return r
        if shared[r + 1] != seen + 1:
            return -1
    return rounds


def run(threads, rounds, pause, leave_out=(), turns=take_turns):
    meeting = np.zeros(MEETING_SIZE, dtype=np.int64)
    shared = np.zeros(rounds + 1, dtype=np.int64)
    met = [None] * threads

    def work(thread):
        met[thread] = turns(meeting, thread, threads, rounds, pause, shared)

    turns(np.zeros(MEETING_SIZE, dtype=np.int64), 0, 1, 1, 1, np.zeros(2, dtype=np.int64))  # compile once
    running = [threading.Thread(target=work, args=(thread,)) for thread in range(threads) if thread not in leave_out]
    for thread in running:
        thread.start()
    return meeting, shared, met, running


@pytest.mark.parametrize("turns", [take_turns, let_the_last_work])
@pytest.mark.parametrize(("threads", "rounds", "pause"), [(2, 2000, 0), (3, 300, 0), (8, 100, 0), (2, 40, 1_000_000)])
def test_every_round_sees_the_one_before(threads, rounds, pause, turns):
    meeting, shared, met, running = run(threads, rounds, pause, turns=turns)
    for thread in running:
        thread.join(120)
    np.testing.assert_array_equal(shared, np.arange(rounds + 1))
    assert met == [rounds] * threads
    assert meeting[ASLEEP] == 0


def test_who_waits_long_sleeps_and_takes_no_time():
    meeting, _, met, running = run(2, 4, 0, leave_out=[1])
    deadline = time.monotonic() + 120
    while meeting[ASLEEP] != 1:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    begun = time.process_time_ns()
    time.sleep(0.3)
    busy = time.process_time_ns() - begun
    assert meeting[ASLEEP] == 1
    meeting[ABANDONED] = 1
    running[0].join(120)
    assert met[0] == 0
    assert busy < 0.15e9  # half of what one processor had


def test_a_thread_that_never_comes_ends_the_wait():
    meeting, _, met, running = run(3, 10, 0, leave_out=[2])
    time.sleep(0.02)
    assert all(thread.is_alive() for thread in running)
    meeting[ABANDONED] = 1
    for thread in running:
        thread.join(20)
        assert not thread.is_alive()
    assert met[:2] == [0, 0]


def test_where_the_system_cannot_wake_threads_they_sleep_for_a_moment(monkeypatch):
    """As on macOS: the same kernel, made without the system call."""
    monkeypatch.setattr(intrinsics, "FUTEX", None)
    wait, wake = intrinsics._make_wait_for_change(), intrinsics._make_wake_waiting()

    def waits(counters, known):
        turns = 0
        while counters[0] == known and turns < 100_000:
            wait(counters, 0, known)
            turns += 1
        wake(counters, 0)
        return turns

    from numba import njit

    compiled = njit(nogil=True)(waits)
    counters = np.zeros(8, dtype=np.int64)
    compiled(counters, 1)
    turns = []
    waiting = threading.Thread(target=lambda: turns.append(compiled(counters, 0)))
    waiting.start()
    time.sleep(0.02)
    counters[0] = 1
    waiting.join(20)
    assert 0 < turns[0] < 100_000
