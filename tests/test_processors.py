"""How many processors a process may use, read from files of both versions of control groups."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rankforce import processors
from rankforce.processors import processor_quota, usable_processors

TWO = "30 23 0:26 {root} {mount} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
ONE = "32 31 0:29 {root} {mount} rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
OTHERS = (
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n34 31 0:31 / /nowhere rw - cgroup cgroup rw,cpuset\n"
)


class Groups:
    """Faked files of control groups under ``mount``."""

    def __init__(self, folder):
        self.mount = folder / "mount"
        self.of_process, self.mounts = folder / "cgroup", folder / "mountinfo"

    def limit(self, path, **files):
        folder = self.mount / path
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("cpu_", "cpu.")).write_text(text + "\n")

    def quota(self, of_process, mounts, root="/"):
        self.of_process.write_text(of_process)
        escaped = str(self.mount).replace(" ", "\\040")
        self.mounts.write_text(OTHERS + mounts.format(root=root, mount=escaped))
        return processor_quota(self.of_process, self.mounts)


@pytest.fixture
def groups(tmp_path):
    folder = tmp_path / "with a blank"  # mountinfo escapes it
    folder.mkdir()
    return Groups(folder)


@pytest.mark.parametrize(("limit", "quota"), [("25000 100000", 0.25), ("200000 100000", 2.0), ("max 100000", None)])
def test_a_quota_of_version_2(groups, limit, quota):
    groups.limit("", cpu_max=limit)
    assert groups.quota("0::/\n", TWO) == quota


@pytest.mark.parametrize(("limit", "quota"), [("25000", 0.25), ("640000", 6.4), ("-1", None)])
def test_a_quota_of_version_1(groups, limit, quota):
    groups.limit("", cpu_cfs_quota_us=limit, cpu_cfs_period_us="100000")
    assert groups.quota("3:cpuset:/\n1:cpu,cpuacct:/\n0::/\n", ONE) == quota


def test_the_tightest_group_above_counts(groups):
    """As systemd and Slurm nest them: the process's own group has no limit, one above it has."""
    groups.limit("slice/unit/job", cpu_max="max 100000")
    groups.limit("slice/unit", cpu_max="150000 50000")
    groups.limit("slice", cpu_max="400000 50000")
    assert groups.quota("0::/slice/unit/job\n", TWO) == 3.0
    groups.limit("slice/unit/job", cpu_max="50000 50000")
    assert groups.quota("0::/slice/unit/job\n", TWO) == 1.0


@pytest.mark.parametrize("root", ["/docker/f00", "/docker/other"])
def test_a_container_that_sees_its_own_group_at_the_mount(groups, root):
    """The path is that on the host, and the mount shows the container's part of it, or another's namespace."""
    groups.limit("", cpu_cfs_quota_us="150000", cpu_cfs_period_us="100000")
    assert groups.quota("1:cpu,cpuacct:/docker/f00\n", ONE, root=root) == 1.5


def test_both_versions_at_once(groups):
    """On hybrid hosts processor time is controlled by version 1, and version 2 is mounted beside it."""
    groups.limit("one", cpu_cfs_quota_us="200000", cpu_cfs_period_us="100000")
    mounts = ONE.format(root="/", mount="{mount}/one") + TWO.format(root="/", mount="{mount}/two")
    assert groups.quota("1:cpu:/\n0::/\n", mounts) == 2.0


@pytest.mark.parametrize("text", ["", "not a number", "100000 0", "\n", "5"])
def test_files_that_say_nothing_limit_nothing(groups, text):
    groups.limit("", cpu_max=text)
    assert groups.quota("0::/\n", TWO) == (5 / 100000 if text == "5" else None)
    assert groups.quota("nothing of the kind\n", "short - line\n") is None


def test_without_control_groups_there_is_no_quota(tmp_path):
    assert processor_quota(tmp_path / "none", tmp_path / "neither") is None


@pytest.mark.parametrize(
    ("quota", "allowed", "usable"),
    [(0.25, 8, 1), (1.0, 8, 1), (1.5, 8, 2), (2.0, 64, 2), (8.0, 4, 4), (None, 8, 8)],
)
def test_affinity_and_quota_together(monkeypatch, quota, allowed, usable):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(allowed)), raising=False)
    monkeypatch.setattr(processors, "_quota_of_process", lambda: quota)
    assert usable_processors() == usable


def test_the_environment_comes_first(monkeypatch):
    from rankforce.threads import default_threads

    monkeypatch.setattr(processors, "_quota_of_process", lambda: 0.25)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    assert default_threads() == 1
    monkeypatch.setenv("NUMBA_NUM_THREADS", "7")
    assert default_threads() == 7


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="affinity is set with taskset")
def test_affinity_of_a_process():
    """A process on one processor uses one."""
    program = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
        "from rankforce.processors import usable_processors; print(usable_processors())"
    )
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "1"
