"""A model has the same bytes whether its kernels were compiled in the process or loaded, and in whatever order."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.compiled_only

TRAIN = """
import hashlib, json, sys, tempfile, os
import rankforce as rf
from rankforce.compiling import jit

SETTINGS = {
    "LambdaMART": {"n_trees": 3}, "MART": {"n_trees": 3}, "LambdaRank": {"epochs": 2}, "RankNet": {"epochs": 2},
    "PRank": {"epochs": 2}, "SPSA": {"steps": 5}, "XRank": {},
}
folder, rankers, checkpoint = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
data = rf.make_artificial(queries=30, documents=20, features=6, seed=0)
held_out = rf.make_artificial(queries=20, documents=20, features=6, seed=1)
digests = {}
for name in rankers:
    ranker = getattr(rf, name)(**SETTINGS[name], progress=False)
    if checkpoint:
        ranker.set_params(epochs=int(checkpoint[1]))
        ranker.fit(data, validation=held_out, checkpoint=checkpoint[0], checkpoint_every=1)
    else:
        ranker.fit(data, validation=held_out)
    path = os.path.join(folder, "model.json")
    ranker.save(path)
    with open(path, "rb") as file:
        digests[name] = hashlib.sha256(file.read()).hexdigest()
print(json.dumps([digests, sum(kernel.compilations for kernel in jit.KERNELS)]))
"""


def train(folder, cache, rankers, *checkpoint):
    """(digest of each model, how many kernels were compiled) of a process of its own."""
    finished = subprocess.run(
        [sys.executable, "-c", TRAIN, str(folder), ",".join(rankers), *map(str, checkpoint)],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder / cache)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def check_cold_and_warm(folder, rankers):
    cold, compiled = train(folder, "cache", rankers)
    assert compiled > 0
    warm, compiled = train(folder, "cache", rankers[::-1])
    assert compiled == 0
    assert warm == cold


@pytest.mark.soak
def test_nets(tmp_path):
    check_cold_and_warm(tmp_path, ["LambdaRank", "RankNet"])


@pytest.mark.soak
@pytest.mark.parametrize("ranker", ["LambdaMART", "MART", "LambdaRank", "RankNet", "PRank", "SPSA", "XRank"])
def test_every_ranker_alone_and_after_others(tmp_path, ranker):
    check_cold_and_warm(tmp_path, [ranker])
    others = [name for name in ("LambdaRank", "LambdaMART", "RankNet", "XRank") if name != ranker]
    alone, _ = train(tmp_path, "cache", [ranker])
    after, _ = train(tmp_path, "other cache", [*others, ranker])
    assert after[ranker] == alone[ranker]


@pytest.mark.soak
@pytest.mark.parametrize("ranker", ["LambdaRank", "RankNet"])
def test_begun_cold_and_resumed_warm(tmp_path, ranker):
    train(tmp_path, "cache", [ranker], tmp_path / "checkpoint.json", 2)
    resumed, compiled = train(tmp_path, "cache", [ranker], tmp_path / "checkpoint.json", 4)
    assert compiled == 0
    assert resumed == train(tmp_path, "other cache", [ranker], tmp_path / "whole.json", 4)[0]
