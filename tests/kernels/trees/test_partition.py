"""Documents dealt out, whatever the number of chunks."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.compiling.jit import kernel
from rankforce.kernels.trees.partition import collect, deal, fill_sides


@kernel
def split_in_chunks(
    cells, row_stride, column, stride, size, split_bin, bins, missing_left, documents, chunks, sides, dealt, scratch
):
    fill_sides(stride, size, split_bin, missing_left, bins, sides)
    n = len(documents)
    n_left = 0
    n_missing = 0
    for chunk in range(chunks):
        begin = n * chunk // chunks
        end = n * (chunk + 1) // chunks
        left, missing = deal(cells, row_stride, column, sides, documents, begin, end, n - end, scratch)
        dealt[chunk] = left
        n_left += left
        n_missing += missing
    before = 0
    for chunk in range(chunks):
        begin = n * chunk // chunks
        end = n * (chunk + 1) // chunks
        collect(scratch, n - end, end - begin, dealt[chunk], before, n_left + begin - before, documents)
        before += dealt[chunk]
    return n_left, n_missing


@pytest.mark.parametrize("chunks", [1, 2, 5])
@pytest.mark.parametrize("missing_left", [True, False])
@pytest.mark.parametrize("split_bin", [0, 3, 9])
@pytest.mark.parametrize("by_column", [True, False])
def test_stable(chunks, missing_left, split_bin, by_column):
    rng = np.random.default_rng(0)
    bins = 10
    rows = rng.integers(0, bins + 1, (80, 4)).astype(np.uint8)  # bin 10 is the missing values'
    documents = np.sort(rng.choice(80, 53, replace=False)).astype(np.int32)
    goes_left = [b <= split_bin or (missing_left and b == bins) for b in rows[documents, 2].tolist()]
    wanted = [*documents[goes_left], *documents[~np.array(goes_left)]]
    if by_column:
        cells, row_stride, column, stride, size = rows.T.ravel().copy(), 1, 2 * 80, 1, 256
    else:  # the column shares a byte with another one
        shared = rows[:, 2:3] * np.uint8(3) + (rows[:, :1] % 3)
        cells, row_stride, column, stride, size = shared.ravel(), 1, 0, 3, bins + 1
    scratch, dealt = np.zeros(53, dtype=np.int32), np.zeros(chunks, dtype=np.int64)
    sides = np.zeros(256, dtype=np.uint8)
    n_missing = int((rows[documents, 2] == bins).sum())
    result = split_in_chunks(
        cells, row_stride, column, stride, size, split_bin, bins, missing_left, documents, chunks, sides, dealt, scratch
    )
    assert tuple(result) == (sum(goes_left), n_missing)
    assert documents.tolist() == wanted
