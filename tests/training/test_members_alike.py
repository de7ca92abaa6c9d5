"""Members that were given different kinds of data: one error, the same in all, before any of them waits for another."""

from __future__ import annotations

import numpy as np
import pytest
from tests.crowd import Crowd
from tests.test_collective import DATA, HELD_OUT, PLAIN

import rankforce as rf
from rankforce.errors import DataError
from rankforce.training.members_alike import UnlikeDataError

RANKERS = {
    "LambdaMART": lambda: rf.LambdaMART(n_trees=2, progress=False),
    "MART": lambda: rf.MART(n_trees=2, progress=False),
    "Bagging": lambda: rf.Bagging(rf.MART(n_trees=1), 2, progress=False),
}


def parts(data, members=3):
    return [data.take_queries(np.arange(rank, data.n_queries, members)) for rank in range(members)]


def told(given, ranker=RANKERS["MART"]):
    """The error that all members raise; ``given(rank)`` is what ``fit`` is given: data, and inputs by name."""

    def train(rank):
        data, inputs = given(rank)
        return ranker().fit(data, **inputs)

    outcomes = Crowd(3).outcomes(train)
    assert {type(one) for one in outcomes} == {UnlikeDataError}, outcomes
    (words,) = {str(one) for one in outcomes}
    assert "Give all of them what one has, or leave it out everywhere" in words
    return words


def with_change(change, data=PLAIN):
    """Parts of a data set, that of the member 1 changed."""
    mine = parts(data)
    mine[1] = change(mine[1])
    return lambda rank: (mine[rank], {})


CHANGES = {
    "weights": (lambda data: data.replace(weights=np.ones(data.n_documents)),
                "weights of documents in the training data: member 1 has some, the others none"),
    "query weights": (lambda data: data.replace(query_weights=np.ones(data.n_queries)),
                      "weights of queries in the training data: member 1 has some, the others none"),
    "clicks": (lambda data: data.with_label("clicks", np.zeros(data.n_documents)),
               "labels of the training data: member 1 has 'clicks', 'grades', the others 'grades'"),
    "fewer features": (lambda data: data.without_features(["4"]),
                       "feature '4' of the training data: member 1 has none, the others numbers"),
    "another order": (lambda data: data.take_features([1, 0, 2, 3, 4, 5]),
                      "the order of features in the training data: member 1 has '2', '1', '3', '4', '5' and 1 more"),
}  # fmt: skip


@pytest.mark.parametrize("ranker", RANKERS)
def test_weights_that_one_member_has(ranker):
    change, expected = CHANGES["weights"]
    assert expected in told(with_change(change), RANKERS[ranker])


@pytest.mark.parametrize("name", CHANGES)
def test_what_one_member_has_is_named(name):
    change, expected = CHANGES[name]
    assert expected in told(with_change(change))


def test_what_one_member_lacks():
    words = told(with_change(lambda data: data.replace(weights=None, query_weights=None), DATA))
    assert "weights of documents in the training data: member 1 has none, the others some" in words
    assert "weights of queries in the training data: member 1 has none, the others some" in words


def test_lists_of_categories():
    colours = {"1": ["red", "green"]}, {"1": ["green", "red"]}
    codes = PLAIN.replace(features=np.where(np.arange(6) == 0, np.abs(PLAIN.features) % 2 // 1, PLAIN.features))
    mine = [part.replace(categories=colours[rank == 1]) for rank, part in enumerate(parts(codes))]
    words = told(lambda rank: (mine[rank], {}), RANKERS["LambdaMART"])
    assert "feature '1' of the training data: member 1 has the categories 'green', 'red' (digest " in words
    assert "where parts are read like one data set" in words


def test_validation_data():
    mine, watched = parts(DATA), parts(HELD_OUT)
    words = told(lambda rank: (mine[rank], {"validation": None if rank == 2 else watched[rank]}))
    assert "validation: member 2 has none, the others a data set" in words
    assert "more. Give all" in words  # its labels, weights and features are not there either
    watched[0] = watched[0].replace(weights=None)
    words = told(lambda rank: (mine[rank], {"validation": watched[rank]}))
    assert "weights of documents in the validation data: member 0 has none, the others some" in words


def test_preferences():
    mine = parts(PLAIN)
    listed = [rf.Preferences.from_grades(part) for part in mine]
    words = told(lambda rank: (mine[rank], {"preferences": listed[rank] if rank else None}), RANKERS["LambdaMART"])
    assert "preferences: member 0 has none, the others some" in words
    words = told(lambda rank: (mine[rank], {"validation": listed[rank] if rank else mine[rank]}), RANKERS["LambdaMART"])
    assert "validation: member 0 has a data set, the others preferences" in words


def test_alone_nothing_is_compared():
    with pytest.raises(DataError, match="every document has the weight 0"):
        RANKERS["MART"]().fit(PLAIN.replace(weights=np.zeros(PLAIN.n_documents)))
