"""Bounds on memory and interrupted trainings: random cases, each against the same work without a bound or a kill."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest

from rankforce.binning.binned import Binned
from rankforce.data.dataset import Dataset
from rankforce.threads import using_threads
from rankforce.trees.grower import Grower

# A process that has compiled everything forks, and kills its children at random moments of their training.
KILLING = """
import json, os, random, signal, sys, time
from pathlib import Path
import rankforce as rf

folder, wanted, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(seed)
data, other = (rf.make_artificial(queries=12, documents=10, features=4, seed=s) for s in (1, 2))

def learn(ranker, **checkpoint):
    return ranker.fit(data, validation=other, **checkpoint).model_

def model_bytes(model, name):
    model.save(folder / name)
    return (folder / name).read_bytes()

kills = trainings = torn = 0
while kills < wanted:
    trainings += 1
    settings = dict(n_trees=rng.randint(5, 60), n_leaves=rng.randint(2, 12), min_documents=2, threads=1,
                    query_fraction=rng.choice([0.7, 1.0]), seed=rng.randrange(9), progress=False)
    make = rng.choice([lambda: rf.LambdaMART(**settings), lambda: rf.MART("ordinal", **settings)])
    path = folder / f"checkpoint {trainings}"
    every = rng.randint(1, 4)
    begun = time.perf_counter()
    whole = model_bytes(learn(make()), "whole.json")
    duration = time.perf_counter() - begun
    trees = 0
    while True:
        child = os.fork()
        if child == 0:
            try:
                model_bytes(learn(make(), checkpoint=path, checkpoint_every=every), "resumed.json")
                os._exit(0)
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
                os._exit(1)
        time.sleep(rng.uniform(0.0, 0.7) * duration)
        if rng.random() < 0.8:
            os.kill(child, signal.SIGKILL)
        pid, status = 0, 0
        ends = time.monotonic() + 60.0 + 100.0 * duration
        while pid == 0:  # a fork of a process with threads may stick: it is killed, too
            pid, status = os.waitpid(child, os.WNOHANG)
            if time.monotonic() > ends:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.001)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, settings
            break
        kills += 1
        if path.exists():
            torn += not path.read_bytes().endswith(b'"}\\n')
            grown = rf.load(path).n_trees
            assert grown >= trees, (grown, trees, settings)
            trees = grown
    assert (folder / "resumed.json").read_bytes() == whole, settings
print(json.dumps({"kills": kills, "trainings": trainings, "torn": torn}))
"""

FACTOR = float(os.environ.get("RANKFORCE_SOAK", "1"))


def check_bounded_tree(seed):
    """One random tree with few histograms, against the same tree with one for every leaf."""
    rng = np.random.default_rng(seed)
    documents, features = int(rng.integers(2, 600)), int(rng.integers(1, 40))
    values = rng.integers(2, 300, size=features)
    X = rng.integers(0, values, size=(documents, features)).astype(np.float32)
    X[rng.random(X.shape) < rng.choice([0.0, 0.1])] = np.nan
    queries = int(rng.integers(1, documents + 1))
    data = Dataset(X, qid=np.sort(rng.integers(0, queries, size=documents)))
    binned = Binned.of(data, max_bins=int(rng.integers(2, 256)), memory=str(rng.choice(["fast", "low"])))
    settings = {
        "n_leaves": int(rng.integers(2, 80)),
        "growth": str(rng.choice(["leafwise", "symmetric"])),
        "min_documents": int(rng.choice([1, 2, 5, 20])),
        "max_depth": None if rng.random() < 0.7 else int(rng.integers(1, 8)),
        "l2": float(rng.choice([0.0, 1.0])),
        "split": str(rng.choice(["newton", "least_squares"])),
        "monotone": None if rng.random() < 0.5 else rng.integers(-1, 2, size=features),
    }
    forces = rng.normal(size=documents) + np.nan_to_num(X[:, 0]) / values[0]
    curvatures = rng.random(documents) * (rng.random(documents) < 0.9)
    sample = {
        "rows": None if rng.random() < 0.7 else np.flatnonzero(rng.random(documents) < 0.7).astype(np.int32),
        "features": None if rng.random() < 0.7 else rng.random(features) < 0.6,
    }
    histogram = 8 * 264 * binned.rows.shape[1]
    bound = int(histogram * rng.choice([0.0, 4.0, 6.0, 12.0, 30.0]))
    grown = []
    for bytes_allowed in (2**40, bound):
        with using_threads(int(rng.integers(1, 3))):
            grower = Grower(binned, histogram_bytes=bytes_allowed, **settings)
            grown.append([grower.grow(forces, curvatures, tree_number=k, **sample) for k in range(2)])
    for whole, bounded in zip(*grown, strict=True):
        for name, expected in vars(whole.structure).items():
            np.testing.assert_array_equal(getattr(bounded.structure, name), expected, f"{name}, case {seed}")
        for name in ("leaf_of", "lower", "upper", "column", "split_bin"):
            np.testing.assert_array_equal(getattr(bounded, name), getattr(whole, name), f"{name}, case {seed}")
    return grower, grown[1][0].structure.n_leaves


@pytest.mark.compiled_only
def test_trees_do_not_depend_on_the_memory_for_histograms():
    made_again = 0
    for seed in range(60):
        grower, n_leaves = check_bounded_tree(seed)
        made_again += n_leaves > len(grower._pool.sums) + 1
    assert made_again > 15  # the bound was felt


@pytest.mark.soak
def test_many_trees_do_not_depend_on_the_memory_for_histograms():
    first = random.SystemRandom().randrange(2**32)
    cases = round(3000 * FACTOR)
    for seed in range(first, first + cases):
        check_bounded_tree(seed)
    print(f"{cases} trees, from seed {first}")


def kill_trainings(folder, kills, seed):
    """Kill trainings until so many kills; each goes on, and ends with the bytes of the one that was not killed."""
    command = [sys.executable, "-c", KILLING, str(folder), str(kills), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.soak
@pytest.mark.compiled_only
@pytest.mark.skipif(sys.platform == "win32", reason="fork, SIGKILL")
def test_killed_trainings_end_with_the_same_bytes(tmp_path):
    assert kill_trainings(tmp_path, 10, 0)["kills"] >= 10


@pytest.mark.soak
@pytest.mark.skipif(sys.platform == "win32", reason="fork, SIGKILL")
def test_many_killed_trainings_end_with_the_same_bytes(tmp_path):
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}:", kill_trainings(tmp_path, round(1000 * FACTOR), seed))
