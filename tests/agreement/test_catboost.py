"""``convention="catboost"`` against CatBoost's own metrics."""

from __future__ import annotations

import numpy as np
import pytest
from tests.agreement.judged_lists import JudgedLists, judged_lists

import rankforce as rf

catboost_utils = pytest.importorskip("catboost.utils")


def catboost_says(lists: JudgedLists, metric: str, weighted: bool = False) -> float:
    weights = np.repeat(lists.weights, lists.sizes) if weighted else None
    return float(
        catboost_utils.eval_metric(
            lists.labels, lists.scores, metric, group_id=lists.queries, group_weight=weights, thread_count=1
        )[0]
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("NDCG:top=1", "NDCG@1"),
        ("NDCG:top=10", "NDCG@10"),
        ("NDCG", "NDCG"),
        ("NDCG:top=5;denominator=Position", "NDCG@5(discount=reciprocal)"),
        ("NDCG:top=5;type=Exp", "NDCG@5(gain=exponential)"),
        ("NDCG:top=5;type=Exp;denominator=Position", "NDCG@5(gain=exponential,discount=reciprocal)"),
        ("DCG:top=5", "DCG@5"),
        ("DCG:top=5;type=Exp", "DCG@5(gain=exponential)"),
        ("MAP:top=5", "MAP@5"),
        ("MAP", "MAP"),
        ("MRR:top=3", "MRR@3"),
        ("MRR", "MRR"),
        ("PrecisionAt:top=5", "Precision@5"),
        ("PrecisionAt:top=30", "Precision@30"),
        ("RecallAt:top=5", "Recall@5"),
    ],
)
def test_agrees(metric: str, name: str, weighted: bool, seed: int) -> None:
    lists = judged_lists(seed=seed)
    result = rf.evaluate(lists.scores, lists.data(weighted), name, convention="catboost")
    assert result.mean[name] == pytest.approx(catboost_says(lists, metric, weighted), rel=1e-6)


def test_exponential_gain_is_reached_without_the_convention() -> None:
    lists = judged_lists()
    result = rf.evaluate(lists.scores, lists.data(), "NDCG@10", ties="pessimistic", blank="one")
    assert result.mean["NDCG@10"] == pytest.approx(catboost_says(lists, "NDCG:top=10;type=Exp"), rel=1e-6)
