"""Small clusters for the tests, and limits of time for each of them."""

from __future__ import annotations

import contextlib
import faulthandler
import signal
import warnings

import pytest

pytest.importorskip("distributed", reason="pip install '.[cluster]'")

import dask

from distributed import Client, LocalCluster, Queue, Security

__all__ = ["Queue", "Security", "cluster_of", "dask", "file_of", "learned", "within"]


@contextlib.contextmanager
def cluster_of(workers, *, processes=False, threads=1, **options):
    """A client of a cluster on this machine."""
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=threads, processes=processes, dashboard_address=":0", **options
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


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
