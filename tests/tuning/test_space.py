"""Search spaces: what is drawn, what is enumerated, what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rankforce as rf
from rankforce.tuning.space import Space

RANKER = rf.LambdaMART()


def draws(space, count, seed=0):
    return list(itertools.islice(Space(space, RANKER).random(seed), count))


def test_a_grid_is_all_combinations_in_order():
    space = Space({"n_leaves": [4, 8], "measure": ["NDCG", "MAP"]}, RANKER)
    assert [tuple(one.values()) for one in space.grid()] == [(4, "NDCG"), (4, "MAP"), (8, "NDCG"), (8, "MAP")]
    assert len(list(Space({"n_leaves": [4, 4, 8]}, RANKER).grid())) == 2


def test_random_draws_fill_their_ranges():
    made = draws({"n_leaves": (2, 5), "learning_rate": (0.001, 1.0, "log"), "l2": (0.0, 2.0)}, 400)
    leaves = [one["n_leaves"] for one in made]
    assert set(leaves) == {2, 3, 4, 5}
    assert all(isinstance(leaf, int) for leaf in leaves)
    assert all(60 < leaves.count(leaf) < 140 for leaf in set(leaves))
    rates = np.array([one["learning_rate"] for one in made])
    assert 0.001 <= rates.min() < 0.002
    assert 0.5 < rates.max() <= 1.0
    assert np.median(rates) == pytest.approx(10**-1.5, rel=0.4)
    assert np.mean([one["l2"] for one in made]) == pytest.approx(1.0, abs=0.1)


def test_whole_numbers_even_in_the_logarithm():
    leaves = [one["n_leaves"] for one in draws({"n_leaves": (2, 64, "log"), "l2": (0.0, 1.0)}, 400)]
    assert set(leaves) >= {2, 3, 4, 64}
    assert np.median(leaves) == pytest.approx(np.sqrt(2 * 64), rel=0.3)


def test_the_nth_draw_depends_on_the_seed_and_n():
    space = {"l2": (0.0, 1.0), "n_leaves": [2, 4, 8]}
    assert draws(space, 5) == draws(space, 9)[:5]
    assert draws(space, 5) != draws(space, 5, seed=1)


def test_nothing_is_drawn_twice_and_a_small_space_ends():
    made = draws({"n_leaves": [2, 4], "max_bins": (3, 5)}, 100)
    assert len(made) == 6
    assert len({tuple(one.values()) for one in made}) == 6


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({}, "say what to try"),
        ([1], "say what to try"),
        ({"n_leafs": [1]}, "did you mean n_leaves"),
        ({"n_leaves": 5}, "belongs into the ranker"),
        ({"n_leaves": []}, "empty"),
        ({"n_leaves": (5, 2)}, "below the high one"),
        ({"n_leaves": (1, 2, 3, 4)}, "choices are a list"),
        ({"n_leaves": (1, 2, "linear")}, "choices are a list"),
        ({"l2": (0.0, 1.0, "log")}, "above 0"),
        ({"l2": (0.0, float("inf"))}, "below the high one"),
        ({"measure": ("NDCG", "MAP")}, "choices are a list"),
    ],
)
def test_what_is_refused(space, message):
    with pytest.raises(rf.SettingsError, match=message):
        Space(space, RANKER)


def test_a_grid_needs_lists():
    with pytest.raises(rf.SettingsError, match="l2 has a range"):
        Space({"l2": (0.0, 1.0)}, RANKER).grid()
