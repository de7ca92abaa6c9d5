"""Features of few values share a byte: fewer bytes to read, and fewer additions to histograms."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce import dtypes

BYTE_VALUES = 256


@dataclasses.dataclass(frozen=True, eq=False)
class Packing:
    """Which byte of a row holds the bin of each column, and where in it.

    A byte is Σ bin·stride over the columns that share it: a number whose digits have different bases, ``size`` =
    bins + 1 for each column (one digit is for missing values). A histogram over a byte gives those of its columns by
    adding up, exactly, for it holds integers.

    byte, stride, size : int32 (columns,)
    n_bytes : int
    """

    byte: np.ndarray
    stride: np.ndarray
    size: np.ndarray
    n_bytes: int

    @classmethod
    def of(cls, n_bins: np.ndarray) -> Packing:
        """The columns of fewest bins share bytes, as many in each as it holds; the others have one each.

        Shared bytes stand at both ends of a row, so that threads which take half a row each have as much to do.
        """
        size = (n_bins + 1).astype(dtypes.INDEX)
        byte = np.zeros(len(size), dtype=dtypes.INDEX)
        stride = np.ones(len(size), dtype=dtypes.INDEX)
        n_bytes = 0
        used = BYTE_VALUES  # values of the last byte that are taken
        for column in np.argsort(size, kind="stable"):
            if used * size[column] > BYTE_VALUES:
                n_bytes += 1
                used = 1
            byte[column] = n_bytes - 1
            stride[column] = used
            used *= int(size[column])
        number = np.empty(n_bytes, dtype=dtypes.INDEX)
        number[np.r_[0:n_bytes:2, np.arange(1, n_bytes, 2)[::-1]]] = np.arange(n_bytes)
        return cls(number[byte], stride, size, n_bytes)

    def bins(self, rows: np.ndarray, column: int) -> np.ndarray:
        """The bins of one column, from rows of bytes."""
        return rows[:, self.byte[column]] // self.stride[column] % self.size[column]
