"""Numbers of pairs, against lists of them."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce import memory
from rankforce.data import pair_counts
from rankforce.data.dataset import Dataset
from rankforce.data.pair_counts import count_pairs, many_pairs
from rankforce.data.preferences import Preferences
from rankforce.errors import SettingsError


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_counted_as_they_are_listed(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 40))
    labels = rng.integers(0, 4, size=n).astype(float)
    labels[rng.random(n) < 0.2] = np.nan
    data = Dataset(np.zeros((n, 1)), labels, np.zeros(n))
    assert count_pairs(labels) == len(Preferences.from_grades(data).better)
    assert count_pairs(labels, ties=True) == len(Preferences.from_grades(data, ties=True).better)


def test_the_query_with_the_most_pairs_is_found_where_there_are_many(monkeypatch):
    monkeypatch.setattr(pair_counts, "MANY_PAIRS", 10)
    labels = [0.0] * 9 + [0, 1, 2, 0, 1] * 2 + [0, 1, 2, 3, 4, 5, 6]
    queries = ["alike"] * 9 + ["mixed"] * 10 + ["distinct"] * 7
    data = Dataset(np.zeros((26, 1)), labels, queries)
    assert many_pairs(data, "grades") == ("mixed", 10, 32)
    monkeypatch.setattr(pair_counts, "MANY_PAIRS", 32)
    assert many_pairs(data, "grades") is None


def test_a_list_of_pairs_that_cannot_be_had_is_refused_with_the_arithmetic(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000_000)
    data = Dataset(np.zeros((600, 1)), np.arange(600) % 2, np.zeros(600))
    Preferences.from_grades(data)  # 5.8 MB
    with pytest.raises(SettingsError, match=r"needs 11.5 MB of memory \(179,700 pairs × 64 bytes\)"):
        Preferences.from_grades(data, ties=True)
