"""The agreement of a ranking with preferences: by hand, under every policy, with its interval by query."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankforce as rf
from rankforce.data.dataset import tie_breakers

NAME = "preference agreement"


@pytest.fixture
def data():
    return rf.Dataset(np.zeros((6, 1)), qid=["a", "a", "a", "b", "b", "c"])


@pytest.fixture
def preferences(data):
    return rf.Preferences(data, [0, 1, 0, 3], [1, 2, 2, 4], [1.0, 0.7, 1.0, 0.9], [1.0, 2.0, 0.0, 1.0])


def test_by_hand(preferences):
    found = rf.evaluate([3, 2, 1, 0, 5, 9], preferences)  # right, right, weightless, wrong
    assert found.mean[NAME] == pytest.approx((1.0 + 2 * 0.7 + 0.1) / 4)
    assert found.per_query[NAME][:2] == pytest.approx([(1.0 + 2 * 0.7) / 3, 0.1])
    assert np.isnan(found.per_query[NAME][2])  # nobody said anything about it
    assert (found.counted[NAME], found.blank[NAME]) == (2, 1)
    told = str(found)
    assert "pairs 3" in told
    assert f"highest possible {(1.0 + 2 * 0.7 + 0.9) / 4:.4f}" in told
    assert "expected" in told
    assert json.loads(json.dumps(found.to_dict()))["measures"][NAME]["mean"] == pytest.approx(found.mean[NAME])


@pytest.mark.parametrize(
    ("ties", "values"),
    [
        (None, [0.5, 0.5, 0.5]),
        ("expected", [0.5, 0.5, 0.5]),
        ("stable", [1.0, 0.7, 0.9]),
        ("pessimistic", [0.0, 0.3, 0.1]),
        ("optimistic", [1.0, 0.7, 0.9]),
    ],
)
def test_ties(preferences, ties, values):
    found = rf.evaluate(np.zeros(6), preferences, ties=ties)
    assert found.policies.ties == (ties or "expected")
    assert found.mean[NAME] == pytest.approx(np.dot(values, [1, 2, 1]) / 4)
    backwards = rf.Preferences(preferences.data, preferences.worse, preferences.better, 1 - preferences.probability)
    if ties == "stable":
        same = rf.Preferences(preferences.data, preferences.better, preferences.worse, preferences.probability)
        means = [rf.evaluate(np.zeros(6), one, ties=ties).mean[NAME] for one in (same, backwards)]
        assert means[0] == pytest.approx(means[1])


def test_hashed_ties_are_those_of_training(preferences):
    keys = tie_breakers(preferences.data, 5)
    above = keys[preferences.better] < keys[preferences.worse]
    agreeing = np.where(above, preferences.probability, 1 - preferences.probability)
    wanted = (agreeing * preferences.weight).sum() / 4
    assert rf.evaluate(np.zeros(6), preferences, ties="hashed", seed=5).mean[NAME] == pytest.approx(wanted)


def test_weights_of_pairs_queries_and_documents_multiply():
    weights, of_queries = np.array([1, 2, 3, 1, 1, 1.0]), np.array([1.0, 4.0, 1.0])
    data = rf.Dataset(np.zeros((6, 1)), qid=["a", "a", "a", "b", "b", "c"], weights=weights, query_weights=of_queries)
    listed = rf.Preferences(data, [0, 1, 3], [1, 2, 4], weight=[1.0, 2.0, 1.0])
    found = rf.evaluate([3, 1, 2, 5, 0, 0], listed)  # right, wrong, right
    assert found.mean[NAME] == pytest.approx((2 + 0 + 4) / (2 + 12 + 4))


def test_the_interval_is_by_query():
    random = np.random.default_rng(0)
    inside = []
    for seed in range(300):
        queries = random.normal(1.0, 1.0, 30)  # how well the ranker does on a query: its pairs stand and fall together
        right = random.random((30, 40)) < 1 / (1 + np.exp(-queries))[:, None]
        data = rf.Dataset(np.zeros((2400, 1)), qid=np.repeat(np.arange(30), 80))
        better = np.arange(1200) * 2
        scores = np.zeros(2400)
        scores[better] = np.where(right.ravel(), 1.0, -1.0)
        low, high = rf.evaluate(scores, rf.Preferences(data, better, better + 1), seed=seed).interval[NAME]
        inside.append(low <= 0.6974 <= high)  # E of the logistic function of N(1, 1)
    assert 0.9 < np.mean(inside) < 0.99


def test_two_rankings_are_compared_and_segments_told_apart(preferences):
    found = rf.compare([1, 2, 3, 0, 5, 9], [3, 2, 1, 0, 5, 9], preferences)
    assert found.difference[NAME] == pytest.approx((1 + 2 * 0.4) / 4)
    found = rf.evaluate([3, 2, 1, 0, 5, 9], preferences, segments=["one", "two", "two"])
    assert found.by_segment["two"].mean[NAME] == pytest.approx(0.1)


def test_what_has_no_meaning_for_preferences_is_refused(preferences):
    for options in ({"measures": "NDCG"}, {"blank": "zero"}, {"convention": "trec"}):
        with pytest.raises(rf.SettingsError, match=f"leave {next(iter(options))}= out"):
            rf.evaluate(np.zeros(6), preferences, **options)
    with pytest.raises(rf.SettingsError, match="ties must be one of"):
        rf.evaluate(np.zeros(6), preferences, ties="row")
    with pytest.raises(rf.DataError, match="no ranks to explain"):
        rf.evaluate(np.zeros(6), preferences).explain("a")
    with pytest.raises(rf.DataError, match="all their weights are 0"):
        rf.evaluate(np.zeros(6), rf.Preferences(preferences.data, [0], [1], weight=[0.0]))
