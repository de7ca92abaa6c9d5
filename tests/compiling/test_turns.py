"""Processes that start at once with an empty cache compile each kernel once; and nobody waits for the dead."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from rankforce.compiling import turns
from rankforce.compiling.turns import Turn

pytestmark = pytest.mark.skipif(turns.fcntl is None, reason="files cannot be locked so")

VALUE = """
import json, sys
import numpy as np
import rankforce as rf
from rankforce.kernels.ranking.values import query_values

sys.stdin.readline()
worth, out = rf.WTA().worth(np.array([3.0, 0.0])), np.empty(1)
order = np.arange(2, dtype=np.int32)
query_values(rf.WTA().kernel_tuple(), worth, order, np.ones(1), np.array([0, 2]), 0, 1, out)
print(json.dumps([out[0], query_values.compilations]))
"""

HOLDING = """
import sys
from pathlib import Path
from rankforce.compiling.turns import Turn
Turn().take(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.mark.compiled_only
def test_of_three_processes_one_compiles(tmp_path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", VALUE],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [json.loads(process.communicate(timeout=240)[0]) for process in processes]
    assert [value for value, _ in found] == [1.0] * 3
    assert sorted(compilations for _, compilations in found) == [0, 0, 1]
    assert not list(tmp_path.rglob("*.lock"))


FAILING = """
import os
from pathlib import Path
from rankforce.compiling.turns import TURN
from rankforce.kernels.ranking.values import query_values

held = []
give_up = TURN.give_up
TURN.give_up = lambda: (held.append(TURN._held is not None), give_up())
try:
    query_values("no", "such", "arguments", 0, 0, 0, 0, 0)
except Exception as error:
    print(type(error).__name__, any(held), TURN._held, len(list(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.lock"))))
"""


@pytest.mark.compiled_only
def test_a_kernel_that_cannot_be_compiled_gives_its_turn_up(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    run = [sys.executable, "-c", FAILING]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout == "TypingError True None 0\n"


@pytest.fixture
def held(tmp_path):
    """A file whose turn another process has, and the process."""
    file = tmp_path / "kernel.nbc"
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield file, process
    process.kill()
    process.communicate()


def test_a_process_that_is_killed_gives_its_turn_up(held):
    file, process = held
    process.send_signal(signal.SIGKILL)
    process.wait()
    turn = Turn()
    turn.take(file)
    assert turn._held is not None
    turn.give_up()
    assert list(file.parent.iterdir()) == []


def test_who_waits_too_long_goes_on_without(held, monkeypatch):
    file, _ = held
    monkeypatch.setattr(turns, "LONGEST_WAIT", 0.1)
    turn, begun = Turn(), time.monotonic()
    turn.take(file)
    assert time.monotonic() - begun >= 0.1
    assert turn._held is None
    turn.give_up()
    assert file.with_name("kernel.nbc.lock").exists()  # it is the other's


def test_a_turn_ends_with_the_next(tmp_path):
    turn = Turn()
    turn.take(tmp_path / "a")
    turn.take(tmp_path / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["b.lock"]
    turn.give_up()
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_made_nobody_waits(tmp_path):
    (tmp_path / "no-folder").write_text("")
    turn = Turn()
    turn.take(tmp_path / "no-folder" / "kernel.nbc")
    assert turn._held is None


def test_where_files_cannot_be_locked_nobody_waits(tmp_path, monkeypatch):
    def flock(descriptor, operation):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(turns.fcntl, "flock", flock)
    turn = Turn()
    turn.take(tmp_path / "kernel.nbc")
    assert turn._held is None
