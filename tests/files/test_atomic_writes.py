"""Files that are replaced whole or not at all."""

from __future__ import annotations

import os
import stat
import threading

import pytest

from rankforce.errors import DataError, ModelFileError
from rankforce.files.atomic_writes import atomic_write, check_replaceable


def test_the_file_then_the_rename_then_the_folder_reach_the_disk(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")
    steps = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(descriptor):
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        steps.append("folder" if folder else "file")
        real_fsync(descriptor)

    def replace(source, target):
        steps.append("rename")
        assert path.read_text() == "old"
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    with atomic_write(path) as file:
        file.write(b"new")
    assert steps == ["file", "rename", "folder"]
    assert path.read_text() == "new"


def test_a_failure_in_the_block_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def write_half():
        with atomic_write(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_links_and_permissions_stay(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with atomic_write(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_the_error_is_of_the_kind_asked_for(tmp_path):
    with (
        pytest.raises(ModelFileError, match="cannot be written"),
        atomic_write(tmp_path / "no" / "file", ModelFileError),
    ):
        pass
    with pytest.raises(DataError, match="directory"), atomic_write(tmp_path):
        pass


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    check_replaceable(pipe)
    with atomic_write(pipe) as file:
        file.write(b"through")
    reader.join()
    assert read == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_device_stays_a_device():
    with atomic_write(os.devnull) as file:
        file.write(b"away")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_what_cannot_be_written_is_known_before(tmp_path):
    check_replaceable(tmp_path / "new")
    with pytest.raises(ModelFileError, match="it is a directory"):
        check_replaceable(tmp_path, ModelFileError)
    with pytest.raises(DataError, match=r"there is no folder .*nowhere"):
        check_replaceable(tmp_path / "nowhere" / "new")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_may_not_be_written_to_is_known_before(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="does not allow it"):
        check_replaceable(tmp_path / "new")
