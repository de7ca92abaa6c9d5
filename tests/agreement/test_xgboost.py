"""``convention="xgboost"`` and ``"xgboost-"`` against XGBoost's own metrics."""

from __future__ import annotations

import numpy as np
import pytest
from tests.agreement.judged_lists import JudgedLists, judged_lists

import rankforce as rf

xgboost = pytest.importorskip("xgboost")


def xgboost_says(lists: JudgedLists, metric: str, weighted: bool, **options: object) -> float:
    """A booster of no trees: its scores are the base margin."""
    data = xgboost.DMatrix(np.zeros((len(lists.labels), 1)), label=lists.labels, base_margin=lists.scores)
    data.set_group(lists.sizes)
    if weighted:
        data.set_weight(lists.weights)
    settings = {"objective": "rank:ndcg", "eval_metric": metric, "verbosity": 0, **options}
    return float(xgboost.Booster(settings, [data]).eval(data).rsplit(":", 1)[1])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("suffix", ["", "-"])
@pytest.mark.parametrize(
    ("metric", "name", "grades"),
    [
        ("ndcg@1", "NDCG@1", 5),
        ("ndcg@10", "NDCG@10", 5),
        ("ndcg@30", "NDCG@30", 5),
        ("map@1", "MAP@1", 2),
        ("map@5", "MAP@5", 2),
        ("map@30", "MAP@30", 2),
        ("pre@1", "Precision@1", 2),
        ("pre@5", "Precision@5", 2),
        ("pre@30", "Precision@30", 2),
    ],
)
def test_agrees(metric: str, name: str, grades: int, suffix: str, weighted: bool) -> None:
    lists = judged_lists(grades)
    result = rf.evaluate(lists.scores, lists.data(weighted), name, convention=f"xgboost{suffix}")
    assert result.mean[name] == pytest.approx(xgboost_says(lists, metric + suffix, weighted), rel=1e-6)


@pytest.mark.parametrize(("metric", "name", "grades"), [("ndcg", "NDCG", 5), ("map", "MAP", 2)])
def test_agrees_without_a_cut_off(metric: str, name: str, grades: int) -> None:
    lists = judged_lists(grades)
    result = rf.evaluate(lists.scores, lists.data(), name, convention="xgboost")
    assert result.mean[name] == pytest.approx(xgboost_says(lists, metric, False), rel=1e-6)


def test_agrees_with_linear_gain() -> None:
    lists = judged_lists()
    result = rf.evaluate(lists.scores, lists.data(), "NDCG@5(gain=linear)", convention="xgboost")
    expected = xgboost_says(lists, "ndcg@5", False, ndcg_exp_gain=False)
    assert result.mean["NDCG@5(gain=linear)"] == pytest.approx(expected, rel=1e-6)


def test_scores_are_compared_in_single_precision() -> None:
    lists = judged_lists()
    nearly = lists.scores + np.random.default_rng(0).normal(size=len(lists.scores)) * 1e-12
    one = rf.evaluate(lists.scores, lists.data(), "NDCG@5", convention="xgboost")
    other = rf.evaluate(nearly, lists.data(), "NDCG@5", convention="xgboost")
    assert one.mean["NDCG@5"] == other.mean["NDCG@5"]
    assert rf.evaluate(nearly, lists.data(), "NDCG@5", blank="one").mean["NDCG@5"] != one.mean["NDCG@5"]


def test_refuses_what_xgboost_refuses() -> None:
    lists = judged_lists(grades=5)
    with pytest.raises(rf.MeasureError, match="labels 0 and 1 only"):
        rf.evaluate(lists.scores, lists.data(), "MAP@5", convention="xgboost")
    with pytest.raises(xgboost.core.XGBoostError, match="binary"):
        xgboost_says(lists, "map@5", False)
