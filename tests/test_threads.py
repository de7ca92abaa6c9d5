"""How many threads work, and that results do not depend on it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import rankforce as rf
from rankforce.threads import default_threads, over_queries, over_ranges, thread_count, using_threads


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


@pytest.mark.compiled_only
def test_ranges_cost_the_same():
    """One query that costs as much as all others together is a range of its own."""
    starts = np.arange(0, 101 * 100, 100)
    costs = np.concatenate([[0], np.cumsum([1.0] * 60 + [99.0] + [1.0] * 39)])
    ranges = []
    with using_threads(2):
        over_queries(starts, lambda first, last: ranges.append((first, last)), 0, costs)
    assert sorted(ranges)[0][0] == 0
    assert sorted(ranges)[-1][1] == 100
    most = max(costs[last] - costs[first] for first, last in ranges if not first <= 60 < last)
    assert most <= costs[-1] / 8 + 1
    assert any(last - first < 30 for first, last in ranges if first <= 60 < last)
    ranges.clear()
    with using_threads(2):
        over_queries(starts, lambda first, last: ranges.append((first, last)), 1000, costs)  # all of it costs less
    assert ranges == [(0, 100)]


@pytest.mark.compiled_only
def test_the_dearest_range_is_taken_first():
    """Whoever takes a query of many pairs last keeps all others waiting."""
    starts = np.arange(0, 101 * 100, 100)
    costs = np.concatenate([[0], np.cumsum([1.0] * 90 + [99.0] + [1.0] * 9)])
    taken = []
    both = threading.Barrier(2, timeout=120)

    def work(first, last):
        taken.append(costs[last] - costs[first])
        if len(taken) <= 2:
            both.wait()  # both threads have begun: from now on the order is that of the queue

    with using_threads(2):
        over_queries(starts, work, 0, costs)
    assert max(taken[:2]) >= 99.0
    assert len(taken) > 8
    assert max(taken[2:]) <= min(taken[:2])


@pytest.mark.compiled_only
def test_ranges_are_not_so_small_that_taking_them_costs_more():
    ranges = []
    with using_threads(2):
        over_queries(np.arange(3001), lambda first, last: ranges.append(last - first), 3000)
    assert len(ranges) == 8
    ranges.clear()
    with using_threads(2):
        over_queries(np.arange(3001), lambda first, last: ranges.append(last - first), 10)
    assert len(ranges) == 16


@pytest.mark.compiled_only
def test_ranges_become_smaller():
    """The last ones fill what is left of everybody's time."""
    sizes = []
    with using_threads(2):
        over_queries(np.arange(100_001), lambda first, last: sizes.append((first, last - first)), 10)
    in_order = [size for _, size in sorted(sizes)]
    assert sum(in_order) == 100_000
    assert in_order == sorted(in_order, reverse=True)
    assert in_order[0] < 100_000 / 8
    assert in_order[-1] < 100_000 / 100


@pytest.mark.compiled_only
def test_the_caller_works_beside_its_helpers():
    """Two pieces that wait for each other: each has a thread of its own, and one of them is the caller's."""
    both = threading.Barrier(2, timeout=120)
    names = set()

    def work(first, last):
        names.add(threading.current_thread().name)
        both.wait()

    with using_threads(2):
        over_ranges(5000, work)
    assert threading.current_thread().name in names
    assert len(names) == 2


def test_few_documents_are_one_range():
    seen = []
    with using_threads(4):
        over_ranges(5000, lambda first, last: seen.append((first, last)), few=5001)
        over_queries(np.arange(0, 5001, 50), lambda first, last: seen.append((first, last)), few=5001)
    assert seen == [(0, 5000), (0, 100)]


@pytest.mark.compiled_only
@pytest.mark.parametrize("caller", [True, False])
def test_an_error_of_the_caller_or_a_helper_is_raised(caller):
    me = threading.current_thread()
    both = threading.Barrier(2, timeout=120)

    def work(first, last):
        both.wait()
        if (threading.current_thread() is me) == caller:
            raise KeyError("here")

    with using_threads(2), pytest.raises(KeyError, match="here"):
        over_ranges(5000, work)


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
