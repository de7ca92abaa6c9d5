"""What kernels are compiled for, and about how long that takes: what a user who waits is told.

Seconds are those of one processor (AMD EPYC, Zen 4; Numba 0.68), kernel by kernel. While a process compiles, it learns
how fast this machine is, and what it says later is scaled.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from rankforce.processors import usable_processors


class Purpose(NamedTuple):
    """What a group of kernels is for, and the seconds that each takes; ``meanwhile`` by a second process, if it can."""

    words: str
    seconds: Mapping[str, float]
    meanwhile: Mapping[str, float] = {}

    @property
    def kernels(self) -> dict[str, float]:
        return {**self.seconds, **self.meanwhile}


# Kernels as files of the cache name them: module.function.
PURPOSES = (
    Purpose("reading text", {"letor.count_lines": 0.2, "letor.parse_lines": 2.4}),
    Purpose("sorting much data", {"ordering.reorder_documents": 2.3, "ordering.order_documents": 1.3}),
    Purpose("measuring rankings", {"values.query_normalisers": 0.6, "values.query_values": 0.4}),
    Purpose("scoring", {"scoring.count_tests": 0.5, "scoring.write_tests": 0.4, "scoring.score_by_blocks": 1.1}),
    Purpose(
        "growing trees",
        {
            "pair_forces.add_forces_by_columns": 2.7,
            "pair_forces.scale_by_log": 0.1,
            "radix_sort.sort_bits": 0.5,
            "binning.cut_points": 0.9,
            "binning.map_to_bins": 0.5,
            "anchor.add_springs": 0.3,
            "quantised.largest_magnitude": 0.1,
            "quantised.sum_of_magnitudes": 0.3,
            "quantised.pack_entries": 0.2,
            "leaves.mark_leaves": 0.1,
            "leaves.largest": 0.1,
            "leaves.sums_by_leaf": 0.1,
            "leaves.add_leaf_values": 0.1,
        },
        meanwhile={"symmetric.grow_symmetric_tree": 9.8, "leafwise.grow_tree": 9.5},
    ),
)


class CompilerSpeed:
    """How long this machine takes for what the table says takes a second."""

    def __init__(self) -> None:
        self._taken = 0.0
        self._expected = 0.0

    def learn(self, kernel: str, seconds: float) -> None:
        """A kernel was compiled."""
        purpose = purpose_of(kernel)
        if purpose is not None:
            self._taken += seconds
            self._expected += purpose.kernels[kernel]

    @property
    def factor(self) -> float:
        """1 until something is known."""
        return self._taken / self._expected if self._expected > 0.5 else 1.0  # short ones say little


SPEED = CompilerSpeed()


def purpose_of(kernel: str) -> Purpose | None:
    """What a kernel is compiled for; None for one that few ever need."""
    return next((one for one in PURPOSES if kernel in one.kernels), None)


def seconds_for(purpose: Purpose, on_disk: Iterable[Path], version: str) -> float:
    """About how long it takes to compile what is not in these folders, of the sources of this version."""
    folders = tuple(on_disk)

    def missing(kernel: str) -> bool:
        pattern = f"{glob.escape(kernel)}-*.{version}.*.nbc"
        return not any(any(folder.glob(pattern)) for folder in folders)

    here = sum(seconds for kernel, seconds in purpose.seconds.items() if missing(kernel))
    if not purpose.meanwhile or not all(map(missing, purpose.meanwhile)):  # data of one kind needs one of them
        return here * SPEED.factor
    there = max(purpose.meanwhile.values())
    return (max(here, there) if usable_processors() > 1 else here + there) * SPEED.factor
