"""Small clusters for the tests, and limits of time for each of them."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import signal
import sys
import time
import warnings

import pytest

pytest.importorskip("distributed", reason="pip install '.[cluster]'")

import dask

from distributed import Client, LocalCluster, Queue, Security
from rankforce.distributed.tasks import alive_workers

__all__ = [
    "Client",
    "LocalCluster",
    "Queue",
    "Security",
    "cluster_of",
    "dask",
    "file_of",
    "learned",
    "there_are",
    "within",
]


@contextlib.contextmanager
def cluster_of(workers, *, processes=False, threads=1, **options):
    """A client of a cluster on this machine."""
    try:
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=threads, processes=processes, dashboard_address=":0", **options
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
    finally:
        _clear_away()


def _clear_away():
    """Collect what Dask leaves open (sockets, coroutines) here, in silence: else a later test is blamed for it."""
    usual, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gc.collect()
    finally:
        sys.unraisablehook = usual


def there_are(count, client, seconds=120):
    """Whether there are so many workers within this time.

    Not ``client.wait_for_workers``: where a worker is lost while it asks, a LocalCluster (of Dask 2026.8) watches its
    workers no more, and closes those that come back.
    """
    end = time.monotonic() + seconds
    while len(alive_workers(client)) < count:
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class LateError(BaseException):
    """Not to be mistaken for a timeout that somebody waits for."""


@contextlib.contextmanager
def within(seconds):
    """Fail if the block takes longer: nothing may hang."""

    def late(number, frame):
        faulthandler.dump_traceback()
        raise LateError(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def learned(ranker, data, **inputs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ranker.set_params(progress=False).fit(data, **inputs)


def file_of(ranker, folder):
    path = folder / "model.json"
    ranker.model_.save(path)
    return path.read_bytes()
