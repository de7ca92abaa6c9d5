"""How much memory can be had, and a refusal of what needs more: before the work, with the arithmetic."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankforce.errors import RankforceError, SettingsError

SMALL = 2**20  # bytes that are not worth asking for
_CGROUPS = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)
_CGROUP_FOLDER = Path("/sys/fs/cgroup")


def check_memory(
    need: int, what: str, arithmetic: str, remedy: str, error: type[RankforceError] = SettingsError
) -> None:
    """Raise unless ``need`` bytes can be had; where the system does not say what can be had, do nothing.

    The message: ``what`` needs so much (its ``arithmetic``), so much can be had, and the ``remedy``.
    """
    if need < SMALL:
        return
    most = available_memory()
    if most is not None and need > most:
        raise error(
            f"{what} needs {written_size(need)} of memory ({arithmetic}), and {written_size(most)} can be had: {remedy}"
        )


def available_memory() -> int | None:
    """Bytes that this process can have without swapping, within the limits that are set for it; None if unknown."""
    return min(_limits(), default=None)


def bytes_of(given: Any, name: str) -> int:
    """A number of bytes, given as a whole number or as text: "2 GB", "500 MB"."""
    if isinstance(given, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kMGT]?)i?B\s*", given)
        if found:
            return int(float(found[1]) * 1000 ** " kMGT".index(found[2] or " "))
    elif isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    raise SettingsError(f"{name} must be a number of bytes, or text as '2 GB', not {given!r:.80}")


def written_size(count: float) -> str:
    """A number of bytes as people write it: 812 bytes, 1.5 kB, 340 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:,.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def _limits() -> Iterator[int]:
    try:
        yield _field(Path("/proc/meminfo"), "MemAvailable:") * 1024
    except (OSError, ValueError, KeyError):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")  # not what is free, but no more than that
    for limit, usage, reclaimable in _CGROUPS:  # of a container; files that are only cached make room
        try:
            most, used = (int((_CGROUP_FOLDER / name).read_text()) for name in (limit, usage))
            cached = _field((_CGROUP_FOLDER / usage).with_name("memory.stat"), reclaimable)
            yield max(0, most - used + cached)
        except (OSError, ValueError, KeyError):
            continue


def _field(path: Path, name: str) -> int:
    """A number out of a file of lines that begin with names."""
    for line in path.read_text().splitlines():
        words = line.split()
        if words and words[0] == name:
            return int(words[1])
    raise KeyError(name)
