"""Kernels of nets against NumPy and against numerical derivatives; per-query against per-pair gradients."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.data.dataset import tie_breakers
from rankforce.forces.forces import Forces, RunningOrder, TermForces
from rankforce.kernels.nets.network import (
    add_gradient,
    ranknet_costs,
    score_documents,
    take_step,
    update_by_pair,
    update_by_query,
)
from rankforce.lambdas.every_pair import EveryPair
from rankforce.models.net_layout import Layout
from rankforce.objectives.objective import Objective, Term

HIDDEN = [0, 1, 3]


def numpy_scores(layout, weights, inputs):
    z = inputs.astype(np.float64)
    if layout.hidden:
        z = np.tanh(z @ layout.hidden_weights(weights).T + layout.hidden_biases(weights))
    return z @ layout.output_weights(weights) + weights[-1]


def some_net(hidden, features=5, documents=11, seed=0):
    rng = np.random.default_rng(seed)
    layout = Layout(features, hidden)
    return layout, rng.normal(size=layout.size), rng.normal(size=(documents, features)).astype(np.float32)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_scores(hidden):
    layout, weights, inputs = some_net(hidden)
    scores = np.full(11, np.nan)
    score_documents(inputs, 2, 11, hidden, weights, scores)
    assert np.isnan(scores[:2]).all()
    np.testing.assert_allclose(scores[2:], numpy_scores(layout, weights, inputs)[2:], rtol=0, atol=1e-13)


def test_hidden_units_saturate_and_stay_exact():
    inputs = np.array([[x] for x in (0.0, 1e-9, -1e-3, 0.3, -0.9, 5.0, -19.0, 25.0, -1e6, 3e38)], dtype=np.float32)
    weights = np.array([1.0, 0.0, 1.0, 0.0])
    scores = np.empty(len(inputs))
    score_documents(inputs, 0, len(inputs), 1, weights, scores)
    np.testing.assert_allclose(scores, np.tanh(inputs[:, 0].astype(np.float64)), rtol=0, atol=3e-16)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_the_gradient_is_the_derivative_of_the_scores(hidden):
    layout, weights, inputs = some_net(hidden)
    forces = np.random.default_rng(1).normal(size=11)
    gradient = np.zeros(layout.size)
    add_gradient(inputs, 3, 11, hidden, weights, forces, np.empty(11), gradient)
    for w in range(layout.size):
        shift = np.zeros(layout.size)
        shift[w] = 1e-6
        rise = numpy_scores(layout, weights + shift, inputs) - numpy_scores(layout, weights - shift, inputs)
        assert gradient[w] == pytest.approx((forces * rise)[3:].sum() / 2e-6, rel=1e-6, abs=1e-7)


def test_steps_of_adam_by_hand():
    rng = np.random.default_rng(0)
    weights, moments, steps = np.zeros(4), np.zeros((2, 4)), np.zeros(1, dtype=np.int64)
    mean, square, wanted = np.zeros(4), np.zeros(4), np.zeros(4)
    for t in range(1, 4):
        gradient = rng.normal(size=4)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        wanted += 0.01 * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
        take_step(gradient, 0.01, True, moments, steps, weights)
        assert not gradient.any()
    np.testing.assert_allclose(weights, wanted, rtol=1e-12)
    assert steps[0] == 3
    gradient = np.ones(4)
    take_step(gradient, 0.5, False, moments, steps, weights)
    np.testing.assert_allclose(weights, wanted + 0.5, rtol=1e-12)


def small_data(seed=0):
    rng = np.random.default_rng(seed)
    sizes = [1, 2, 7, 12, 5]
    grades = np.concatenate([rng.integers(0, 4, size) for size in sizes])
    grades[1:3] = (0, 2)
    grades[-5:] = 2  # a query without pairs
    X = rng.normal(size=(sum(sizes), 5))
    return rf.Dataset(X, grades, group=sizes, weights=rng.uniform(0.5, 2, len(X)), query_weights=rng.uniform(1, 2, 5))


def arguments(data, term, sequence, layout, rate=1.0, adam=False):
    pulling = TermForces(data, term, 0)
    judged = pulling.judged
    return [
        judged.kernel_tuple, pulling.lambda_tuple, pulling.column_count, judged.worth, pulling.ranges.members,
        pulling.ranges.worse, judged.starts, judged.normalisers, pulling.document_weights, pulling.query_weights,
        tie_breakers(data, 0), np.array(data.features), np.array(sequence), layout.hidden, rate, adam,
    ]  # fmt: skip


def by_query(data, term, sequence, layout, weights, **settings):
    """The weights after an epoch of per-query updates."""
    n, weights = data.n_documents, weights.copy()
    update_by_query(
        *arguments(data, term, sequence, layout, **settings), np.arange(n, dtype=np.int32), np.empty(n), np.empty(n),
        np.empty(n), np.zeros((2, layout.size)), np.zeros(1, dtype=np.int64), weights,
    )  # fmt: skip
    return weights


def by_pair(data, term, sequence, layout, weights, every_pair, **settings):
    n, weights = data.n_documents, weights.copy()
    update_by_pair(
        *arguments(data, term, sequence, layout, **settings), every_pair, np.arange(n, dtype=np.int32), np.empty(n),
        np.zeros((2, layout.size)), np.zeros(1, dtype=np.int64), weights,
    )  # fmt: skip
    return weights


def by_forces(data, term, layout, weights, q):
    """The gradient of one query from the forces that trees are grown on."""
    scores = numpy_scores(layout, weights, data.features)
    forces, _ = Forces(data, Objective((term,)), 0).at(scores, RunningOrder(data, 0).update(scores))
    gradient = np.zeros(layout.size)
    first, last = data.query_starts[q : q + 2]
    add_gradient(np.array(data.features), first, last, layout.hidden, weights, forces, np.empty(len(scores)), gradient)
    return gradient


TERMS = {
    "LambdaRank": Term(rf.NDCG()),
    "sigma=2": Term(rf.NDCG(5), rf.lambdas.RankNetWeightPairs(2.0)),
    "RankNet": Term(EveryPair(), rf.lambdas.RankNetCost(1.5)),
}


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("term", TERMS.values(), ids=TERMS)
def test_factorised_and_per_pair_gradients_are_equal(hidden, term):
    data = small_data()
    layout = Layout(5, hidden)
    weights = layout.start(3)
    for q in range(data.n_queries):
        factorised = by_query(data, term, [q], layout, weights) - weights
        per_pair = by_pair(data, term, [q], layout, weights, False) - weights
        np.testing.assert_allclose(factorised, per_pair, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(factorised, by_forces(data, term, layout, weights, q), rtol=1e-10, atol=1e-13)
        assert factorised.any() == (q in (1, 2, 3))


def test_scores_too_far_apart_for_coordinates():
    data = small_data()
    layout = Layout(5, 0)
    weights = 1000.0 * layout.start(3)
    for q in (2, 3):
        factorised = by_query(data, TERMS["sigma=2"], [q], layout, weights) - weights
        assert np.isfinite(factorised).all()
        np.testing.assert_allclose(
            factorised, by_forces(data, TERMS["sigma=2"], layout, weights, q), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("adam", [False, True])
def test_an_epoch_is_one_query_after_the_other(adam):
    data, layout = small_data(), Layout(5, 2)
    weights = layout.start(0)
    order = [3, 0, 2, 1]
    together = by_query(data, TERMS["LambdaRank"], order, layout, weights, rate=0.1, adam=adam)
    if adam:  # its memory goes from query to query
        assert not np.array_equal(together, weights)
        return
    apart = weights
    for q in order:
        apart = by_query(data, TERMS["LambdaRank"], [q], layout, apart, rate=0.1)
    np.testing.assert_array_equal(together, apart)


def test_steps_after_every_pair():
    data = rf.Dataset([[1.0], [0.0], [2.0]], [2, 1, 0], group=[3])
    layout = Layout(1, 0)
    weights = np.array([0.1, 0.0])
    wanted = weights.copy()
    for better, worse in ((0, 1), (0, 2), (1, 2)):
        gap = wanted[0] * float(data.features[better, 0] - data.features[worse, 0])
        wanted[0] += 0.5 / (1 + np.exp(gap)) * float(data.features[better, 0] - data.features[worse, 0])
    found = by_pair(data, Term(EveryPair(), rf.lambdas.RankNetCost()), [0], layout, weights, True, rate=0.5)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_the_cost_of_pairs():
    data = small_data()
    pulling = TermForces(data, TERMS["RankNet"], 0)
    scores = np.random.default_rng(0).normal(size=data.n_documents) * 3
    costs = np.empty(data.n_queries)
    ranknet_costs(
        scores, pulling.ranges.members, pulling.ranges.worse, data.query_starts, pulling.document_weights, 1.5, 0, 5,
        costs,
    )  # fmt: skip
    grades = data.labels["grades"]
    for q, rows in enumerate(data.each_query()):
        wanted = sum(
            data.weights[i] * data.weights[j] * np.log1p(np.exp(-1.5 * (scores[i] - scores[j])))
            for i in rows
            for j in rows
            if grades[i] > grades[j]
        )
        assert costs[q] == pytest.approx(wanted)
