"""The bound on what histograms take."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce import memory
from rankforce.binning.packing import Packing
from rankforce.errors import SettingsError
from rankforce.trees.histogram_pool import HISTOGRAM_BYTES, HistogramPool
from rankforce.trees.layout import HistogramLayout


def layout_of(features):
    packing = Packing.of(np.full(features, 255, dtype=np.int32))
    return HistogramLayout.of(packing, features)


def taken(pool):
    arrays = (pool.sums, pool.counts, pool.parts, pool.count_parts, pool.gains)
    owners = {id(owner): owner for owner in (a if a.base is None else a.base for a in arrays)}
    return sum(owner.nbytes for owner in owners.values())


@pytest.mark.parametrize("allowed", ["fast", "low"])
def test_many_features_and_leaves_stay_within_the_bound(allowed):
    bound = HISTOGRAM_BYTES[allowed]
    layout = layout_of(2000)  # 4.2 MB for a histogram
    assert taken(HistogramPool.leafwise(layout, 255, 2, bound)) <= bound
    assert taken(HistogramPool.symmetric(layout, 255, True, 2, bound)) <= bound


def test_many_threads_stay_within_the_bound():
    layout = layout_of(500)
    for threads in (1, 16, 256):
        for bound in HISTOGRAM_BYTES.values():
            for pool in (
                HistogramPool.leafwise(layout, 31, threads, bound),
                HistogramPool.symmetric(layout, 32, True, threads, bound),
            ):
                assert taken(pool) <= bound
                assert len(pool.parts) <= threads
                assert len(pool.parts) != 1  # a single range makes the histogram itself
    assert len(HistogramPool.leafwise(layout, 31, 16, HISTOGRAM_BYTES["fast"]).parts) == 16


def test_few_features_keep_a_histogram_for_every_leaf():
    layout = layout_of(136)
    assert len(HistogramPool.leafwise(layout, 255, 2, HISTOGRAM_BYTES["fast"]).sums) == 255
    pool = HistogramPool.symmetric(layout, 64, True, 2, HISTOGRAM_BYTES["low"])
    assert len(pool.sums) == len(pool.counts) == 64


def test_the_fewest_histograms_take_about_ten_kilobytes_per_feature():
    layout = layout_of(20_000)
    assert taken(HistogramPool.leafwise(layout, 255, 2, 0)) == 3 * 264 * 8 * 20_000 + 2 * 3 * 256 * 8
    assert taken(HistogramPool.symmetric(layout, 255, True, 2, 0)) == (2 * 264 + 3 * 256) * 8 * 20_000


@pytest.mark.parametrize(
    "make",
    [
        lambda layout: HistogramPool.leafwise(layout, 255, 2, 0),
        lambda layout: HistogramPool.symmetric(layout, 255, True, 2, 0),
    ],
    ids=["leafwise", "symmetric"],
)
def test_what_cannot_be_had_is_refused_with_the_arithmetic(make, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 100_000_000)
    layout = layout_of(20_000)
    with pytest.raises(
        SettingsError, match=r"growing trees needs .* MB of memory \(\d histograms × 5,280,000 bins × 8"
    ):
        make(layout)
