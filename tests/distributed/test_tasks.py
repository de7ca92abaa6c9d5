"""What becomes of tasks whose workers go, are paused or fall silent, and of meetings that somebody does not reach."""

from __future__ import annotations

import threading
import time

import pytest
from tests.distributed.clusters import Client, LocalCluster, cluster_of
from tests.test_collective import DATA

import rankforce as rf
from rankforce.distributed import tasks
from rankforce.distributed.connections import Listener
from rankforce.distributed.peers import Peers
from rankforce.distributed.taking_part import _listeners, dismiss, introduce
from rankforce.distributed.tasks import (
    Limits,
    Patience,
    Pulses,
    alive_workers,
    gathered_from,
    pinned,
    settled,
    wait_for_workers,
)
from rankforce.errors import ClusterError, PeerLostError

pytestmark = [pytest.mark.cluster, pytest.mark.compiled_only]

LONG = Limits(600.0, 600.0)


@pytest.fixture
def client():
    RELEASED.clear()
    with cluster_of(2) as client:
        yield client
        RELEASED.set()


def close(client, worker):
    """Take a worker away, as a machine goes: nothing it has is brought to safety."""
    client.sync(client.scheduler.unregister, address=worker, stimulus_id="test")
    while worker in alive_workers(client):
        time.sleep(0.05)


def pause(client, worker, until="paused"):
    """As the worker does itself when its memory is full."""

    def paused(dask_worker):
        from distributed.core import Status

        dask_worker.memory_manager.memory_monitor_interval = None
        dask_worker.memory_manager.memory_pause_fraction = False
        dask_worker.status = Status[until]

    client.run(paused, workers=[worker])
    while alive_workers(client)[worker]["status"] != until:
        time.sleep(0.05)


RELEASED = threading.Event()


def one():
    return 1


def held_up():
    """On a worker of this process: until the test is over."""
    RELEASED.wait(150)


def held_up_at(worker):
    """On a worker of this process: which one it is, if it is not this one, which does not end."""
    from distributed import get_worker

    if get_worker().address == worker:
        held_up()
    return get_worker().address


def test_a_result_that_goes_with_its_worker(client, monkeypatch):
    """The task has ended, and when its result is to be fetched the worker is gone."""
    first, second = sorted(alive_workers(client))
    futures = {worker: client.submit(one, **pinned(worker)) for worker in (first, second)}
    while not all(future.done() for future in futures.values()):
        time.sleep(0.01)
    fetch = tasks.fetched

    def too_late(client, asked):
        if first in alive_workers(client):
            close(client, first)
        return fetch(client, asked)

    monkeypatch.setattr(tasks, "fetched", too_late)
    results, lost = settled(client, futures, LONG)
    assert results == {second: 1}
    assert [str(it) for it in lost] == [f"{first} is gone"]


def test_a_client_that_is_not_the_default_one_does_not_keep_the_scheduler_busy(monkeypatch):
    """It is asked twice a second, and not as fast as it answers."""
    looks = []
    monkeypatch.setattr(tasks, "alive_workers", lambda client: looks.append(0) or alive_workers(client))
    with (
        LocalCluster(n_workers=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        begun = time.monotonic()
        futures = {worker: client.submit(time.sleep, 1.2, **pinned(worker)) for worker in alive_workers(client)}
        results, lost = settled(client, futures, LONG)
        seconds = time.monotonic() - begun
    assert len(results) == 2
    assert not lost
    assert len(looks) <= 4 + 2 * seconds  # after each that has ended, too


def test_a_task_of_a_worker_that_goes_before_it_begins(client):
    first, second = sorted(alive_workers(client))
    futures = {
        first: client.submit(one, **pinned(first)),
        second: client.submit(held_up, **pinned(second)),
    }
    threading.Timer(0.5, close, (client, second)).start()
    results, lost = settled(client, futures, LONG)
    assert results == {first: 1}
    assert [it.worker for it in lost] == [second]


def test_a_worker_that_is_paused_begins_nothing(client):
    first, second = sorted(alive_workers(client))
    pause(client, first)
    assert list(wait_for_workers(client, 60.0)) == [second]
    futures = {worker: client.submit(one, **pinned(worker)) for worker in (first, second)}
    results, lost = settled(client, futures, Limits(0.1, 600.0))
    assert results == {second: 1}
    assert lost[0].worker == first
    assert lost[0].unable
    pause(client, second)
    with pytest.raises(ClusterError, match=r"no worker for 0\.1 seconds that can begin a task; .* \(paused\).*memory"):
        wait_for_workers(client, 0.1)
    with pytest.raises(ClusterError, match=r"no worker for 0\.1 seconds"):
        gathered_from(client, [client.submit(one, pure=False)], Limits(0.1, 600.0))


def test_gathering_survives_the_loss_of_who_has_the_results(client):
    futures = [client.submit(pow, number, 2, pure=False) for number in range(8)]
    while not all(future.done() for future in futures):
        time.sleep(0.01)
    close(client, sorted(alive_workers(client))[0])
    assert gathered_from(client, futures, LONG) == [number**2 for number in range(8)]


def test_gathering_gives_a_worker_up_that_is_silent_for_as_long_as_was_said(client, monkeypatch):
    first, second = sorted(alive_workers(client))
    held = client.submit(held_up_at, second, workers=[second], allow_other_workers=True, pure=False)
    monkeypatch.setattr(Pulses, "silent", lambda pulses, seconds: {second} if seconds <= 7.0 else set())
    assert gathered_from(client, [held], Limits(600.0, 7.0)) == [first]
    assert list(alive_workers(client)) == [first]


def test_silence_is_that_of_every_stage_of_shared_data(client, monkeypatch):
    asked = []
    monkeypatch.setattr(Pulses, "silent", lambda pulses, seconds: asked.append(seconds) or set())
    train = rf.shared(DATA, client, silence=7.0)
    train.collect()
    for part in train.split(0.5, 0.5):
        part.with_thresholds()
        assert part.fingerprint
    assert len(asked) > 3
    assert set(asked) == {7.0}


def test_errors_of_tasks_are_raised(client):
    worker = sorted(alive_workers(client))[0]
    with pytest.raises(ZeroDivisionError):
        settled(client, {worker: client.submit(divmod, 1, 0, **pinned(worker))}, LONG)
    with pytest.raises(ZeroDivisionError):
        gathered_from(client, [client.submit(divmod, 1, 0, pure=False)], LONG)


def test_patience_begins_with_the_first_loss_and_ends(client):
    first, second = sorted(alive_workers(client))
    futures = {
        first: client.submit(one, **pinned(first)),
        second: client.submit(held_up, **pinned(second)),
    }
    told = []
    patience = Patience(0.1, lambda result: result == 1, lambda results: [], told.append)
    results, lost = settled(client, futures, LONG, patience)
    assert results == {first: 1}
    assert [str(it) for it in lost] == [f"{second} hangs"]
    assert told == [[second]]


def slow():
    time.sleep(2.0)
    return 2


def test_who_is_accused_and_well_may_return(client, monkeypatch):
    first, second = sorted(alive_workers(client))
    patience = Patience(120.0, lambda result: result == 1, lambda results: [second] if results else [])

    def settle():
        futures = {first: client.submit(one, **pinned(first)), second: client.submit(slow, **pinned(second))}
        return settled(client, futures, LONG, patience)

    assert settle() == ({first: 1, second: 2}, [])
    monkeypatch.setattr(Pulses, "silent", lambda pulses, seconds: {first, second} if seconds <= tasks.PULSE else set())
    results, lost = settle()  # the scheduler has not heard of it either
    assert results == {first: 1}
    assert [str(it) for it in lost] == [f"{second} hangs"]


def test_pulses_by_the_clock_of_the_client(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(tasks.time, "monotonic", lambda: now[0])
    running, paused = {"status": "running"}, {"status": "paused"}
    at_work = {"metrics": {"task_counts": {"executing": 1}}}
    pulses = Pulses()
    for seconds in range(0, 20, 2):
        now[0] = float(seconds)
        pulses.look(
            {
                "well": running | {"last_seen": seconds},
                "stopped": running | {"last_seen": min(seconds, 4)},
                "paused": paused | {"last_seen": seconds},
                "paused at work": paused | at_work | {"last_seen": seconds},
            }
        )
    assert pulses.silent(10.0) == {"stopped"}
    assert pulses.silent(15.0) == set()
    assert pulses.unable(10.0) == {"paused"}


# --------------------------------------------------------------------------------------------------------- the meeting


def test_who_was_told_of_by_somebody_gone_is_not_waited_for():
    """A member listens before its address is told: whoever is refused knows that it is gone."""
    gone = Listener()
    gone.close()
    listener = Listener()
    with pytest.raises(PeerLostError, match="nobody answers"):
        Peers(listener, [gone.address, listener.address], 1, b"r" * 16, timeout=600.0)
    listener.close()


def test_a_meeting_is_called_off(client):
    """Whoever waits for members to connect is told that one will not."""
    worker = sorted(alive_workers(client))[0]
    run = b"r" * 16
    found = client.submit(introduce, run, 0, **pinned(worker)).result()
    listener = _listeners[worker, run]
    caught = []

    def wait():
        try:
            Peers(listener, [listener.address, listener.address], 0, run, timeout=600.0)
        except PeerLostError as error:
            caught.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert found.address == listener.address
    client.run(dismiss, run, workers=[worker])
    waiting.join()
    assert "did not connect" in str(caught[0])
    assert not _listeners
