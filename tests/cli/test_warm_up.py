"""Warm-up reaches every kernel, or says why not."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys

import pytest

import rankforce as rf
import rankforce.kernels
from rankforce.cli.warm_up import NOT_WARMED, warm_up
from rankforce.compiling.jit import KERNELS, PLAIN


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_every_kernel_is_warmed_or_listed():
    for module in pkgutil.walk_packages(rankforce.kernels.__path__, "rankforce.kernels."):
        importlib.import_module(module.name)
    warmed = {kernel.name for kernel in warm_up([rf.NDCG(10)], ["lambdamart", "lambdarank", "ranknet"])}
    everything = {kernel.name for kernel in KERNELS if kernel.py_func.__module__.startswith("rankforce.")}
    assert everything - warmed <= set(NOT_WARMED)
    assert set(NOT_WARMED) <= everything


SIGNATURES = """
from rankforce.compiling.jit import KERNELS

def signatures():
    return {kernel.name: kernel.own.signatures for kernel in KERNELS if kernel.compiled}
"""
THE_SAME = """
assert signatures() == warmed, {name for name, found in signatures().items() if found != warmed.get(name)}
"""

FIRST_TRAINING = (
    SIGNATURES
    + """
import rankforce as rf
from rankforce.cli.warm_up import warm_up

warm_up([rf.NDCG(10)], ["RANKER"])
warmed = signatures()
data = rf.make_artificial(queries=120, documents=25, features=6, seed=3)
ranker = rf.RANKER(SETTINGS, progress=False).fit(data, validation=data)
rf.evaluate(ranker, data, "NDCG@7")
assert warmed, "nothing was compiled"
"""
    + THE_SAME
)


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("ranker", "settings"),
    [
        ("LambdaMART", "measure='NDCG@7', n_trees=2, n_leaves=7, min_documents=5"),
        ("LambdaRank", "measure='NDCG@7', epochs=2"),
        ("RankNet", "validation_measure='NDCG@7', epochs=2"),
    ],
)
def test_after_it_a_first_training_compiles_nothing(ranker, settings):
    """In a process of its own: in this one another test may have compiled what is missing."""
    code = FIRST_TRAINING.replace("RANKER", ranker).replace("SETTINGS", settings)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


DEMO = (
    SIGNATURES
    + """
import numpy as np
import rankforce as rf
from rankforce.cli.commands import demo, warmup

warmup.warmup()
warmed = signatures()
rf.make_artificial = lambda made=rf.make_artificial, **size: made(**size | {"queries": 40, "documents": 10})
demo.demo()
"""
    + THE_SAME
)


@pytest.mark.soak
@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_after_it_the_demo_compiles_nothing():
    done = subprocess.run([sys.executable, "-c", DEMO], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


DEFAULT_TRAINER = (
    SIGNATURES
    + """
import sys
from pathlib import Path
import numpy as np
import rankforce as rf
from rankforce.cli.warm_up import warm_up

warm_up([rf.NDCG(10)])
warmed = signatures()
assert "grow_tree" in warmed
small = rf.make_artificial(queries=60, documents=20, features=5, seed=3)
large = rf.make_artificial(queries=1050, documents=20, features=5, seed=4)
file = Path(sys.argv[1]) / "data.txt"
large.write(file)
other_layouts = [small.replace(features=layout(small.features)) for layout in (np.asfortranarray, np.array)]
trained_on = (small, large, rf.read(file), *other_layouts)
rankers = [rf.LambdaMART(n_trees=2, progress=False).fit(data, validation=small) for data in trained_on]
rf.evaluate(rankers[0], small)
rf.compare(rankers[0], rankers[1], small)
rf.inspect(large)
rankers[1].save(file.with_suffix(".json"))
rf.load(file.with_suffix(".json")).predict(large)
"""
    + THE_SAME
)


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_after_it_nothing_is_compiled_for_small_or_large_data(tmp_path):
    done = subprocess.run([sys.executable, "-c", DEFAULT_TRAINER, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


COMMAND = """
import sys
from rankforce.compiling import jit
from rankforce.cli.main import main
counted, sys.argv[1:] = sys.argv[1], sys.argv[2:]
try:
    main()
finally:
    with open(counted, "w") as file:
        print(*[kernel.name for kernel in jit.KERNELS if kernel.compilations], file=file)
"""


@pytest.mark.soak
@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_after_the_command_no_process_compiles(tmp_path):
    """With a cache of its own: what each command compiles is counted in its process."""
    rf.make_artificial(queries=60, documents=20, features=5, seed=3).write(tmp_path / "small.txt")
    rf.make_artificial(queries=1050, documents=20, features=5, seed=4).write(tmp_path / "large.txt")

    def compiled_by(*command):
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, "counted", *command],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert ("compiling kernels" in done.stderr) == bool((tmp_path / "counted").read_text().split())
        return (tmp_path / "counted").read_text().split()

    rf.make_artificial(queries=40, documents=10, features=5, seed=5).write(tmp_path / "small.csv")
    assert "grow_tree" in compiled_by("warmup")
    for command in (
        "train small.txt -o small.json --validation large.txt --trees 3",
        "train large.txt -o large.json --validation small.txt --trees 3",
        "evaluate small.txt small.json",
        "compare small.txt small.json large.json",
        "score large.json large.txt -o scores.txt",
        "inspect small.txt large.txt",
        "inspect large.json",
        "train small.csv -o csv.json -m MAP --trees 3",
        "evaluate small.txt small.json -m MRR -m ERR@10 -m RBP -m P@5 -m BPref --ties expected",
        "explain small.json small.txt",
        "demo",
    ):
        assert compiled_by(*command.split()) == [], command


def test_rankers_that_cannot_be_warmed_are_refused():
    with pytest.raises(rf.SettingsError, match="LambdaMART, LambdaRank, RankNet can"):
        warm_up([rf.NDCG()], ["prank"])


def test_a_measure_on_another_label_source_can_be_warmed():
    assert isinstance(warm_up([rf.CNDCG("clicks", 5)]), list)


CLUSTER = (
    SIGNATURES
    + """
import rankforce as rf
from distributed import Client, LocalCluster
from rankforce.cli.warm_up import warm_up_workers

warm_up_workers([rf.NDCG(10)])
warmed = signatures()
assert "take_round" in warmed
data = rf.make_artificial(queries=150, documents=25, features=6, seed=3)
with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
    with Client(cluster) as client:
        train = rf.shared(data, client)
        for growth in ("leafwise", "symmetric"):
            ranker = rf.LambdaMART(n_trees=2, n_leaves=7, growth=growth, progress=False).fit(train, validation=train)
        rf.evaluate(ranker, train, "NDCG@7")
"""
    + THE_SAME
)


@pytest.mark.soak
@pytest.mark.cluster
@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_after_it_workers_compile_nothing():
    pytest.importorskip("distributed", reason="pip install '.[cluster]'")
    done = subprocess.run([sys.executable, "-c", CLUSTER], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
