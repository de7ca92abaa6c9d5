"""Settings at random from whole constructors, shared at random by one to five: the model of one machine, or refused."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from tests.crowd import Crowd
from tests.random_trainings import (
    drawn_data,
    drawn_preferences,
    drawn_ranker,
    drawn_shares,
    outcome,
    preferences_of,
)

import rankforce as rf
from rankforce.trees import leaf_rounds


def trained_by_all(seed):
    """(what one machine makes of a training, what every member makes of it)."""
    random = np.random.default_rng([11, seed])
    data, held_out = drawn_data(random, int(random.integers(6, 20)))
    make = drawn_ranker(random, data)
    watched = held_out if random.random() < 0.7 or make().early_stopping is not None else None
    pairs = drawn_preferences(random, data) if random.random() < 0.15 and isinstance(make(), rf.LambdaMART) else None

    def inputs(data):
        return {"preferences": preferences_of(data, pairs), "preference_share": 0.4} if pairs else {}

    alone = outcome(make(), data, watched, **inputs(data))
    members = int(random.integers(1, 6))
    shares = drawn_shares(random, data.n_queries, members)
    watched_shares = drawn_shares(random, held_out.n_queries, members)

    def train(rank):
        mine = data.take_queries(shares[rank])
        of = None if watched is None else held_out.take_queries(watched_shares[rank])
        return outcome(make(), mine, of, **inputs(mine))

    toll = leaf_rounds.TOLL if seed % 2 else -(10**9)  # rows travel where there are few, or always
    with mock.patch.object(leaf_rounds, "TOLL", toll):
        return alone, Crowd(members).run(train), make


def check(seed):
    alone, found, make = trained_by_all(seed)
    if isinstance(alone, bytes):
        others = [one if isinstance(one, tuple) else "another model" for one in found if one != alone]
        assert not others, (seed, make())
    else:
        assert all(isinstance(one, tuple) for one in found), (seed, make(), alone)
    return isinstance(alone, bytes)


@pytest.mark.parametrize("seeds", [range(first, first + 10) for first in range(0, 30, 10)], ids=str)
def test_a_training_at_random_is_the_same_for_any_members(seeds):
    assert sum(map(check, seeds)) >= 4  # most settings go together
