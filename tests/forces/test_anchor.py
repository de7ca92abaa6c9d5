"""Springs at the grades, against sums over documents written out."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces.anchor import SPREAD, Anchor
from rankforce.forces.forces import Forces, RunningOrder


def small_data(**more):
    rng = np.random.default_rng(3)
    sizes = [4, 1, 6, 3, 5]
    labels = rng.choice([0.0, 0.5, 7.0, 100.0], sum(sizes))
    return rf.Dataset(rng.normal(size=(sum(sizes), 2)), labels, group=sizes, **more)


def anchored(data, measure="NDCG", stiffness=0.5, sigma=2.0):
    forces = Forces(data, rf.LambdaMART(measure, sigma=sigma)._objective(), 0, normalise="log")
    equal = np.zeros(data.n_documents)
    _, curvatures = forces.at(equal, RunningOrder(data, 0).update(equal))
    curvatures = curvatures.copy()
    return Anchor(forces.terms[0], stiffness, sigma, curvatures), curvatures


def by_hand(data, scores, stiffness, sigma, curvatures, labelled=None):
    """(forces, curvatures), document by document."""
    n = data.n_documents
    labelled = np.ones(n, dtype=bool) if labelled is None else labelled
    different = sorted(set(data.labels["grades"][labelled]))
    labels = [
        different.index(label) if known else 0 for label, known in zip(data.labels["grades"], labelled, strict=True)
    ]
    query_weights = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
    weights = np.ones(n) if data.weights is None else data.weights
    targets, distances, a = np.zeros(n), np.zeros(n), np.zeros(n)
    for q, (first, last) in enumerate(zip(data.query_starts[:-1], data.query_starts[1:], strict=True)):
        inside = [k for k in range(first, last) if labelled[k]]
        total = sum(weights[k] for k in inside)
        if total == 0:
            continue
        for k in inside:
            targets[k] = labels[k] - sum(weights[j] * labels[j] for j in inside) / total
            distances[k] = scores[k] - sum(weights[j] * scores[j] for j in inside) / total
            a[k] = weights[k] * query_weights[q]
    deviation = math.sqrt((a * targets**2).sum() / a.sum())
    a_unit = stiffness * curvatures.sum() / a.sum()
    return a_unit * a * (targets * SPREAD / sigma / deviation - distances), a_unit * a


def settings():
    rng = np.random.default_rng(4)
    yield "plain", {}
    yield "document weights", {"weights": rng.choice([0.0, 0.5, 2.0], 19)}
    yield "query weights", {"query_weights": np.array([1.0, 3.0, 0.0, 0.5, 2.0])}


@pytest.mark.parametrize(("name", "more"), list(settings()), ids=lambda value: value if isinstance(value, str) else "")
def test_forces_and_curvatures_by_hand(name, more):
    data = small_data(**more)
    scores = np.random.default_rng(5).normal(size=data.n_documents)
    anchor, curvatures = anchored(data)
    found = np.zeros((2, data.n_documents))
    anchor.add(scores, None, *found)
    np.testing.assert_allclose(found, by_hand(data, scores, 0.5, 2.0, curvatures), rtol=1e-12, atol=1e-15)
    assert found[1].sum() == pytest.approx(0.5 * curvatures.sum())
    for first, last in zip(data.query_starts[:-1], data.query_starts[1:], strict=True):
        assert found[0, first:last].sum() == pytest.approx(0.0, abs=1e-12)


def test_they_add_to_what_is_there_and_leave_queries_out():
    data = small_data()
    scores = np.random.default_rng(5).normal(size=data.n_documents)
    anchor, curvatures = anchored(data)
    queries = np.array([True, True, False, True, False])
    found = np.ones((2, data.n_documents))
    anchor.add(scores, queries, *found)
    inside = np.repeat(queries, np.diff(data.query_starts))
    wanted = np.array(by_hand(data, scores, 0.5, 2.0, curvatures))
    np.testing.assert_allclose(found, 1.0 + wanted * inside, rtol=1e-12)


@pytest.mark.parametrize("measure", ["NDCG", rf.NDCG(judged_only=True)], ids=["kept", "left out"])
def test_unlabelled_documents_have_no_spring(measure):
    whole = small_data()
    labels = whole.labels["grades"].copy()
    labelled = np.ones(len(labels), dtype=bool)
    labelled[[1, 4, 7, 12]] = False  # the one document of a query, too
    labels[~labelled] = np.nan
    data = rf.Dataset(whole.features, labels, group=np.diff(whole.query_starts))
    scores = np.random.default_rng(5).normal(size=data.n_documents)
    anchor, curvatures = anchored(data, measure)
    found = np.zeros((2, data.n_documents))
    anchor.add(scores, None, *found)
    np.testing.assert_allclose(found, by_hand(data, scores, 0.5, 2.0, curvatures, labelled), rtol=1e-12, atol=1e-15)
    assert not found[:, ~labelled].any()
