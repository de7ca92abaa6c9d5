"""LambdaMART's presets are the papers' algorithms, tree for tree; explicit settings override them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.boosting.papers_boxes import Boosted, Query, gradient_step, lambdamart, sigmoid

import rankforce as rf
from rankforce.data.dataset import tie_breakers
from rankforce.errors import SettingsError

TREES, LEAVES, LEAST, RATE = 8, 9, 6, 0.3
SETTINGS = {"n_trees": TREES, "n_leaves": LEAVES, "min_documents": LEAST, "learning_rate": RATE, "progress": False}


def coarse(seed: int) -> rf.Dataset:
    """Seven values per feature, so that every threshold has a bin; some queries without any preference."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 14, size=35)
    n = sizes.sum()
    X = rng.integers(0, 7, size=(n, 5)).astype(float)
    relevance = X[:, 0] * X[:, 1] / 7 + X[:, 2] - 0.5 * X[:, 3] + rng.normal(0, 1.5, n)
    grades = np.digitize(relevance, np.quantile(relevance, [0.5, 0.8, 0.93, 0.98]))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for q in (3, 11):
        grades[starts[q] : starts[q + 1]] = 1
    return rf.Dataset(X, grades, group=sizes)


def queries_of(data: rf.Dataset) -> list[Query]:
    assert (data.rows == np.arange(data.n_documents)).all()
    ties = tie_breakers(data, 0)
    grades = data.labels["grades"].astype(int)
    return [
        Query(list(range(a, b)), grades[a:b].tolist(), ties[a:b].tolist())
        for a, b in zip(data.query_starts[:-1], data.query_starts[1:], strict=True)
    ]


def assert_same_model(ranker: rf.LambdaMART, expected: Boosted, data: rf.Dataset) -> None:
    model = ranker.model_
    assert model.n_trees == len(expected.trees)
    reached = model.leaf_indices(data)
    for number, (tree, (nodes, leaves)) in enumerate(zip(model.trees, expected.trees, strict=True)):
        assert tree.n_nodes == len(nodes) > 0
        for feature, threshold, node in zip(tree.feature, tree.threshold, nodes, strict=True):
            assert feature == node.feature
            assert node.highest_left <= threshold < node.lowest_right
        groups = {tuple(np.flatnonzero(reached[:, number] == leaf)) for leaf in range(tree.n_leaves)}
        assert groups == {tuple(leaf) for leaf in leaves}
        np.testing.assert_allclose(ranker.predict(data, n_trees=number + 1), expected.scores[number], atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sigma", [1.0, 0.7])
def test_2010_is_the_box_of_the_overview(seed, sigma):
    data = coarse(seed)
    ranker = rf.LambdaMART(preset="2010", sigma=sigma, **SETTINGS).fit(data)
    zeros = np.zeros(data.n_documents)
    expected = lambdamart(data.features, queries_of(data), zeros, sigma, TREES, LEAVES, LEAST, RATE)
    assert_same_model(ranker, expected, data)


def test_2010_goes_on_from_a_base_model():
    data = coarse(3)
    name = data.feature_names[2]
    ranker = rf.LambdaMART(preset="2010", base_model=name, **SETTINGS).fit(data)
    start = data.features[:, 2]
    expected = lambdamart(data.features, queries_of(data), start, 1.0, TREES, LEAVES, LEAST, RATE)
    assert_same_model(ranker, expected, data)


@pytest.mark.parametrize("seed", range(3))
def test_2011_is_the_gradient_step_of_multiple_objectives(seed):
    data = coarse(seed)
    ranker = rf.LambdaMART(preset="2011", **SETTINGS).fit(data)
    expected = gradient_step(data.features, queries_of(data), sigmoid(0.0), [0.0] * TREES, LEAVES, LEAST, RATE)
    assert_same_model(ranker, expected, data)


@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_2011_mixes_changing_objectives_before_it_divides_by_the_deviation(mu):
    data = coarse(4)
    changing = rf.Scheduled(
        "NDCG", rf.Term("NDCG", rf.lambdas.SigmoidCost(mu=mu)), rf.schedules.Linear(start=0.1, rate=0.2)
    )
    ranker = rf.LambdaMART(preset="2011", objective=changing, **SETTINGS).fit(data)
    shares = [min(1.0, 0.1 + 0.2 * m) for m in range(TREES)]
    expected = gradient_step(data.features, queries_of(data), sigmoid(mu), shares, LEAVES, LEAST, RATE)
    assert_same_model(ranker, expected, data)


@pytest.mark.parametrize(
    ("preset", "written_out"),
    [
        ("2010", {"normalise": "none", "step": "newton", "max_step": 1e300}),
        ("2011", {"normalise": "deviation", "step": "gradient"}),
    ],
)
def test_a_preset_is_short_for_settings(preset, written_out):
    data = coarse(5)
    common = {"lambda_function": "RankNetWeightPairs", "growth": "leafwise", "split": "least_squares", "anchor": 0.0}
    short = rf.LambdaMART(preset=preset, **SETTINGS).fit(data)
    long = rf.LambdaMART(**SETTINGS, **common, **written_out).fit(data)
    assert short.predict(data).tobytes() == long.predict(data).tobytes()
    assert short.get_params()["split"] == "auto"  # settings stay as they were given
    kept = short.model_.provenance.settings
    assert (kept["preset"], kept["growth"], kept["anchor"]) == (preset, "leafwise", 0.0)
    assert "RankNetWeightPairs" in str(short._objective())


@pytest.mark.parametrize(
    "override",
    [
        {"lambda_function": rf.lambdas.NearPairs()},
        {"growth": "symmetric"},
        {"split": "newton"},
        {"normalise": "log"},
        {"anchor": 1.0},
        {"step": "gradient"},
        {"max_step": 0.5},
    ],
    ids=str,
)
def test_a_setting_beside_a_preset_wins(override):
    data = coarse(6)
    common = {
        "lambda_function": "RankNetWeightPairs", "growth": "leafwise", "split": "least_squares", "anchor": 0.0,
        "normalise": "none", "step": "newton", "max_step": 1e300,
    }  # fmt: skip
    preset = rf.LambdaMART(preset="2010", **SETTINGS).fit(data).predict(data)
    beside = rf.LambdaMART(preset="2010", **SETTINGS, **override).fit(data).predict(data)
    assert beside.tobytes() == rf.LambdaMART(**SETTINGS, **(common | override)).fit(data).predict(data).tobytes()
    assert not np.allclose(beside, preset)


def test_newtons_step_has_no_bound_in_the_papers():
    """One pair in the wrong order, 12 apart by the base: Σλ/Σw = 1 + e^12."""
    X = np.array([[0.0, 12.0], [1.0, 0.0]] * 20)
    data = rf.Dataset(X, [0, 1] * 20, group=[2] * 20, feature_names=["a", "b"])
    settings = SETTINGS | {"n_trees": 1, "n_leaves": 2, "learning_rate": 1.0}
    leaps = rf.LambdaMART(preset="2010", base_model="b", **settings).fit(data).model_.leaf_value
    np.testing.assert_allclose(sorted(leaps), [-1 - np.exp(12), 1 + np.exp(12)], rtol=1e-6)


def test_what_does_not_go_together_is_refused():
    data = coarse(7)
    for settings, message in (
        ({"preset": "2006"}, "'2010', '2011'"),
        ({"preset": 2010}, "'2010', '2011'"),
        ({"preset": "2011", "step": "newton"}, "step='gradient'"),
        ({"preset": "2011", "split": "newton"}, "least_squares"),
        ({"preset": "2011", "anchor": 1.0}, "leave anchor out"),
        ({"preset": "2010", "lambda_function": "SigmoidCost"}, "no positive curvature"),
        ({"max_step": 0.0}, "max_step"),
        ({"step": "leap"}, "'gradient'"),
    ):
        with pytest.raises(SettingsError, match=message):
            rf.LambdaMART(**SETTINGS, **settings).fit(data)
