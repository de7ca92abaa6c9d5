"""Two ways are tried in turns, and the faster one is gone from then on."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.binning.binned import Binned
from rankforce.trees import grower as growers
from rankforce.trees.faster_way import TRIALS, FasterWay


def gone(seconds, calls, tried=True):
    """The ways of so many calls, each of which takes ``seconds(way, call)``."""
    choice = FasterWay(tried)
    ways = []
    for call in range(calls):
        ways.append(choice.now)
        choice.took(seconds(choice.now, call))
    return ways


@pytest.mark.parametrize("faster", [0, 1])
def test_the_faster_way_is_kept(faster):
    ways = gone(lambda way, call: 1.0 if way == faster else 1.2, 20)
    tried = ways[: 1 + 2 * TRIALS]
    assert tried[1:].count(0) == tried[1:].count(1) == TRIALS
    assert ways[1 + 2 * TRIALS :] == [faster] * (20 - len(tried))


def test_the_first_call_does_not_count():
    assert gone(lambda way, call: 0.1 if call == 0 else 1.2 - 0.2 * way, 9)[-1] == 1


def test_a_disturbance_does_not_decide():
    """Of each way the best counts: one that was fast once is that fast."""
    assert gone(lambda way, call: (1.0 if way == 1 else 1.1) * (1 if call in (1, 3) else 5), 9)[-1] == 1


def test_what_is_not_worth_a_trial_goes_the_first_way():
    assert gone(lambda way, call: 1.2 - way, 9, tried=False) == [0] * 9


@pytest.mark.compiled_only
def test_trees_do_not_depend_on_the_way(monkeypatch):
    data = rf.make_artificial(queries=60, documents=50, features=130, seed=3)
    binned = Binned.of(data)
    rng = np.random.default_rng(0)
    forces, curvatures = rng.normal(size=data.n_documents), rng.random(data.n_documents) + 0.5
    taken = []
    for way in (0, 1, None):
        monkeypatch.setattr(growers, "WORTH_TRYING", data.n_documents + (way is not None))
        grower = growers.Grower(binned, n_leaves=9, min_documents=5)
        assert growers.MANY_WORDS <= grower._words <= growers.FEW_WORDS
        if way is not None:
            grower._batched.now = way
        trees, ways = [], set()
        for number in range(8 if way is None else 1):
            ways.add(grower._batched.now)
            trees.append(grower.grow(forces, curvatures, tree_number=number).structure)
        assert ways == ({0, 1} if way is None else {way})
        for tree in trees:
            taken.append([getattr(tree, name).tobytes() for name in ("feature", "threshold", "gain", "leaf_documents")])
    assert all(one == taken[0] for one in taken)
