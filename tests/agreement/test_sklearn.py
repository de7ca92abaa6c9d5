"""``convention="sklearn"`` against scikit-learn's functions, query by query."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from tests.agreement.judged_lists import judged_lists

import rankforce as rf


@pytest.mark.parametrize("cutoff", [1, 3, 10, 30, None])
@pytest.mark.parametrize(("name", "function"), [("NDCG", metrics.ndcg_score), ("DCG", metrics.dcg_score)])
def test_agrees(name: str, function: object, cutoff: int | None) -> None:
    lists = judged_lists(least=2)
    measure = rf.measure(name if cutoff is None else f"{name}@{cutoff}")
    result = rf.evaluate(lists.scores, lists.data(), measure, convention="sklearn")
    ends = np.cumsum(lists.sizes)
    expected = [
        function([lists.labels[end - size : end]], [lists.scores[end - size : end]], k=cutoff)  # type: ignore[operator]
        for size, end in zip(lists.sizes, ends, strict=True)
    ]
    np.testing.assert_allclose(result.per_query[measure], expected, rtol=1e-12, atol=1e-15)


def test_pairwise_accuracy_over_ties_is_the_area_under_the_curve() -> None:
    lists = judged_lists(grades=2, least=2)
    result = rf.evaluate(lists.scores, lists.data(), "PairwiseAccuracy", ties="expected")
    ends = np.cumsum(lists.sizes)
    for value, size, end in zip(result.per_query["PairwiseAccuracy"], lists.sizes, ends, strict=True):
        labels = lists.labels[end - size : end]
        if len(set(labels)) == 2:
            assert value == pytest.approx(metrics.roc_auc_score(labels, lists.scores[end - size : end]), rel=1e-12)
        else:
            assert np.isnan(value)
