"""How many threads work, and that results do not depend on it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import rankforce as rf
from rankforce.threads import default_threads, over_queries, thread_count, using_threads


def test_the_number_of_threads_is_restored():
    before = thread_count()
    with using_threads(1):
        assert thread_count() == 1
        with using_threads(3):
            assert thread_count() == 3
        with using_threads(None):
            assert thread_count() == default_threads()
        assert thread_count() == 1
    assert thread_count() == before


def test_the_number_of_threads_is_restored_after_an_error():
    before = thread_count()
    with pytest.raises(ZeroDivisionError), using_threads(1):
        raise ZeroDivisionError
    assert thread_count() == before


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", True])
def test_impossible_numbers_of_threads(bad):
    with pytest.raises(rf.SettingsError, match="threads must be a positive whole number"), using_threads(bad):
        pass


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("sizes", [[1], [5000], [3] * 2000, [4000, 1, 1, 1, 4000]])
def test_ranges_cover_every_query_once(threads, sizes):
    starts = np.concatenate([[0], np.cumsum(sizes)])
    seen = np.zeros(len(sizes), dtype=int)

    def work(first, last):
        seen[first:last] += 1

    with using_threads(threads):
        over_queries(starts, work)
    assert (seen == 1).all()


def test_an_error_in_a_thread_is_raised():
    def work(first, last):
        if last == 2000:
            raise KeyError("here")

    with using_threads(2), pytest.raises(KeyError, match="here"):
        over_queries(np.arange(2001) * 3, work)


@pytest.mark.compiled_only
def test_work_that_calls_itself_does_not_wait_for_ever():
    names = set()

    def inner(first, last):
        names.add(threading.current_thread().name)

    starts = np.arange(2001) * 3
    with using_threads(2):
        over_queries(starts, lambda first, last: over_queries(starts, inner))
    assert names
