"""A tree while it grows."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce.kernels.trees.leaf_table import HERE, START


@dataclasses.dataclass(frozen=True, eq=False)
class Work:
    """A tree while it grows.

    documents : int32
        Those it grows on, the ones of each leaf together.
    usable : uint8 (columns,)
        1 for what may be split on.
    state, bounds : int64 and float64 (leaves, ...)
        A row per leaf: where its documents are and more, for the kernel; what monotone constraints leave to it.
    splits, gain : int32 and float64 (nodes, ...)
        A row per split that was made.
    sets : uint64 (nodes, 4)
        The bins that each split on a categorical column sends to the left, as bits.
    """

    documents: np.ndarray
    usable: np.ndarray
    state: np.ndarray
    bounds: np.ndarray
    splits: np.ndarray
    gain: np.ndarray
    sets: np.ndarray

    @property
    def leaf_ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each leaf where its documents start, and how many they are: none of a leaf that there is not."""
        starts, sizes = (np.ascontiguousarray(self.state[:, which]) for which in (START, HERE))
        return starts, sizes
