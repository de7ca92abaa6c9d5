"""Warm-up reaches every kernel, or says why not."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

import rankforce as rf
import rankforce.kernels
from rankforce.jit import KERNELS, PLAIN
from rankforce.rankers.warmup import NOT_WARMED, warm_up


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_every_kernel_is_warmed_or_listed():
    for module in pkgutil.iter_modules(rankforce.kernels.__path__):
        importlib.import_module(f"rankforce.kernels.{module.name}")
    warmed = {kernel.name for kernel in warm_up([rf.NDCG(10)], ["lambdamart", "lambdarank", "ranknet"])}
    everything = {kernel.name for kernel in KERNELS if kernel.py_func.__module__.startswith("rankforce.")}
    assert everything - warmed <= set(NOT_WARMED)
    assert set(NOT_WARMED) <= everything


FIRST_TRAINING = """
import rankforce as rf
from rankforce.jit import KERNELS
from rankforce.rankers.warmup import warm_up

def signatures():
    return {kernel.name: kernel.own.signatures for kernel in KERNELS if kernel.compiled}

warm_up([rf.NDCG(10)], ["RANKER"])
warmed = signatures()
data = rf.make_artificial(queries=120, documents=25, features=6, seed=3)
ranker = rf.RANKER(SETTINGS, progress=False).fit(data, validation=data)
rf.evaluate(ranker, data, "NDCG@7")
assert warmed, "nothing was compiled"
assert signatures() == warmed, {name for name, found in signatures().items() if found != warmed.get(name)}
"""


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


def test_rankers_that_cannot_be_warmed_are_refused():
    with pytest.raises(rf.SettingsError, match="LambdaMART, LambdaRank, RankNet can"):
        warm_up([rf.NDCG()], ["prank"])


def test_a_measure_on_another_label_source_can_be_warmed():
    assert isinstance(warm_up([rf.CNDCG("clicks", 5)]), list)
