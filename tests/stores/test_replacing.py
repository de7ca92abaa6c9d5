"""Stores that take the place of others: after a kill, a failure or a second process there is one that is whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import DataError
from rankforce.stores import replacing, writing
from rankforce.stores.binned_dataset import BinnedDataset
from rankforce.stores.replacing import FormerStoreWarning

OLD, NEW = (rf.make_artificial(queries=4, documents=5, features=3, seed=seed) for seed in (1, 2))


def fingerprint(path):
    store = rf.read(path)
    store.check()
    return store.fingerprint


def only(folder):
    (found,) = folder.iterdir()
    assert not (found / replacing.LOCK).exists()
    return found.name


KILLED = """
import os, signal, sys
import rankforce as rf
from rankforce.stores import replacing, writing

def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

renames, rename = [], os.rename
def counted(*names):
    renames.append(names)
    if len(renames) == int(sys.argv[3]):
        die()
    rename(*names)

if sys.argv[2] == "second pass":
    writing._RowsOfStore.take = die
else:
    replacing.os.rename = counted
rf.bin(rf.make_artificial(queries=4, documents=5, features=3, seed=2), sys.argv[1])
"""


@pytest.mark.parametrize(("when", "rename"), [("second pass", 0), ("replacing", 1), ("replacing", 2)])
@pytest.mark.skipif(os.name != "posix", reason="kills by a signal")
def test_a_kill_leaves_the_former_store(when, rename, tmp_path):
    path = tmp_path / "train[1].bins"
    rf.bin(OLD, path)
    killed = subprocess.run([sys.executable, "-c", KILLED, path, when, str(rename)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert path.exists() == (rename < 2)

    def breaking():
        yield NEW
        raise RuntimeError("gone")

    with pytest.raises(RuntimeError, match="gone"):  # it is put back at the start, not at the end
        rf.bin(breaking, path)
    assert only(tmp_path) == path.name
    assert fingerprint(path) == OLD.fingerprint
    rf.bin(NEW, path)
    assert only(tmp_path) == path.name
    assert fingerprint(path) == NEW.fingerprint


def interrupted(tmp_path):
    """What a kill between the two renames leaves: nothing has the name."""
    path = tmp_path / "train[1].bins"
    rf.bin(NEW, path)
    os.rename(path, tmp_path / f".{path.name}.0a1b{replacing.PARTIAL}")
    rf.bin(OLD, tmp_path / "other.bins")
    os.rename(tmp_path / "other.bins", tmp_path / f".{path.name}.0a1b{replacing.FORMER}{replacing.PARTIAL}")
    (tmp_path / f".{path.name}.0a1b{replacing.PARTIAL}" / replacing.LOCK).touch()  # of a process that is gone
    return path


@pytest.mark.parametrize("opened", [rf.read, lambda path: BinnedDataset.open(path)], ids=["read", "open"])
def test_who_reads_after_a_kill_finds_the_former_store(opened, tmp_path):
    path = interrupted(tmp_path)
    with pytest.warns(FormerStoreWarning, match=r"was killed: this is the former one"):
        store = opened(path)
    assert store.fingerprint == OLD.fingerprint
    assert fingerprint(path) == OLD.fingerprint  # without a warning
    rf.bin(NEW, path)
    assert only(tmp_path) == path.name
    assert fingerprint(path) == NEW.fingerprint


@pytest.mark.skipif(os.name != "posix", reason="kills by a signal")
def test_what_a_kill_leaves_is_what_is_put_back(tmp_path):
    path = tmp_path / "a.bins"
    rf.bin(OLD, path)
    subprocess.run([sys.executable, "-c", KILLED, path, "replacing", "2"], check=False)
    assert not path.exists()
    with pytest.warns(FormerStoreWarning):
        assert rf.read(path).fingerprint == OLD.fingerprint


def test_where_nothing_can_be_renamed_the_whole_store_is_named(tmp_path, monkeypatch):
    path = interrupted(tmp_path)

    def refuse(*names):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("rankforce.stores.replacing.os.rename", refuse)
    with pytest.raises(DataError, match=r"killed\. The former one is whole.*Read-only file system") as caught:
        rf.read(path)
    former = tmp_path / f".{path.name}.0a1b{replacing.FORMER}{replacing.PARTIAL}"
    assert str(former) in str(caught.value)
    monkeypatch.undo()
    os.rename(former, path)  # as it says
    assert fingerprint(path) == OLD.fingerprint


@pytest.mark.skipif(replacing.fcntl is None, reason="the system has no locks")
def test_who_reads_between_the_renames_of_another_waits_for_the_new_store(tmp_path, monkeypatch):
    path = tmp_path / "a.bins"
    rf.bin(OLD, path)
    rename, between, go_on = os.rename, threading.Event(), threading.Event()

    def slowly(source, target):
        if target == path:
            between.set()
            go_on.wait(60)
        rename(source, target)

    monkeypatch.setattr("rankforce.stores.replacing.os.rename", slowly)
    replacing_it = threading.Thread(target=rf.bin, args=(NEW, path))
    replacing_it.start()
    assert between.wait(60)
    threading.Timer(0.3, go_on.set).start()
    assert rf.read(path).fingerprint == NEW.fingerprint
    replacing_it.join()


def test_a_store_that_never_was_is_not_looked_for_elsewhere(tmp_path):
    left = tmp_path / f".a.bins.0a1b{replacing.FORMER}{replacing.PARTIAL}"
    left.mkdir()  # without a header: no store
    with pytest.raises(DataError, match="there is no such store"):
        rf.read(tmp_path / "a.bins")
    with pytest.raises(DataError, match="there is no such store"):
        rf.read(tmp_path / "nowhere" / "a.bins")


@pytest.mark.parametrize("failing", [1, 2])
def test_a_failure_while_replacing_puts_the_former_store_back(failing, tmp_path, monkeypatch):
    path = tmp_path / "a.bins"
    rf.bin(OLD, path)
    rename, calls = os.rename, []

    def renamed(*names):
        calls.append(names)
        if len(calls) == failing:
            raise PermissionError(13, "Permission denied")
        rename(*names)

    monkeypatch.setattr("rankforce.stores.replacing.os.rename", renamed)
    with pytest.raises(DataError, match=r"a\.bins: cannot be written: Permission denied"):
        rf.bin(NEW, path)
    assert only(tmp_path) == "a.bins"
    assert fingerprint(path) == OLD.fingerprint


@pytest.mark.skipif(replacing.fcntl is None, reason="the system has no locks")
def test_two_at_once(tmp_path):
    path, begun, go_on = tmp_path / "a.bins", threading.Event(), threading.Event()

    def slow():
        begun.set()
        go_on.wait(60)
        yield OLD

    first = threading.Thread(target=rf.bin, args=(slow, path))
    first.start()
    try:
        assert begun.wait(60)
        with pytest.raises(DataError, match=r"a\.bins: another process makes this store just now"):
            rf.bin(NEW, path)
        rf.bin(NEW, tmp_path / "a.bins.b.bins")  # another name, although it begins alike
    finally:
        go_on.set()
        first.join()
    assert fingerprint(path) == OLD.fingerprint
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.bins", "a.bins.b.bins"]


def test_a_name_is_no_pattern(tmp_path):
    stranger = tmp_path / ".train1.bins.0123.partial"
    stranger.mkdir()
    rf.bin(OLD, tmp_path / "train[1].bins")
    assert stranger.exists()


def test_errors_of_the_data_are_not_those_of_the_store(tmp_path):
    def blocks():
        yield OLD
        raise FileNotFoundError(2, "No such file or directory", "part-17.npz")

    with pytest.raises(FileNotFoundError, match=r"part-17\.npz"):
        rf.bin(blocks, tmp_path / "a.bins")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system cannot take room beforehand")
def test_a_full_disk_is_an_error_before_the_rows_are_written(tmp_path, monkeypatch):
    taken = []

    def full(descriptor, first, size):
        taken.append((os.fstat(descriptor).st_size, first, size))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rankforce.stores.writing.os.posix_fallocate", full)
    with pytest.raises(DataError, match=r"a\.bins: cannot be written: No space left on device"):
        rf.bin(OLD, tmp_path / "a.bins")
    ((whole, first, size),) = taken
    assert (first, size) == (0, whole)
    assert whole >= OLD.n_documents
    assert not list(tmp_path.iterdir())


def test_a_file_system_that_takes_no_room(tmp_path, monkeypatch):
    def unable(*arguments):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(writing.os, "posix_fallocate", unable, raising=False)
    store = rf.bin(OLD, tmp_path / "a.bins")
    np.testing.assert_array_equal(store.query_sizes, OLD.query_sizes)
