"""A kernel compiled by a second process: it happens, it is the same kernel, and nothing depends on it."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from rankforce.compiling import background as meanwhile
from rankforce.compiling import cache as kernel_cache
from rankforce.kernels.trees.leafwise import grow_tree
from rankforce.threads import using_threads
from rankforce.trees import first_tree

pytestmark = pytest.mark.compiled_only

FIT = """
import hashlib, json, sys
import rankforce as rf
from rankforce.kernels.trees.symmetric import grow_symmetric_tree as kernel
from rankforce.kernels.forces.pair_forces import add_forces_by_columns as other
data = rf.make_artificial(queries=30, documents=20, features=4, seed=0)
ranker = rf.LambdaMART("NDCG@10", n_trees=3, progress=False, threads=int(sys.argv[1])).fit(data)
ranker.save(sys.argv[2])
counts = [[sum(k.own.stats.cache_hits.values()), sum(k.own.stats.cache_misses.values())] for k in (kernel, other)]
print(json.dumps({"grown": counts[0], "forces": counts[1]}))
"""
ONE_FORM = """
import json
import rankforce as rf
from rankforce.kernels.trees.leafwise import grow_tree
from rankforce.kernels.trees.symmetric import grow_symmetric_tree
from rankforce.trees.first_tree import grow_first_tree
numbers = rf.make_artificial(queries=30, documents=20, features=4, seed=0)
features = numbers.features.copy()
features[:, 1] = range(600)
features[:, 1] %= 7
categories = numbers.replace(features=features, categories={"2": range(7)})
for form, data in (("numbers", numbers), ("categories", categories)):
    for growth in ("leafwise", "symmetric"):
        grow_first_tree(growth, form)
        settings = {"n_trees": 2, "growth": growth, "progress": False}
        rf.LambdaMART(**settings).fit(data)
        rf.LambdaMART(**settings, query_fraction=0.5, memory="low", min_documents=1).fit(data)
        rf.MART(**settings, monotone=[1, 0, 0, -1], feature_fraction=0.5).fit(data)
print(json.dumps([len(kernel.own.signatures) for kernel in (grow_tree, grow_symmetric_tree)]))
"""

FOLLOWING = """
import json
import rankforce as rf
from rankforce.kernels.trees.leaves import add_leaf_values, largest, mark_leaves, sums_by_leaf
from rankforce.trees.first_tree import call_what_follows
call_what_follows()
kernels = (add_leaf_values, largest, mark_leaves, sums_by_leaf)
before = [kernel.own.signatures for kernel in kernels]
data = rf.make_artificial(queries=30, documents=20, features=4, seed=0)
rf.LambdaMART(n_trees=2, progress=False).fit(data, validation=data)
print(json.dumps([len(before[0]), before == [kernel.own.signatures for kernel in kernels]]))
"""


def run(code, *arguments, **environment):
    finished = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | {"NUMBA_NUM_THREADS": "2"} | environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


@pytest.mark.soak
def test_a_second_process_compiles_what_grows_trees(tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    cold = run(FIT, 2, tmp_path / "cold.json", **cache)
    assert cold == {"grown": [1, 0], "forces": [0, 1]}  # hits, misses
    assert run(FIT, 1, tmp_path / "alone.json", **cache) == {"grown": [1, 0], "forces": [1, 0]}
    assert (tmp_path / "cold.json").read_bytes() == (tmp_path / "alone.json").read_bytes()


def test_every_training_uses_the_form_that_was_compiled():
    assert run(ONE_FORM) == [2, 2]  # one for numbers, one for data with categories


def test_what_follows_a_tree_is_compiled_as_trainings_use_it():
    assert run(FOLLOWING) == [1, True]


class Waiting:
    """A kernel that is nowhere yet."""

    compiled = False
    is_kept = True
    is_on_disk = False
    finish = None

    def awaits(self, finish):
        self.finish = finish


@pytest.fixture
def started(monkeypatch):
    """The processes that were started."""
    processes = []
    popen = subprocess.Popen

    def start(*arguments, **options):
        processes.append(popen(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(meanwhile.subprocess, "Popen", start)
    return processes


def test_a_process_that_fails_is_not_waited_for(started):
    kernel = Waiting()
    meanwhile.compile_meanwhile(kernel, Waiting(), time.sleep, "not a number")
    kernel.finish()
    assert [process.returncode for process in started] == [1]


def test_something_is_done_before_waiting(started):
    kernel = Waiting()
    running = []
    meanwhile.compile_meanwhile(
        kernel, Waiting(), time.sleep, "not a number", before_waiting=lambda: running.append(started[0].returncode)
    )
    assert running == []  # not before somebody wants the kernel
    kernel.finish()
    assert running == [None]  # and before the process was asked whether it has ended
    assert started[0].returncode == 1


def test_a_process_that_hangs_is_given_up(started, monkeypatch):
    monkeypatch.setattr(meanwhile, "LONGEST_WAIT", 0.2)
    kernel = Waiting()
    meanwhile.compile_meanwhile(kernel, Waiting(), signal.pause)
    kernel.finish()
    assert [process.returncode for process in started] == [-signal.SIGKILL]


@pytest.mark.parametrize(
    ("kernel", "beside"),
    [
        ({"compiled": True}, {}),
        ({"is_kept": False}, {}),
        ({"is_on_disk": True}, {}),
        ({}, {"is_on_disk": True}),
    ],
)
def test_nothing_is_started_in_vain(started, kernel, beside):
    made = Waiting()
    vars(made).update(kernel)
    meanwhile.compile_meanwhile(made, SimpleNamespace(**{"is_on_disk": False} | beside), time.sleep)
    assert started == []
    assert made.finish is None


@pytest.mark.parametrize("executable", [None, "", "/usr/sbin/uwsgi", "/opt/program/program"])
def test_a_program_with_an_interpreter_inside_is_not_started_again(started, monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    meanwhile.compile_meanwhile(Waiting(), Waiting(), time.sleep)
    assert started == []


def test_where_no_process_can_be_started_the_kernel_is_compiled_here(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    kernel = Waiting()
    meanwhile.compile_meanwhile(kernel, Waiting(), time.sleep)
    assert kernel.finish is None


@pytest.mark.parametrize("done", [True, False])
def test_the_disk_is_looked_at_again_when_the_other_process_is_done(monkeypatch, done):
    cache = kernel_cache.KernelCache(grow_tree.py_func)
    written, reads = {}, []

    def read(name, target):
        reads.append(name)
        return written.get(name)

    monkeypatch.setattr(cache, "_read", read)
    monkeypatch.setattr(kernel_cache, "announce_compilation", lambda kernel: None)
    monkeypatch.setattr(kernel_cache, "TURN", SimpleNamespace(take=lambda file: None, give_up=lambda: None))
    target = grow_tree.own.targetctx

    def finish():
        if done:
            written[cache._name("arguments", target.codegen())] = "code"

    cache.finish = finish
    assert cache.load_overload("arguments", target) == ("code" if done else None)
    assert cache.load_overload("other arguments", target) is None  # nobody is waited for twice
    # at first, after waiting for the process, and when it is this one's turn
    assert [reads.count(name) for name in dict.fromkeys(reads)] == [2 if done else 3, 2]


def test_a_forked_child_leaves_its_parents_process_alone(started):
    kernel = Waiting()
    meanwhile.compile_meanwhile(kernel, Waiting(), signal.pause)
    child = os.fork()
    if child == 0:
        atexit._run_exitfuncs()
        os._exit(0)
    os.waitpid(child, 0)
    time.sleep(0.2)
    assert started[0].poll() is None
    started[0].kill()
    started[0].wait()


@pytest.mark.parametrize(("threads", "asked"), [(1, 0), (2, 1)])
def test_one_processor_compiles_one_kernel_after_the_other(monkeypatch, threads, asked):
    calls = []
    monkeypatch.setattr(first_tree, "compile_meanwhile", lambda *arguments, **_: calls.append(arguments))
    with using_threads(threads):
        first_tree.expect_first_tree("leafwise")
    assert len(calls) == asked
