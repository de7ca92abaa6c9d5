"""Bins of categories: one each for the most frequent, one for all others, one for missing values."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from rankforce.binning.binned import Binned
from rankforce.binning.binning import Binning
from rankforce.data.dataset import Dataset
from rankforce.threads import using_threads


def dataset(column, count, n_queries=3):
    X = np.column_stack([np.linspace(0, 1, len(column)), column]).astype(np.float32)
    return Dataset(X, qid=np.arange(len(X)) * n_queries // len(X), categories={"2": range(count)})


def slow_bin(value, own, n_bins):
    if np.isnan(value):
        return n_bins
    return own.index(int(value)) if int(value) in own else n_bins - 1


@pytest.mark.parametrize("max_bins", [2, 3, 9, 255])
@pytest.mark.parametrize("memory", ["fast", "low"])
def test_bins_equal_the_slow_twin(max_bins, memory):
    rng = np.random.default_rng(max_bins)
    codes = np.minimum(rng.geometric(0.2, 500) - 1, 29).astype(np.float32)
    codes[rng.random(500) < 0.1] = np.nan
    codes[rng.random(500) < 0.05] = -1
    data = dataset(codes, 40)
    binned = Binned.of(data, max_bins, memory)
    counts = Counter(int(code) for code in codes if code >= 0)
    own = sorted(sorted(counts, key=lambda code: (-counts[code], code))[: max_bins - 1])
    assert binned.binning.n_bins[1] == len(own) + 1 <= max_bins
    expected = [slow_bin(code, own, len(own) + 1) for code in codes]
    assert binned.bins(1).tolist() == expected
    if memory == "fast":
        assert binned.columns[1].tolist() == expected
    other = rng.integers(-1, 40, 200).astype(np.float32)
    other[::7] = np.nan
    later = Binned.by(binned.binning, dataset(other, 40), memory)
    assert later.bins(1).tolist() == [slow_bin(code, own, len(own) + 1) for code in other]


def test_all_of_254_categories_have_a_bin_and_of_255_the_rarest_has_none():
    for count in (254, 255, 300):
        codes = np.r_[np.arange(count), np.arange(count - 1)]  # the last is the rarest
        binned = Binned.of(dataset(codes, count))
        assert binned.binning.n_bins[1] == 255
        rare = binned.bins(1) == 254
        assert sorted(set(codes[rare].tolist())) == list(range(254, count))


def test_a_column_of_one_category_is_left_out_unless_some_are_missing_or_unknown():
    for column, used in (
        ([3, 3, 3, 3], False),
        ([3, 3, np.nan, 3], True),
        ([3, 3, -1, 3], True),
        ([np.nan] * 4, False),
        ([-1, -1, -1, -1], False),
        ([-1, np.nan, -1, -1], True),
    ):
        binning = Binning.of(dataset(np.array(column), 5, 1))
        assert (1 in binning.features.tolist()) == used
        assert set(binning.category_bins) == ({1} if used else set())


def test_numeric_columns_beside_categories_keep_their_thresholds():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), rng.integers(0, 5, 100), rng.normal(size=100)])
    plain = Binning.of(Dataset(X, qid=np.zeros(100, dtype=int)), 16)
    mixed = Binning.of(Dataset(X, qid=np.zeros(100, dtype=int), categories={"2": range(5)}), 16)
    for column in (0, 2):
        for b in range(16):
            assert plain.threshold(column, b) == mixed.threshold(column, b)
    assert mixed != plain
    assert mixed == Binning.of(Dataset(X, qid=np.zeros(100, dtype=int), categories={"2": range(5)}), 16)
    part = mixed.only(np.array([1, 2]))
    assert list(part.category_bins) == [0]
    assert part.threshold(1, 3) == mixed.threshold(2, 3)


def test_threads_do_not_matter():
    rng = np.random.default_rng(0)
    data = dataset(rng.integers(0, 500, 20_000), 500, 200)
    rows = []
    for threads in (1, 3):
        with using_threads(threads):
            rows.append(Binned.of(data).rows.tobytes())
    assert rows[0] == rows[1]
