"""``convention="lightgbm"`` against LightGBM's own metrics."""

from __future__ import annotations

import numpy as np
import pytest
from tests.agreement.judged_lists import JudgedLists, judged_lists

import rankforce as rf

lightgbm = pytest.importorskip("lightgbm")


def lightgbm_says(
    lists: JudgedLists, metric: str, cutoffs: list[int], weighted: bool, **options: object
) -> list[float]:
    """A booster of no trees: its scores are the initial ones."""
    data = lightgbm.Dataset(
        np.zeros((len(lists.labels), 1)),
        lists.labels,
        group=lists.sizes,
        init_score=lists.scores,
        weight=np.repeat(lists.weights, lists.sizes) if weighted else None,
        params={"verbose": -1},
    )
    settings = {"objective": "lambdarank", "metric": metric, "eval_at": cutoffs, "verbose": -1, **options}
    return [float(value) for _, _, value, _ in lightgbm.Booster(settings, data).eval_train()]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("metric", "name"), [("ndcg", "NDCG"), ("map", "MAP")])
@pytest.mark.parametrize("seed", range(3))
def test_agrees(metric: str, name: str, weighted: bool, seed: int) -> None:
    lists = judged_lists(seed=seed)
    cutoffs = [1, 3, 10, 30]
    measures = [f"{name}@{k}" for k in cutoffs]
    result = rf.evaluate(lists.scores, lists.data(weighted), measures, convention="lightgbm")
    expected = lightgbm_says(lists, metric, cutoffs, weighted)
    np.testing.assert_allclose([result.mean[one] for one in measures], expected, rtol=1e-12)


def test_agrees_with_another_gain() -> None:
    lists = judged_lists()
    result = rf.evaluate(lists.scores, lists.data(), rf.NDCG(5, gain=[0, 1, 2, 5, 9]), convention="lightgbm")
    expected = lightgbm_says(lists, "ndcg", [5], False, label_gain=[0, 1, 2, 5, 9])
    np.testing.assert_allclose(list(result.mean.values()), expected, rtol=1e-12)
