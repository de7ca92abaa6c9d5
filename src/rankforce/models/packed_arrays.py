"""Several arrays in one: to look at each argument of a kernel takes as long as to score ten trees."""

from __future__ import annotations

import numpy as np

from rankforce.models.model import frozen

_WORD = 8  # bytes


def packed(*arrays: np.ndarray) -> np.ndarray:
    """int64, read-only: for each array where it begins and how many entries it has, where the last one ends, arrays.

    Each begins with a word. ``kernels/packed_arrays.py`` reads them.
    """
    header = 2 * len(arrays) + 1
    begins = header + np.cumsum([0, *(-(-array.nbytes // _WORD) for array in arrays)])
    room = np.zeros(begins[-1], dtype=np.int64)
    room[0:header:2] = begins
    for number, array in enumerate(arrays):
        room[2 * number + 1] = array.size
        room[begins[number] :].view(np.uint8)[: array.nbytes] = np.ascontiguousarray(array).ravel().view(np.uint8)
    return frozen(room, np.int64)
