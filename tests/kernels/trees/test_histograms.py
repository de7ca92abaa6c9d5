"""Packed histograms against Python integers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from rankforce.binning.packing import Packing
from rankforce.compiling.jit import kernel
from rankforce.kernels.trees.growth_state import first_of_piece
from rankforce.kernels.trees.histograms import (
    BATCH,
    LINE_ENTRIES,
    MANY_WORDS,
    REGION,
    WORD,
    WORDS_AT_ONCE,
    add_documents,
    add_in_batches,
    add_up_column,
    subtract_histogram,
)
from rankforce.trees.layout import PER_COLUMN, PER_VALUE, HistogramLayout, by_share


@kernel
def build(words, documents, entries, keep, put, starts, byte, values, stride, size, histogram):
    add_documents(words, documents, entries, keep, put, 0, words.shape[1], histogram)
    for j in range(len(starts)):
        add_up_column(histogram, starts[j], byte[j], values[j], stride[j], size[j])


@kernel
def add_words(words, documents, entries, keep, put, first_word, last_word, histogram):
    add_in_batches(words, documents, entries, keep, put, first_word, last_word, histogram)


@kernel
def subtract(histogram, part, begin, end):
    subtract_histogram(histogram, part, begin, end)


class Case:
    def __init__(self, n, columns, seed=0, most=255):
        rng = np.random.default_rng(seed)
        self.n_bins = rng.integers(1, most + 1, columns)
        self.bins = np.column_stack([rng.integers(0, most + 1, n) for most in self.n_bins])
        self.packing = Packing.of(self.n_bins)
        self.rows = np.zeros((n, -(-self.packing.n_bytes // 4) * 4), dtype=np.uint8)
        for j in range(columns):
            self.rows[:, self.packing.byte[j]] += (self.bins[:, j] * self.packing.stride[j]).astype(np.uint8)
        self.entries = rng.integers(-(2**31) // n, 2**31 // n, n) * 2**32 + rng.integers(0, 2**32 // n, n)
        self.layout = HistogramLayout.of(self.packing, self.rows.shape[1])

    def histogram(self, documents, keep=-1, put=0):
        packing, layout = self.packing, self.layout
        result = np.zeros(layout.total, dtype=np.int64)
        build(
            self.rows.view(np.uint32), documents, self.entries, keep, put,
            layout.starts, packing.byte, layout.values, packing.stride, packing.size, result,
        )  # fmt: skip
        return result


@pytest.mark.parametrize("n", [1, 2, 35, 60])
@pytest.mark.parametrize(("columns", "most"), [(1, 255), (8, 255), (11, 255), (13, 5), (9, 1), (10, 16)])
def test_sums_equal_python_integers(n, columns, most):
    case = Case(n, columns, most=most)
    documents = np.arange(0, n, 2 if n > 2 else 1, dtype=np.int32)
    histogram, counts = case.histogram(documents), case.histogram(documents, 0, 1)
    for j in range(columns):
        np.testing.assert_array_equal(case.packing.bins(case.rows, j), case.bins[:, j])
        for b in range(case.n_bins[j] + 1):
            inside = [int(case.entries[d]) for d in documents if case.bins[d, j] == b]
            found = int(histogram[case.layout.starts[j] + b])
            assert found == sum(inside)
            assert found >> 32 == sum(entry >> 32 for entry in inside)
            assert found & (2**32 - 1) == sum(entry & (2**32 - 1) for entry in inside)
            assert counts[case.layout.starts[j] + b] == len(inside)


@pytest.mark.parametrize("n_words", [MANY_WORDS - 1, MANY_WORDS, 2 * WORDS_AT_ONCE + 1])
@pytest.mark.parametrize("size", [0, 1, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH - 5])
@pytest.mark.compiled_only
def test_batches_add_what_one_document_after_the_other_adds(n_words, size):
    rng = np.random.default_rng(size)
    rows = rng.integers(0, 256, (1000, n_words * WORD), dtype=np.uint8)
    entries = rng.integers(-(2**40), 2**40, 1000)
    documents = np.sort(rng.choice(1000, size, replace=False)).astype(np.int32)
    for first, last in [(0, n_words), (1, n_words), (2, 5)]:
        for keep, put in [(-1, 0), (0, 1)]:
            histogram = np.zeros(n_words * WORD * REGION, dtype=np.int64)
            add_words(rows.view(np.uint32), documents, entries, keep, put, first, last, histogram)
            expected = np.zeros((n_words * WORD, REGION), dtype=np.int64)
            for byte in range(first * WORD, last * WORD):
                np.add.at(expected[byte], rows[documents, byte], entries[documents] & keep | put)
            np.testing.assert_array_equal(histogram, expected.reshape(-1))


def test_the_sibling_is_exact():
    case = Case(40, 10, seed=1)
    documents = np.arange(40, dtype=np.int32)
    everything, part, rest = map(case.histogram, (documents, documents[:13], documents[13:]))
    subtract(everything, part, 0, len(everything))
    np.testing.assert_array_equal(everything, rest)


def test_columns_of_few_bins_share_bytes():
    packing = Packing.of(np.array([255, 3, 7, 7, 1, 100, 15, 15]))
    assert packing.n_bytes == 5  # 1, 3 and 7; 7 and 15; 15; 100; 255
    assert packing.byte[[4, 1, 2]].tolist() == [0, 0, 0]
    assert packing.byte[[3, 6]].tolist() == [4, 4]  # at the other end
    for byte in range(packing.n_bytes):
        assert packing.size[packing.byte == byte].prod() <= 256
    assert Packing.of(np.array([], dtype=np.int32)).n_bytes == 0


def test_threads_share_columns_evenly():
    n_bins = np.tile([255, 7, 7, 130], 30)
    packing = Packing.of(n_bins)
    layout = HistogramLayout.of(packing, -(-packing.n_bytes // 4) * 4)
    for threads in (1, 2, 3, 8):
        thread = (layout.share * threads).astype(int)
        work = np.bincount(thread, PER_COLUMN + packing.size + PER_VALUE * layout.values * layout.leads)
        assert len(work) == threads
        assert work.max() - work.min() <= 2 * (PER_COLUMN + 512)  # a byte more or less at each end


class Columns(NamedTuple):
    share: np.ndarray
    order: np.ndarray


@kernel
def edges_of_pieces(pieces, columns, edges):
    for piece in range(pieces + 1):
        edges[piece] = first_of_piece(piece, pieces, columns)


@pytest.mark.parametrize("pieces", [1, 2, 7, 16, 1000])
@pytest.mark.parametrize("members", [1, 3])
def test_every_column_is_in_one_piece_and_bytes_are_whole(pieces, members):
    """Also of members, who have some of the columns: no piece has others'."""
    packing = Packing.of(np.random.default_rng(pieces).permutation(np.repeat([255, 7, 3, 130, 1], 9)))
    layout = HistogramLayout.of(packing, -(-packing.n_bytes // 4) * 4)
    mine = packing.byte % members == 0
    share = np.where(mine, layout.share, 2.0)
    columns = Columns(share, by_share(share))
    edges = np.empty(pieces + 1, dtype=np.int64)
    edges_of_pieces(pieces, columns, edges)
    assert edges[0] == 0
    assert edges[-1] == mine.sum()
    for piece in range(pieces):
        found = columns.order[edges[piece] : edges[piece + 1]]
        assert sorted(found) == np.flatnonzero((share * pieces).astype(int) == piece).tolist()
        bytes_found = packing.byte[found]
        for byte in np.unique(bytes_found):
            of_byte = found[bytes_found == byte]
            assert of_byte.tolist() == np.flatnonzero(packing.byte == byte).tolist()  # rising, and all of them


def test_values_of_bytes():
    n_bins = np.array([255, 3, 7, 7, 1, 100, 15, 15])
    packing = Packing.of(n_bins)
    values = HistogramLayout.of(packing, 8).values
    assert values.tolist() == [256, 4 * 8 * 2, 4 * 8 * 2, 8 * 16, 4 * 8 * 2, 101, 8 * 16, 16]


def test_histograms_do_not_collide():
    packing = Packing.of(np.array([255, 255, 3, 7, 100, 254]))
    layout = HistogramLayout.of(packing, 8)
    assert REGION >= 256
    assert REGION // LINE_ENTRIES % 2 == 1
    in_order = np.argsort(layout.starts)
    assert layout.starts[in_order][-2] == 8 * REGION  # 3 and 7 share a byte: behind the 8 bytes
    ends = np.append(layout.starts[in_order], layout.total)
    assert (np.diff(ends) >= packing.size[in_order]).all()
