"""Which reader a file goes to, and files that cannot be read."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import rankforce as rf
from rankforce.errors import DataError, FileFormatError, SettingsError

LINE = "1 qid:1 1:0.5\n"


@pytest.mark.parametrize(
    "name", ["a.txt", "a.letor", "a.svm", "a.dat", "a.svmlight", "rank.train", "plain", "a.txt.gz"]
)
def test_text_by_any_name(tmp_path: Path, name: str) -> None:
    data = rf.Dataset([[0.5]], [1], [1])
    data.write(tmp_path / name)
    assert rf.read(tmp_path / name).features.tolist() == [[0.5]]
    assert rf.read(str(tmp_path / name)).n_documents == 1


def test_no_such_file_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no such file"):
        rf.read(tmp_path / "absent.txt")
    with pytest.raises(DataError, match="the folder has no file with one of the endings"):
        rf.read(tmp_path)
    with pytest.raises(FileFormatError, match="cannot be opened"):
        rf.read("a\0b")
    with pytest.raises(DataError, match="path"):
        rf.read(3)
    readers = (rf.read_qrels, rf.read_run, rf.read_folds, rf.read_objective)
    for reader in (*readers, lambda path: rf.read_preferences(path, rf.Dataset([[0.5]], [1], [1]))):
        for wrong in (None, 3, "a\0b"):
            with pytest.raises(DataError, match="path"):
                reader(wrong)
    for ending in (".csv", ".csv.gz", ".parquet", ".txt"):
        with pytest.raises(FileFormatError, match="cannot be opened"):
            rf.read("a\0b" + ending)
        with pytest.raises(FileFormatError, match="cannot be opened"):
            rf.Dataset([[0.5]], [1], [1]).write("a\0b" + ending)
    with pytest.raises(DataError, match="directory"):
        rf.Dataset([[0.5]], [1], [1]).write(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_an_unreadable_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(LINE)
    path.chmod(0)
    with pytest.raises(FileFormatError, match="cannot be opened"):
        rf.read(path)


def test_unknown_options_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(LINE)
    with pytest.raises(SettingsError, match=r"no option 'absnt'.*absent"):
        rf.read(path, absnt="zero")
    with pytest.raises(SettingsError, match="no option 'sparse'"):
        rf.read(path).write(path, sparse=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text(LINE * 50_000))
    writer.start()
    assert rf.read(path).n_documents == 50_000
    writer.join()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target.txt"
    target.write_text(LINE)
    target.chmod(0o640)
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    rf.Dataset([[0.25]], [1], [1]).write(link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert rf.read(target).features.tolist() == [[0.25]]
