"""Whose compiled code is run: the user's own, and that of whoever wrote the sources."""

from __future__ import annotations

import os
import stat

import pytest

from rankforce.compiling import cache_folders

ROOT_IS_WE = hasattr(os, "geteuid") and os.geteuid() == 0

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users are those of POSIX")


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "site" / "rankforce"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    return folder


def find(package, *parents, wanted=False):
    cache_folders.find_folders.cache_clear()
    return cache_folders.find_folders(package, parents, wanted)


def private(parent):
    return parent / f"rankforce-{os.geteuid()}"


def block(package):
    """Let nothing be written beside the sources."""
    (package / "__pycache__").write_text("")


def test_beside_the_sources_comes_first(package, tmp_path):
    found = find(package, tmp_path / "cache")
    assert found.writing == package / "__pycache__" / "kernels"
    assert found.reading == (found.writing,)
    assert not (tmp_path / "cache").exists()


def test_the_folder_that_was_asked_for_comes_before(package, tmp_path):
    found = find(package, tmp_path / "cache", wanted=True)
    assert found.writing.parent == private(tmp_path / "cache")
    assert found.reading == (found.writing,)
    assert not (package / "__pycache__").exists()


def test_private_folders_are_private(package, tmp_path):
    found = find(package, tmp_path / "cache", wanted=True)
    assert stat.S_IMODE(private(tmp_path / "cache").stat().st_mode) == 0o700
    assert stat.S_IMODE(found.writing.stat().st_mode) == 0o700


def test_installations_do_not_share_a_folder(package, tmp_path):
    other = tmp_path / "elsewhere" / "rankforce"
    found = [find(each, tmp_path / "cache", wanted=True).writing for each in (package, other)]
    assert found[0] != found[1]


def test_the_next_place_where_the_first_cannot_be_written(package, tmp_path):
    block(package)
    (tmp_path / "file").write_text("")
    found = find(package, tmp_path / "file" / "cache", tmp_path / "temporary")
    assert found.writing.parent == private(tmp_path / "temporary")
    assert len(found.tried) == 2
    assert found.refused == ()


def test_nowhere(package, tmp_path):
    block(package)
    (tmp_path / "file").write_text("")
    found = find(package, tmp_path / "file", tmp_path / "file")
    assert found.writing is None
    assert found.reading == ()


@pytest.mark.skipif(not ROOT_IS_WE, reason="only root gives files away")
def test_a_folder_of_another_user_is_refused(package, tmp_path):
    private(tmp_path).mkdir(mode=0o700)
    os.chown(private(tmp_path), 12345, 12345)
    found = find(package, tmp_path, wanted=True)
    assert found.writing == package / "__pycache__" / "kernels"
    assert "belongs to another user" in found.refused[0]


@pytest.mark.skipif(not ROOT_IS_WE, reason="only root gives files away")
def test_beside_the_sources_their_owner_is_trusted_and_nobody_else(package, tmp_path):
    folder = package / "__pycache__" / "kernels"
    folder.mkdir(parents=True)
    os.chown(folder, 12345, 12345)
    assert folder not in find(package, tmp_path).reading
    os.chown(package / "__init__.py", 12345, 12345)
    assert find(package, tmp_path).reading == (folder,)


def test_a_folder_that_others_can_write_to_is_refused(package, tmp_path):
    for mode in (0o777, 0o770, 0o1777):
        private(tmp_path).mkdir(exist_ok=True)
        private(tmp_path).chmod(mode)
        found = find(package, tmp_path, wanted=True)
        assert "others can write" in found.refused[0]
        assert private(tmp_path) not in found.reading[0].parents


def test_a_parent_in_which_anyone_can_rename_is_refused(package, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert "anyone can write" in find(package, shared, wanted=True).refused[0]
    shared.chmod(0o1777)  # as temporary folders: only owners rename
    assert find(package, shared, wanted=True).refused == ()


def test_a_link_is_not_followed(package, tmp_path):
    (tmp_path / "theirs").mkdir()
    private(tmp_path).symlink_to(tmp_path / "theirs")
    assert "not a folder" in find(package, tmp_path, wanted=True).refused[0]


def test_what_lies_beside_the_sources_is_read_though_it_cannot_be_written(package, tmp_path, monkeypatch):
    """As when an administrator has warmed up: root may write anywhere, so access is what is replaced here."""
    folder = package / "__pycache__" / "kernels"
    folder.mkdir(parents=True)
    monkeypatch.setattr(cache_folders.os, "access", lambda path, mode: path != folder)
    found = find(package, tmp_path / "cache")
    assert found.reading == (folder, found.writing)
    assert found.writing.parent == private(tmp_path / "cache")


@pytest.fixture
def homeless(package, tmp_path, monkeypatch):
    """A user without a home, an installation that cannot be written, and a temporary folder as systems have it."""
    block(package)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    monkeypatch.setattr(cache_folders, "PACKAGE", package)
    monkeypatch.setattr(cache_folders.tempfile, "tempdir", str(temporary))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "site" / "rankforce" / "__init__.py" / "none"))
    cache_folders.find_folders.cache_clear()
    yield temporary
    cache_folders.find_folders.cache_clear()


def test_without_a_home_the_temporary_folder_has_a_private_one(homeless):
    found = cache_folders.kernel_folders()
    assert found.writing.parent == private(homeless)
    for folder in (private(homeless), found.writing):
        status = folder.lstat()
        assert stat.S_IMODE(status.st_mode) == 0o700
        assert status.st_uid == os.geteuid()
    assert found.refused == ()


@pytest.mark.parametrize("trap", ["a link", "a file", "a folder of all", "a folder of another", "a link to ours"])
def test_a_trap_in_the_temporary_folder_is_not_stepped_into(homeless, tmp_path, trap):
    """Anyone may make the folder first: nothing is read from it or written into it, and the user is told why."""
    bait = tmp_path / "bait"
    bait.mkdir(mode=0o700)
    if trap == "a link":
        private(homeless).symlink_to(bait)
    elif trap == "a link to ours":
        private(homeless).symlink_to(tmp_path / "nowhere")
    elif trap == "a file":
        private(homeless).write_text("")
    else:
        private(homeless).mkdir()
        private(homeless).chmod(0o777 if trap == "a folder of all" else 0o700)
        if trap == "a folder of another":
            if not ROOT_IS_WE:
                pytest.skip("only root gives files away")
            os.chown(private(homeless), 12345, 12345)
    found = cache_folders.kernel_folders()
    assert (found.reading, found.writing) == ((), None)
    assert found.refused or private(homeless) in found.tried
    assert list(bait.iterdir()) == []
    assert not (tmp_path / "nowhere").exists()
