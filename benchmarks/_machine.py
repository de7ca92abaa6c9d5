"""What a benchmark ran on, and turns that let all peers see the same machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def described() -> str:
    """Processor, its caches and cores, in one line."""
    model, caches = "", []
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind = (index / "level").read_text().strip(), (index / "type").read_text().strip()
        if kind != "Instruction":
            caches.append(f"L{level} {(index / 'size').read_text().strip()}")
    from rankforce.compiling.jit import cpu_target

    target = cpu_target().partition("-")[0]
    return f"{model or 'unknown processor'} ({target}), {', '.join(caches)}, {os.cpu_count()} cores"


def in_turns(steps: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each step in every round; a first round, which compiles and touches memory, does not count."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(rounds + 1):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            if turn > 0:
                times[name].append(time.perf_counter() - start)
    return times
