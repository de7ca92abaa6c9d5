"""The mean over the queries that can score."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.measures.judged import judged
from rankforce.measures.mean import QueriesInMean, weights_of_queries


def test_blank_queries_are_left_out_and_weights_count():
    data = rf.Dataset(np.zeros((6, 1)), [1, 0, 0, 0, 2, 0], group=[2, 2, 2], query_weights=[1.0, 5.0, 3.0])
    queries = QueriesInMean(data, judged(data, rf.NDCG()))
    assert queries.can_score.tolist() == [True, False, True]
    assert queries.shares.tolist() == [0.25, 0.0, 0.75]
    values = np.array([0.4, np.nan, 0.8])
    assert queries.sum(values) == pytest.approx(0.4 + 3 * 0.8, rel=1e-15)
    assert queries.mean(values) == pytest.approx(0.7, rel=1e-15)
    assert queries.means(np.array([[0.4, 0.0, 0.8], [0.0, 9.0, 1.0]])) == pytest.approx([0.7, 0.75], rel=1e-15)


def test_the_mean_is_that_of_evaluate_to_the_last_bit():
    data = rf.make_artificial(queries=40, documents=7, features=3, seed=3)
    weights = np.random.default_rng(1).uniform(0.0, 2.0, data.n_queries)
    for weighted in (data, data.replace(query_weights=weights)):
        found = rf.evaluate(data.features[:, 0], weighted, "NDCG@3")
        queries = QueriesInMean(weighted, judged(weighted, rf.NDCG(3)))
        assert queries.mean(found.per_query["NDCG@3"]) == found.mean["NDCG@3"]


def test_no_query_can_score():
    data = rf.Dataset(np.zeros((2, 1)), [0, 0], group=[2])
    queries = QueriesInMean(data, judged(data, rf.NDCG()))
    assert queries.total == 0.0
    assert queries.sum(np.array([math.nan])) == 0.0
    assert weights_of_queries(data).tolist() == [1.0]
