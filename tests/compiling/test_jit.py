"""What happens around compiling."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

from rankforce.compiling import jit


@pytest.mark.compiled_only
def test_garbage_is_collected_before_and_after_compiling_but_not_meanwhile():
    numba = jit.compiler()
    from numba.core import event

    collecting = []

    class Note(event.Listener):
        def on_start(self, started):
            collecting.append(gc.isenabled())

        def on_end(self, ended):
            collecting.append(gc.isenabled())

    @jit.kernel
    def one(x):
        return max(x, 1)

    @jit.kernel
    def broken(x):
        return x.nothing_of_the_kind

    note = Note()
    event.register("numba:run_pass", note)
    try:
        assert one.foreign(2) == 2
        assert gc.isenabled()
        with pytest.raises(numba.TypingError):
            broken.foreign(1)
        assert gc.isenabled()
        gc.disable()
        one.foreign(1.5)
        assert not gc.isenabled()  # as whoever turned it off wants it
    finally:
        gc.enable()
        event.unregister("numba:run_pass", note)
    assert collecting
    assert not any(collecting)


FORKED = """
import os, sys, threading
import numpy as np
import rankforce as rf
from rankforce.compiling import jit

data = rf.Dataset(np.zeros((3, 1)), [0, 1, 2], group=[3])
begun = threading.Event()
numba = jit.compiler()
from numba.core import event

class Note(event.Listener):
    def on_start(self, started):
        begun.set()

    def on_end(self, ended):
        pass

event.register("numba:compile", Note())
thread = threading.Thread(target=rf.evaluate, args=(np.arange(3.0), data, rf.NDCG()))
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    rf.evaluate(np.arange(3.0), data, rf.NDCG())
    rf.evaluate(np.arange(3.0), data, rf.MRR())
    os._exit(7)
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.compiled_only
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_while_a_thread_compiles_can_compile(tmp_path):
    finished = subprocess.run(
        [sys.executable, "-c", FORKED],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert finished.returncode == 7, finished.stderr


@pytest.mark.compiled_only
def test_the_processor_is_the_one_that_is_compiled_for(monkeypatch):
    here = jit.cpu_target()
    config = jit.compiler().config
    monkeypatch.setattr(config, "CPU_FEATURES", "+sse2")
    monkeypatch.setattr(config, "CPU_NAME", "generic")
    assert jit.cpu_target().startswith("generic-")
    assert jit.cpu_target().rpartition("-")[2] != here.rpartition("-")[2]
