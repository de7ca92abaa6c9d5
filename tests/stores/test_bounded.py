"""Making a store takes bounded memory, and a process that is killed leaves nothing that looks like one."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import FileFormatError
from rankforce.stores.survey import Survey

pytestmark = pytest.mark.compiled_only

BLOCKS = """
import resource, sys
import numpy as np
import rankforce as rf

def blocks(count, rows=20_000, features=50):
    for number in range(count):
        random = np.random.default_rng(number)
        X = random.standard_normal((rows, features), dtype=np.float32)
        yield rf.Dataset(X, np.clip(np.round(X[:, 0] + X[:, 1]), 0, 4), qid=np.arange(rows) // 20 + number * rows // 20)

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
"""


def child(code, *arguments):
    return [sys.executable, "-c", BLOCKS + code, *map(str, arguments)]


def test_memory_does_not_grow_with_the_data(tmp_path):
    code = """
rf.bin(lambda: blocks(2), sys.argv[1] + "/small.bins", memory="64 MB")
before = peak()
rf.bin(lambda: blocks(45), sys.argv[1] + "/large.bins", memory="64 MB")
print(peak() - before)
"""
    done = subprocess.run(child(code, tmp_path), capture_output=True, text=True, check=True, timeout=300)
    store = rf.read(tmp_path / "large.bins")
    assert store.n_documents == 900_000
    data = 4 * store.n_documents * store.n_features  # 180 MB; mapped pages of what was written count, too
    assert int(done.stdout) < 64e6 + 100e6 < data


def test_nor_do_columns_of_scattered_queries(tmp_path, monkeypatch):
    rows, features = 300_000, np.zeros((300_000, 1), dtype=np.float32)
    grades, queries = np.arange(rows) % 5.0, np.arange(rows) * 7 % 1_001  # in both blocks, and nowhere adjacent
    peaks = []
    usual = Survey.by_query

    def by_query(self, name):
        tracemalloc.start()
        try:
            return usual(self, name)
        finally:
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()

    monkeypatch.setattr(Survey, "by_query", by_query)
    store = rf.bin(lambda: (rf.Dataset(features, grades + shift, qid=queries) for shift in (0, 1)), tmp_path / "a.bins")
    assert peaks[0] < 8 * 2 * rows  # less than the column itself: no order of all rows is made
    expected = np.concatenate([grades, grades + 1])[np.argsort(np.tile(queries, 2), kind="stable")]
    order = np.argsort(store.query_ids, kind="stable")
    found = [store.by_query(store.labels["grades"])[a:b] for a, b in itertools.pairwise(store.query_starts)]
    np.testing.assert_array_equal(np.concatenate([found[place] for place in order]), expected)


def test_killed_while_it_writes(tmp_path):
    code = """
import time
def slow():
    for block in blocks(100_000, rows=500):
        yield block
        print(".", end="", flush=True)
rf.bin(slow, sys.argv[1] + "/a.bins")
"""
    working = subprocess.Popen(child(code, tmp_path), stdout=subprocess.PIPE)
    try:
        assert working.stdout.read(50)
        left = list(tmp_path.iterdir())
        assert [path.name.startswith(".a.bins.") for path in left] == [True]
        os.kill(working.pid, signal.SIGKILL)
    finally:
        working.kill()
        working.wait(120)
        working.stdout.close()
    time.sleep(0.01)
    assert not (tmp_path / "a.bins").exists()
    with pytest.raises(FileFormatError, match="no such store"):
        rf.read(tmp_path / "a.bins")
    rf.bin(rf.make_artificial(queries=3, seed=1), tmp_path / "a.bins")
    assert [path.name for path in tmp_path.iterdir()] == ["a.bins"]
