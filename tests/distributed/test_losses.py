"""Workers that are killed or stopped, two trainings at once, a client that goes: the same bytes, or one error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from tests.distributed import fates
from tests.distributed.clusters import cluster_of, dask, file_of, learned, there_are, within
from tests.test_collective import DATA, HELD_OUT

import rankforce as rf
from rankforce.distributed.tasks import ClusterError, alive_workers

pytestmark = [pytest.mark.cluster, pytest.mark.compiled_only]

WORKERS = 3


def ranker(**settings):
    chosen = {"n_trees": 9, "growth": "leafwise", "n_leaves": 6, "min_documents": 5, "early_stopping": 8}
    return rf.LambdaMART(**chosen | settings)


@pytest.fixture(scope="module")
def client():
    lease = {"lease-timeout": "6s", "lease-validation-interval": "1s"}
    with dask.config.set({"distributed.scheduler.locks": lease}), cluster_of(WORKERS, processes=True) as client:
        yield client


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return file_of(learned(ranker(), DATA, validation=HELD_OUT), tmp_path_factory.mktemp("alone"))


def workers_of(client):
    return sorted(alive_workers(client))


def fit(client, **options):
    train = rf.shared(DATA, client, **options)
    held_out = rf.shared(HELD_OUT, client, like=train, **options)
    return learned(ranker(), train, validation=held_out), train.last_run["losses"]


SOAK = pytest.mark.soak  # processes take their time to start: the suite has one kill


@pytest.mark.parametrize(
    ("stage", "after"),
    [("sum", 60), *(pytest.param(*one, marks=SOAK) for one in (("load", 1), ("watched", 4), ("meeting", 0)))],
)
def test_a_worker_is_killed(stage, after, client, alone, tmp_path):
    assert there_are(2, client)
    victim = workers_of(client)[0]
    client.run(fates.arm, stage, after, workers=[victim])
    together, losses = fit(client)
    assert file_of(together, tmp_path) == alone
    assert victim not in workers_of(client)
    assert losses


@SOAK
def test_a_worker_hangs(client, alone, tmp_path):
    assert there_are(2, client)
    victim = workers_of(client)[-1]
    process = client.run(os.getpid, workers=[victim])[victim]
    client.run(fates.arm, "watched", 3, signal.SIGSTOP, workers=[victim])
    try:
        together, losses = fit(client, silence=8.0)
    finally:
        os.kill(process, signal.SIGKILL)
    assert file_of(together, tmp_path) == alone
    assert any("hangs" in loss for loss in losses)
    assert any("silent for 8 seconds" in loss for loss in losses)


@SOAK
@pytest.mark.parametrize("stage", ["survey", "edges"])
def test_a_worker_hangs_while_data_is_surveyed(stage, client, alone, tmp_path):
    assert there_are(2, client)
    victim = workers_of(client)[-1]
    process = client.run(os.getpid, workers=[victim])[victim]
    client.run(fates.arm, stage, 0, signal.SIGSTOP, workers=[victim])
    try:
        with within(240):  # Dask would wait for 300 seconds
            together, _ = fit(client, silence=8.0)
    finally:
        os.kill(process, signal.SIGKILL)
    assert file_of(together, tmp_path) == alone


@SOAK
def test_the_client_goes(client, alone, tmp_path):
    """Workers stop by themselves, and serve the next one."""
    assert there_are(2, client)
    code = f"""
import os, threading, warnings
import rankforce as rf
from distributed import Client
from tests.test_collective import DATA

warnings.simplefilter("ignore")
client = Client({client.scheduler.address!r})
train = rf.shared(DATA, client)

def leave(iteration):
    if iteration.number == 3:
        os._exit(7)

rf.LambdaMART(n_trees=100_000, learning_rate=0.001, progress=False).fit(train, callbacks=[leave])
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    left = subprocess.run([sys.executable, "-c", code], timeout=600, env=environment, check=False)
    assert left.returncode == 7
    with within(900):  # the lease of the client that is gone ends, and its tasks with it
        together, _ = fit(client)
    assert file_of(together, tmp_path) == alone


@SOAK
def test_the_scheduler_goes():
    """The one that must stay: what is left is a clear error, once Dask has tried to reach it again."""
    timeouts = {"connect": "3s", "tcp": "3s"}
    with dask.config.set({"distributed.comm.timeouts": timeouts}), cluster_of(2) as client:
        train = rf.shared(DATA, client)

        def end(iteration):
            client.cluster.sync(client.cluster.scheduler.close)

        with pytest.raises(ClusterError, match="scheduler does not answer"):
            learned(ranker(early_stopping=None), train, callbacks=[end])
