"""Packed histograms against Python integers."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.jit import kernel
from rankforce.kernels.histograms import add_documents, subtract_histogram
from rankforce.trees.grower import histogram_offsets


@kernel
def add(words, offsets, documents, entries, keep, put, first_word, last_word, histogram):
    add_documents(words, offsets, documents, entries, keep, put, first_word, last_word, histogram)


@kernel
def subtract(histogram, part, begin, end):
    subtract_histogram(histogram, part, begin, end)


def case(n, features, seed=0):
    rng = np.random.default_rng(seed)
    n_bins = rng.integers(1, 256, features)
    rows = np.zeros((n, -(-features // 8) * 8), dtype=np.uint8)
    for f in range(features):
        rows[:, f] = rng.integers(0, n_bins[f] + 1, n)
    entries = rng.integers(-(2**31) // n, 2**31 // n, n) * 2**32 + rng.integers(0, 2**32 // n, n)
    return n_bins, rows, entries, histogram_offsets(n_bins)


@pytest.mark.parametrize("n", [1, 2, 35, 60])
@pytest.mark.parametrize("features", [1, 8, 11])
def test_sums_equal_python_integers(n, features):
    n_bins, rows, entries, offsets = case(n, features)
    documents = np.arange(0, n, 2 if n > 2 else 1, dtype=np.int32)
    words = rows.view(np.uint64)
    histogram = np.zeros(int(offsets[-1]), dtype=np.int64)
    counts = histogram.copy()
    add(words, offsets, documents, entries, -1, 0, 0, words.shape[1], histogram)
    add(words, offsets, documents, entries, 0, 1, 0, words.shape[1], counts)
    for f in range(features):
        for b in range(n_bins[f] + 1):
            inside = [d for d in documents if rows[d, f] == b]
            total = sum(int(entries[d]) for d in inside)
            found = int(histogram[int(offsets[f]) + b])
            assert found == total
            assert found >> 32 == sum(int(entries[d]) >> 32 for d in inside)
            assert found & (2**32 - 1) == sum(int(entries[d]) & (2**32 - 1) for d in inside)
            assert counts[int(offsets[f]) + b] == len(inside)


def test_the_sibling_is_exact():
    _, rows, entries, offsets = case(40, 10, seed=1)
    words = rows.view(np.uint64)
    everything, part, rest = (np.zeros(int(offsets[-1]), dtype=np.int64) for _ in range(3))
    documents = np.arange(40, dtype=np.int32)
    for some, histogram in ((documents, everything), (documents[:13], part), (documents[13:], rest)):
        add(words, offsets, some, entries, -1, 0, 0, words.shape[1], histogram)
    subtract(everything, part, 0, len(everything))
    np.testing.assert_array_equal(everything, rest)


def test_histograms_do_not_collide_in_the_cache():
    offsets = histogram_offsets(np.array([255, 255, 3, 7, 8, 100]))
    assert len(offsets) == 9
    lines = np.diff(offsets.astype(np.int64)) / 8
    assert (lines % 2 == 1).all()
    assert (np.diff(offsets.astype(np.int64))[:6] >= np.array([255, 255, 3, 7, 8, 100]) + 1).all()
