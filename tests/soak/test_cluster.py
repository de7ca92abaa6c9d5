"""Workers killed at random moments, at random settings: the bytes of one machine, two hundred times."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from tests.distributed import fates
from tests.distributed.clusters import cluster_of, file_of, learned, within
from tests.distributed.settings_at_random import random_settings
from tests.test_collective import DATA, HELD_OUT

import rankforce as rf
from rankforce.distributed.tasks import alive_workers

pytestmark = [pytest.mark.soak, pytest.mark.cluster, pytest.mark.compiled_only]

KILLS = 200
PER_CLUSTER = 20  # nannies start workers anew; a fresh cluster now and then keeps one bad start from spoiling all
LATEST = {"survey": 3, "edges": 12, "load": 4, "meeting": 1, "sum": 150, "watched": 5, "tree": 5, "ending": 1}


@pytest.mark.parametrize("batch", range(KILLS // PER_CLUSTER))
def test_random_kills(batch, tmp_path):
    random = np.random.default_rng(batch)
    with cluster_of(3, processes=True) as client:
        for number in range(PER_CLUSTER):
            client.wait_for_workers(2, timeout=120)
            settings = random_settings(random)
            stage = list(LATEST)[int(random.integers(len(LATEST)))]
            after = int(random.integers(LATEST[stage]))
            victim = sorted(alive_workers(client))[int(random.integers(2))]
            client.run(fates.arm, stage, after, signal.SIGKILL, workers=[victim])
            said = f"batch {batch}, kill {number}: {stage} {after}, {settings}"
            with within(300):
                train = rf.shared(DATA, client)
                together = learned(rf.LambdaMART(**settings), train, validation=HELD_OUT)
            alone = learned(rf.LambdaMART(**settings), DATA, validation=HELD_OUT)
            assert file_of(together, tmp_path) == file_of(alone, tmp_path), said


def test_random_settings(tmp_path):
    with cluster_of(3) as client:
        train, held_out = rf.shared(DATA, client), HELD_OUT
        for seed in range(200):
            settings = random_settings(np.random.default_rng(1000 + seed))
            with within(300):
                together = learned(rf.LambdaMART(**settings), train, validation=held_out)
            alone = learned(rf.LambdaMART(**settings), DATA, validation=held_out)
            assert file_of(together, tmp_path) == file_of(alone, tmp_path), settings
