"""How many processors this process may use: those it may run on, and no more than its share of time pays for.

A container with "2 CPUs" of a large machine sees all of its processors, and is stopped for the rest of every period
once it has used two processors' time. That quota stands in the files of a Linux control group (cgroup), of version 1 or
2; the quota of a group holds for all groups within it.
"""

from __future__ import annotations

import functools
import math
import os
import re
from pathlib import Path

PROCESS_GROUPS = Path("/proc/self/cgroup")  # the groups of this process: number:controllers:path
MOUNTS = Path("/proc/self/mountinfo")  # where the files of groups are


def usable_processors() -> int:
    """The processors this process may run on, at most as many as its quota of time; at least 1.

    A quota of 1.5 processors is two: both work for three quarters of every period.
    """
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _quota_of_process()
    return allowed if quota is None else max(1, min(allowed, math.ceil(quota)))


@functools.cache  # read once: a tree takes a millisecond, and the files a tenth of one
def _quota_of_process() -> float | None:
    return processor_quota(PROCESS_GROUPS, MOUNTS)


def processor_quota(groups: Path, mounts: Path) -> float | None:
    """Processors' time per time that the groups of a process may use; None without a limit."""
    quotas = [
        quota
        for folder, version in _folders(groups, mounts)
        if (quota := _quota_v1(folder) if version == 1 else _quota_v2(folder)) is not None
    ]
    return min(quotas, default=None)


def _folders(groups: Path, mounts: Path) -> list[tuple[Path, int]]:
    """The folders of the groups that may limit this process, each with its version; the process's own come first."""
    paths = _paths_by_version(_lines(groups))
    folders: list[tuple[Path, int]] = []
    for line in _lines(mounts):
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) < 5 or len(kind) < 3:
            continue
        version = 1 if kind[0] == "cgroup" and "cpu" in kind[2].split(",") else 2 if kind[0] == "cgroup2" else 0
        path = paths.get(version)
        if path is None:
            continue
        mount = Path(_unescaped(fields[4]))
        root = _unescaped(fields[3])  # the group that is seen at the mount: in a container often its own
        within = os.path.relpath(path, root)
        # A path outside of what is mounted: the container sees its own group at the mount, whatever it is called.
        own = mount if within.startswith("..") else mount / within
        folders += [(folder, version) for folder in (own, *own.parents) if folder.is_relative_to(mount)]
    return folders


def _paths_by_version(lines: list[str]) -> dict[int, str]:
    """The path of the process's group: that of version 1 which controls processor time, and that of version 2."""
    paths = {}
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if "cpu" in controllers.split(","):
            paths[1] = path
        elif number == "0" and not controllers:
            paths[2] = path
    return paths


def _quota_v1(folder: Path) -> float | None:
    quota, period = (_lines(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    return _ratio(quota[0], period[0]) if quota and period else None


def _quota_v2(folder: Path) -> float | None:
    limit = _lines(folder / "cpu.max")
    quota, _, period = limit[0].partition(" ") if limit else ("max", "", "")
    return _ratio(quota, period or "100000")


def _ratio(quota: str, period: str) -> float | None:
    """None if the quota is none: "max" in version 2, negative in version 1."""
    try:
        allowed, every = int(quota), int(period)
    except ValueError:
        return None
    return allowed / every if allowed > 0 and every > 0 else None


def _unescaped(path: str) -> str:
    """A path of ``mountinfo``, where blanks and the like are written as \\040."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), path)


def _lines(file: Path) -> list[str]:
    """The lines of a file; none where it cannot be read, as on other systems and in groups without a quota."""
    try:
        return file.read_text(errors="replace").splitlines()
    except OSError:
        return []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_quota_of_process.cache_clear)  # a child may have been put into another group
