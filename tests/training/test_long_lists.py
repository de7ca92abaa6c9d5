"""A warning where one query has too many pairs."""

from __future__ import annotations

import warnings

import pytest

import rankforce as rf
from rankforce.data import pair_counts
from rankforce.training.monitoring import TrainingWarning


@pytest.fixture
def data(monkeypatch):
    monkeypatch.setattr(pair_counts, "MANY_PAIRS", 100)
    return rf.make_artificial(queries=3, documents=30, features=3, seed=1)


def rankers(**settings):
    yield rf.LambdaMART(n_trees=1, min_documents=3, progress=False, **settings)
    yield rf.LambdaRank(epochs=1, progress=False, **settings)
    yield rf.RankNet(epochs=1, progress=False, **settings)


def test_one_query_of_many_pairs_is_warned_of_with_the_remedy(data):
    for ranker in rankers():
        with pytest.warns(TrainingWarning, match="pairs of different labels") as caught:
            ranker.fit(data)
        told = [str(one.message) for one in caught if "pairs of different labels" in str(one.message)]
        assert len(told) == 1
        assert "has 30 documents and" in told[0]
        assert "pairs='top 30'" in told[0]
        assert "pairs='sample 10'" in told[0]
        assert caught[0].filename == __file__


@pytest.mark.parametrize("pairs", ["top 5", ("sample", 2)])
def test_who_takes_fewer_pairs_is_not_warned(data, pairs):
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingWarning)
        for ranker in rankers(pairs=pairs):
            ranker.fit(data)


def test_inspect_finds_it(data):
    found = {finding.kind: finding for finding in rf.inspect(data).findings}
    assert "pairs='top 30'" in found["many_pairs"].remedy
    assert rf.inspect(data).to_dict()["labels"]["grades"]["many_pairs"]["documents"] == 30
