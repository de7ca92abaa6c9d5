"""The smallest change of one feature that swaps two documents: by trying everything."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.explaining.test_explain import MODELS, data_for, some_data
from tests.models.random_trees import random_ensemble

import rankforce as rf
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.trees.tree import Tree

THRESHOLDS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0], dtype=np.float32)


def tried(model, data, query, pair):
    """By feature: the smallest |change| of either document that swaps the two, trying both sides of every threshold."""
    rows = [data.document_ids.tolist().index(one) for one in pair]
    scores = model._scores(data.features[rows])
    high, low = (rows[0], rows[1]) if scores[0] > scores[1] else (rows[1], rows[0])
    found: dict[str, float] = {}
    for place, name in enumerate(data.feature_names):
        for row in (high, low):
            for value in [*THRESHOLDS, *np.nextafter(THRESHOLDS, np.float32(9))]:
                changed = data.features.copy()
                changed[row, place] = value
                after = model._scores(changed[[high, low]])
                if after[0] < after[1] and not np.isnan(data.features[row, place]):
                    size = abs(float(value) - float(data.features[row, place]))
                    found[name] = min(found.get(name, np.inf), size)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_of_trees_it_is_exact(seed):
    model = random_ensemble(seed, [5, 7, 4], 4, values=THRESHOLDS)
    data = some_data()
    data = data.replace(features=np.nan_to_num(data.features, nan=0.25))
    pair = ("d1", "d4")
    explained = rf.explain(model, data, 1, pair=pair)
    if explained.difference == 0.0:
        assert explained.changes is None
        return
    best = tried(model, data, 1, pair)
    changes = {change.feature: change for change in explained.changes}
    assert changes.keys() == best.keys()
    assert all(change.exact for change in changes.values())
    for change in changes.values():
        row = data.document_ids.tolist().index(change.document)
        changed = data.features.copy()
        changed[row, data.feature_names.index(change.feature)] = change.value
        after = dict(zip(data.document_ids.tolist(), model._scores(changed).tolist(), strict=True))
        assert (after[pair[0]] < after[pair[1]]) == (explained.difference > 0)
        assert change.present == float(data.features[row, data.feature_names.index(change.feature)])
        # of the document that it names, no smaller change of the feature does it
        towards = np.nextafter(np.float32(change.value), np.float32(change.present))
        changed[row, data.feature_names.index(change.feature)] = towards
        nearer = dict(zip(data.document_ids.tolist(), model._scores(changed).tolist(), strict=True))
        assert (nearer[pair[0]] < nearer[pair[1]]) != (explained.difference > 0)
    shares = [change.passed for change in explained.changes]
    assert shares == sorted(shares)


@pytest.mark.parametrize("name", ["one layer", "two layers", "by query", "combination", "trees on a feature"])
def test_what_a_search_finds_swaps_and_a_nearer_number_does_not(name):
    model, data = MODELS[name], data_for(name)
    explained = rf.explain(model, data, 1, pair=("d4", "d10"))
    assert explained.changes
    ids = data.document_ids.tolist()
    for change in explained.changes:
        row, place = ids.index(change.document), data.feature_names.index(change.feature)
        order = []
        for value in (change.value, np.nextafter(np.float32(change.value), np.float32(change.present))):
            changed = data.features.copy()
            changed[row, place] = value
            scores = model.predict(data.replace(features=changed))
            order.append(scores[ids.index("d4")] > scores[ids.index("d10")])
        assert order[0] == (explained.difference < 0)
        if not np.isnan(change.present):
            assert order[1] != order[0]


def test_there_may_be_none():
    """One tree of two splits: the first decides by 100, the second by 1. No change of the second feature can do it."""
    tree = Tree(
        feature=np.array([0, 1], dtype=np.int32),
        threshold=np.array([0.0, 0.0], dtype=np.float32),
        missing_left=np.array([True, True]),
        left=np.array([~0, ~1], dtype=np.int32),
        right=np.array([1, ~2], dtype=np.int32),
        gain=np.ones(2),
        leaf_value=np.array([0.0, 100.0, 101.0], dtype=np.float32),
        leaf_documents=np.array([5, 5, 5]),
    )
    model = TreeEnsemble.from_trees([tree], ["f0", "f1"])
    data = rf.Dataset(np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, 2.0]]), qid=[1, 1, 1], feature_names=["f0", "f1"])
    (change,) = rf.explain(model, data, 1, pair=(0, 1)).changes
    assert (change.feature, change.document, change.present) == ("f0", 1, -1.0)
    assert change.value == np.nextafter(np.float32(0), np.float32(1))
    assert change.passed == 0.0
    constant = dataclasses.replace(tree, leaf_value=np.array([0.0, 1.0, 1.0], dtype=np.float32))
    above = TreeEnsemble.from_trees([constant], ["f0", "f1"])
    stuck = rf.explain(above, data, 1, pair=(0, 1))  # at 1 and 0: whoever changes, both come to the same score at best
    assert stuck.changes == ()
    assert stuck.smallest_change is None
    assert "no change of one feature alone would swap them" in str(stuck)
    assert rf.explain(above, data, 1, pair=(0, 1), changes=False).changes is None


def test_equal_scores_have_nothing_to_swap():
    data = some_data()
    features = np.array(data.features)
    features[4] = features[10]
    tied = rf.explain(MODELS["trees"], data.replace(features=features), 1, pair=("d4", "d10"))
    assert tied.changes is None
    assert not tied.contributions.any()
    assert "their scores are equal" in str(tied)
