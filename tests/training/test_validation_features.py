"""Validation data whose features stand in another order: matched as when a model scores."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf

TRAIN = rf.make_artificial(queries=30, documents=12, features=4, seed=0)
HELD_OUT = rf.make_artificial(queries=20, documents=12, features=4, seed=1)
NAMES = ["price", "clicks", "age", "words"]

RANKERS = [
    rf.LambdaMART(n_trees=4, n_leaves=4, min_documents=5, early_stopping=3, progress=False),
    rf.MART(n_trees=4, n_leaves=4, min_documents=5, progress=False),
    rf.LambdaRank(epochs=2, learning_rate=0.01, progress=False),
    rf.RankNet(epochs=2, learning_rate=0.01, progress=False),
    rf.PRank(epochs=2, progress=False),
    rf.XRank(n_steps=3, progress=False),
    rf.SPSA(epochs=2, progress=False),
    rf.Bagging(rf.LambdaMART(n_trees=3, n_leaves=4, min_documents=5, progress=False), n_models=2, progress=False),
]


def named(data, names=NAMES):
    return data.replace(feature_names=names)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_the_history_is_that_of_the_right_features(ranker):
    expected = ranker.fit(named(TRAIN), validation=named(HELD_OUT)).history_["validation"]
    moved = named(HELD_OUT).take_features(["words", "clicks", "price", "age"])
    assert ranker.fit(named(TRAIN), validation=moved).history_["validation"] == expected
    more = named(HELD_OUT.replace(features=np.column_stack([np.ones(HELD_OUT.n_documents), HELD_OUT.features]),
                                  feature_names=["one", *NAMES]), ["one", *NAMES])  # fmt: skip
    assert ranker.fit(named(TRAIN), validation=more).history_["validation"] == expected


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_features_that_lack_are_named(ranker):
    other = named(HELD_OUT, ["price", "clicks", "age", "length"])
    with pytest.raises(rf.DataError, match="the validation data lacks a feature of the training data: 'words'"):
        ranker.fit(named(TRAIN), validation=other)
    with pytest.raises(rf.DataError, match="the validation data has 3 features, the training data has 4"):
        ranker.fit(TRAIN, validation=HELD_OUT.take_features([0, 1, 2]))


def test_numbers_are_matched_by_position():
    ranker = RANKERS[0]
    expected = ranker.fit(TRAIN, validation=HELD_OUT).history_["validation"]
    assert ranker.fit(named(TRAIN), validation=HELD_OUT).history_["validation"] == expected
    assert ranker.fit(TRAIN, validation=named(HELD_OUT)).history_["validation"] == expected


def test_preferences_of_moved_features_are_refused():
    moved = named(HELD_OUT).take_features(NAMES[::-1])
    listed = rf.Preferences(moved, [0, 1], [2, 3])
    with pytest.raises(rf.DataError, match="its features in another order"):
        RANKERS[0].fit(named(TRAIN), validation=listed)
