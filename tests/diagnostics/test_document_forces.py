"""forces_at: the papers' λ's by their formula, and the very forces that a training has."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankforce as rf


def published(scores, grades):
    """λ and w of NDCG for one query, pair by pair, as the paper writes them (σ = 1)."""
    n = len(scores)
    rank = np.empty(n, dtype=int)
    rank[np.argsort(-scores)] = np.arange(1, n + 1)
    gain, discount = 2.0**grades - 1.0, 1.0 / np.log2(1.0 + rank)
    ideal = float((np.sort(gain)[::-1] / np.log2(np.arange(2, n + 2))).sum())
    forces, curvatures = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(n):
            if grades[i] > grades[j]:
                change = abs((gain[i] - gain[j]) * (discount[i] - discount[j])) / ideal
                rho = 1.0 / (1.0 + math.exp(scores[i] - scores[j]))
                forces[[i, j]] += change * rho * np.array([1.0, -1.0])
                curvatures[[i, j]] += change * rho * (1.0 - rho)
    return forces, curvatures


def test_the_formula_of_the_paper():
    rng = np.random.default_rng(1)
    grades = rng.integers(0, 4, 36).astype(float)
    scores = rng.normal(size=36)
    qid = np.tile([3, 1, 2], 12)  # rows of a query are not adjacent
    found = rf.forces_at(rf.Dataset(np.zeros((36, 1)), grades, qid), scores)
    for query in (1, 2, 3):
        forces, curvatures = published(scores[qid == query], grades[qid == query])
        np.testing.assert_allclose(found.forces[qid == query], forces, rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(found.curvatures[qid == query], curvatures, rtol=1e-5, atol=1e-9)
        assert sorted(found.ranks[qid == query]) == list(range(1, 13))
    assert "assumed" in found.source


def test_a_ranker_brings_its_own_forces():
    data = rf.make_artificial(queries=20, documents=10, features=4, seed=0)
    ranker = rf.LambdaMART("MRR", lambda_function="RankNetWeightPairs(sigma=2)", n_trees=3, progress=False).fit(data)
    found = rf.forces_at(data, ranker)
    assert found.measure == "MRR"
    asked = rf.forces_at(data, ranker.predict(data), "MRR", lambda_function="RankNetWeightPairs(sigma=2)")
    assert np.abs(asked.forces).max() > 0
    assert "of the training of LambdaMART" in found.source
    assert asked.source == "asked for"


def test_tables_show_the_query_in_ranked_order():
    data = rf.Dataset(np.zeros((3, 1)), [0, 2, 1], [7, 7, 7], document_ids=["x", "y", "z"])
    found = rf.forces_at(data, [3.0, 2.0, 1.0])
    lines = str(found).split("\n")
    assert "query 7" in lines[0]
    assert [line.split()[:2] for line in lines[3:6]] == [["1", "x"], ["2", "y"], ["3", "z"]]
    assert "↓" in lines[3]
    assert "↑" in lines[4]
    frame = found.to_pandas()
    assert frame.loc[frame.document == "y", "force"].item() == found.forces[1] > 0
    assert abs(found.forces.sum()) < 1e-6


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([1.0, -np.inf], {}, "finite score"),
        ([1.0, 2.0], {"iteration": -1}, "whole number"),
        ([1.0, 2.0], {"iteration": True}, "whole number"),
        ([1.0, 2.0], {"lambda_function": "nothing"}, "nothing"),
    ],
)
def test_refusals(scores, options, message):
    data = rf.Dataset(np.zeros((2, 1)), [0, 1], [1, 1])
    with pytest.raises(rf.RankforceError, match=message):
        rf.forces_at(data, scores, **options)
    with pytest.raises(rf.DataError, match="no query"):
        rf.forces_at(data, [1.0, 2.0]).query(99)
