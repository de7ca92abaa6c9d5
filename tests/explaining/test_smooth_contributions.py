"""Contributions to smooth functions: Shapley values where there is a closed form, mean slopes of a line elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from tests.explaining import slow_twin
from tests.models.random_trees import random_ensemble, random_features

from rankforce.explaining.attribution import attributed
from rankforce.explaining.smooth_contributions import link_slopes, net_slopes, tanh_slope
from rankforce.models.combination import Combination
from rankforce.models.expected_grade import ExpectedGrade, GradeLink
from rankforce.models.net import Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.models.perceptron import Perceptron, n_weights
from rankforce.models.stacked import Stacked

NAMES = ("a", "b", "c", "d")


def a_net(hidden: int, kind: str = "standard", names: tuple[str, ...] = NAMES) -> Net:
    rng = np.random.default_rng(hidden)
    size = len(names)
    weights = rng.standard_normal(Layout(size, hidden).size)
    scaling = Scaling(kind, rng.standard_normal(size), 0.5 + rng.random(size))
    return Net(feature_names=names, scaling=scaling, hidden=hidden, weights=weights)


def a_perceptron(kernel: str) -> Perceptron:
    rng = np.random.default_rng(5)
    return Perceptron(
        feature_names=NAMES,
        kernel=kernel,
        means=rng.standard_normal(4),
        deviations=0.5 + rng.random(4),
        weights=rng.standard_normal(n_weights(kernel, 4)),
        thresholds=np.array([0.0]),
        grades=np.array([0.0, 1.0]),
    )


@pytest.mark.parametrize("model", [a_net(0), a_net(0, "log1p"), a_perceptron("linear"), a_perceptron("quadratic")],
                         ids=["net", "log1p", "linear", "quadratic"])  # fmt: skip
def test_linear_and_quadratic_functions_have_their_shapley_values(model):
    rows, others = random_features(0, 4, 4), random_features(1, 3, 4)
    found = attributed(model, rows, others)
    for row, contributions in zip(rows, found.contributions, strict=True):
        np.testing.assert_allclose(contributions, slow_twin.against_references(model._scores, row, others), atol=1e-5)
    assert found.base == pytest.approx(model._scores(others).mean())


@pytest.mark.parametrize("model", [a_net(0), a_net(6), a_net(6, "log1p"), a_perceptron("quadratic")],
                         ids=["one layer", "two layers", "log1p", "quadratic"])  # fmt: skip
@pytest.mark.parametrize("references", [None, 3])
def test_they_add_up_to_rounding(model, references):
    rows = random_features(0, 20, 4)
    found = attributed(model, rows, None if references is None else random_features(1, references, 4))
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), model._scores(rows), atol=1e-12)


def test_two_layers_have_integrated_gradients():
    net = a_net(6)
    start, to = (net.scaling.inputs(random_features(seed, 1, 4, missing=0.0)).astype(float)[0] for seed in (0, 1))
    w = net.layout.hidden_weights(net.weights)
    steps = (np.arange(20_000) + 0.5) / 20_000
    line = start + steps[:, None] * (to - start)
    units = np.tanh(line @ w.T + net.layout.hidden_biases(net.weights))
    slopes = ((1 - units**2) * net.layout.output_weights(net.weights)) @ w
    np.testing.assert_allclose(net_slopes(net, to[None], start)[0], slopes.mean(axis=0), rtol=1e-6)


def test_the_mean_slope_of_tanh_is_smooth_where_two_points_meet():
    points = np.array([0.0, 1e-300, 1e-9, 0.3, 5.0, 30.0])
    np.testing.assert_allclose(tanh_slope(points, points), 1 - np.tanh(points) ** 2, atol=1e-300)
    np.testing.assert_allclose(tanh_slope(points, points + 1e-9), 1 - np.tanh(points) ** 2, rtol=1e-7, atol=1e-8)
    assert tanh_slope(np.array([-3.0]), np.array([2.0]))[0] == pytest.approx((np.tanh(2) - np.tanh(-3)) / 5)


@pytest.mark.parametrize("kind", ["softmax", "ordinal"])
def test_links_of_grades(kind):
    link = GradeLink(kind, np.arange(4.0), np.array([0.0, 1.0, 3.0, 7.0]), 0.7)
    rng = np.random.default_rng(0)
    start, to = rng.standard_normal(link.n_outputs), rng.standard_normal((link.n_outputs, 5))
    change = (link_slopes(link, start, to) * (to - start[:, None])).sum(axis=0)
    np.testing.assert_allclose(change, link.scores(to) - link.scores(start[:, None]), atol=1e-12)


@pytest.mark.parametrize("kind", ["softmax", "ordinal"])
def test_expected_grades_add_up(kind):
    link = GradeLink(kind, np.arange(3.0), np.arange(3.0))
    members = tuple(random_ensemble(seed, [5, 6], 4, feature_names=NAMES) for seed in range(link.n_outputs))
    model = ExpectedGrade(feature_names=NAMES, link=link, members=members)
    rows, others = random_features(0, 9, 4), random_features(1, 3, 4)
    found = attributed(model, rows, others)
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), model._scores(rows), atol=1e-12)


@pytest.mark.parametrize("kind", ["standard", "log1p"])
def test_stacks_add_up_but_for_the_rounding_of_their_scores(kind):
    trees = random_ensemble(1, [5, 6], 4, feature_names=NAMES)
    model = Stacked.of([trees, a_perceptron("linear")], a_net(3, kind, ("s0", "s1")))
    rows, others = random_features(0, 9, 4), random_features(1, 2, 4)
    found = attributed(model, rows, others)
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), model._scores(rows), atol=1e-5)


def test_members_with_other_features_find_their_places():
    trees = random_ensemble(1, [5, 6], 3, feature_names=("c", "a", "x"))
    model = Combination.of([a_net(0), trees], [0.5, 2.0])
    assert model.feature_names == ("a", "b", "c", "d", "x")
    rows, others = random_features(0, 6, 5), random_features(1, 3, 5)
    found = attributed(model, rows, others)
    for row, contributions in zip(rows, found.contributions, strict=True):
        np.testing.assert_allclose(contributions, slow_twin.against_references(model._scores, row, others), atol=1e-5)
