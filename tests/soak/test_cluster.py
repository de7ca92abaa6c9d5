"""Workers killed at random moments, at random settings: the bytes of one machine, two hundred times."""

from __future__ import annotations

import signal
from collections import Counter

import numpy as np
import pytest
from tests.distributed import fates, sending_rows
from tests.distributed.clusters import cluster_of, file_of, learned, there_are, within
from tests.distributed.settings_at_random import random_settings
from tests.stores.test_stores import shuffled
from tests.test_collective import DATA, HELD_OUT

import rankforce as rf
from rankforce.distributed.tasks import alive_workers

pytestmark = [pytest.mark.soak, pytest.mark.cluster, pytest.mark.compiled_only]

KILLS = 200
WORKERS = 3
PER_CLUSTER = 20  # nannies start workers anew; a fresh cluster now and then keeps one bad start from spoiling all
PATIENCE = 60  # seconds until workers that a LocalCluster has given up are asked for again
SETTINGS_EVERY = 10  # other settings need other kernels, which take longer than all the rest
LATEST = {
    "columns": 4,
    "survey": 3,
    "edges": 12,
    "strays": 4,
    "load": 4,
    "introduction": 1,
    "meeting": 1,
    "sum": 150,
    "rows": 12,
    "watched": 5,
    "tree": 5,
    "ending": 1,
}


def test_all_stages_are_drawn():
    assert LATEST.keys() == fates.STAGES.keys()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two folders: rows all over the place, and a column of text."""
    mixed, texts = (tmp_path_factory.mktemp(name) for name in ("mixed", "texts"))
    data = shuffled(DATA)
    for number, rows in enumerate(np.array_split(np.arange(data.n_documents), 5)):
        data._take_rows(rows).write(mixed / f"part{number}.parquet")
    frame = DATA.to_pandas().drop(columns=["weight", "query_weight"])
    frame["brand"] = np.array(["hat", "shoe", "coat"])[np.arange(len(frame)) % 3]
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), 5)):
        frame.iloc[rows].to_csv(texts / f"part{number}.csv", index=False)
    return {"strays": mixed, "columns": texts}


def one_machine(folder):
    parts = [rf.read(path) for path in sorted(folder.iterdir())]
    return rf.Dataset.concat(parts, same_query="merge")


def given_up(client):
    """Wait for two workers; returns how many the cluster had to be asked for again.

    A LocalCluster looks 15 seconds after a loss (``distributed.deploy.lost-worker-timeout``), and closes the nanny of a
    worker that is not there: it may have been back since, and have been killed again.
    """
    if there_are(2, client, PATIENCE):
        return 0
    gone = WORKERS - len(client.cluster.workers)
    print(f"  {gone} workers were given up by the cluster", flush=True)
    assert gone, "fewer than two workers, though none was given up"
    client.cluster.scale(WORKERS)
    assert there_are(2, client)
    return gone


@pytest.mark.parametrize("batch", range(KILLS // PER_CLUSTER))
def test_random_kills(batch, files, tmp_path):
    """In every other batch leaves are sent as rows, in the others as histograms."""
    random = np.random.default_rng(batch)
    sends_rows = batch % 2 == 1
    stages = [stage for stage in LATEST if stage != "rows"] + ["rows"] * 3 * sends_rows
    preload = [sending_rows.__name__] if sends_rows else []
    armed, struck, again, exchanged = Counter(), Counter(), 0, 0
    with cluster_of(WORKERS, processes=True, preload=preload) as client:
        for number in range(PER_CLUSTER):
            again += given_up(client)
            if number % SETTINGS_EVERY == 0:
                drawn = random_settings(random)
                if sends_rows:  # symmetric trees send histograms alone
                    drawn |= {"growth": "leafwise", "n_leaves": int(random.integers(4, 12))}
            settings = dict(drawn)
            stage = stages[int(random.integers(len(stages)))]
            after = int(random.integers(LATEST[stage]))
            victim = sorted(alive_workers(client))[int(random.integers(2))]
            try:
                client.run(fates.arm, stage, after, signal.SIGKILL, workers=[victim])
            except OSError:  # an earlier fate, which had not struck yet, does so just now
                continue
            armed[stage] += 1
            said = f"batch {batch}, kill {number}: {stage} {after}, {settings}"
            print(said, flush=True)
            folder = files.get(stage)
            given = DATA if folder is None else one_machine(folder)
            held_out = HELD_OUT if stage != "columns" else None
            if held_out is None:
                settings["early_stopping"] = settings["objective"] = None  # these files have no clicks
            alone = learned(rf.LambdaMART(**settings), given, validation=held_out)  # first: it compiles the kernels
            with within(300):
                train = rf.shared(DATA if folder is None else folder, client)
                together = learned(rf.LambdaMART(**settings), train, validation=held_out)
            print("  lost:", train.last_run["losses"], flush=True)
            struck[stage] += victim not in alive_workers(client)
            assert file_of(together, tmp_path) == file_of(alone, tmp_path), said
            if sends_rows:
                exchanged += max(client.run(sending_rows.exchanges, on_error="ignore").values(), default=0)
    print(f"batch {batch}: armed {sum(armed.values())} {dict(armed)}, lost a worker {sum(struck.values())}", end=" ")
    print(f"{dict(+struck)}, given up by the cluster {again}, exchanges of rows {exchanged}", flush=True)
    assert bool(exchanged) == sends_rows


def test_random_settings(tmp_path):
    with cluster_of(3) as client:
        train, held_out = rf.shared(DATA, client), HELD_OUT
        for seed in range(200):
            settings = random_settings(np.random.default_rng(1000 + seed))
            with within(300):
                together = learned(rf.LambdaMART(**settings), train, validation=held_out)
            alone = learned(rf.LambdaMART(**settings), DATA, validation=held_out)
            assert file_of(together, tmp_path) == file_of(alone, tmp_path), settings
