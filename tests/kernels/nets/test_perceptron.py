"""PRank's kernel against the rule written out, linear and with the kernel (x·z + 1)² itself."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.kernels.nets.perceptron import perceptron_scores, prank_pass
from rankforce.models.perceptron import n_weights


def slow_pass(kernel, x, grades, sizes, documents, n_thresholds):
    """The published rule in its dual form: the score is a sum over the documents that made a mistake."""
    support, thresholds = [], np.zeros(n_thresholds)

    def score(z):
        return sum(step * kernel(other, z) for step, other in support)

    for document in documents:
        now = score(x[document])
        taus = np.zeros(n_thresholds)
        for r in range(n_thresholds):
            side = 1 if grades[document] > r else -1
            if (now - thresholds[r]) * side <= 0:
                taus[r] = side
        support.append((sizes[document] * taus.sum(), x[document]))
        thresholds -= sizes[document] * taus
    return score, thresholds


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("quadratic", [False, True])
def test_a_pass_is_the_published_rule(quadratic, weighted):
    random = np.random.default_rng(3)
    x = random.normal(size=(40, 3))
    grades = random.integers(0, 4, 40)
    sizes = random.choice([0.5, 1.0, 2.0], 40) if weighted else np.ones(40)
    documents = random.permutation(40)[:30]
    inputs = np.column_stack([x, np.ones(40)]) if quadratic else x
    weights, thresholds = np.zeros(n_weights("quadratic" if quadratic else "linear", 3)), np.zeros(3)
    prank_pass(inputs, grades, sizes, documents, quadratic, weights, thresholds)
    kernel = (lambda a, b: (a @ b + 1) ** 2) if quadratic else (lambda a, b: a @ b)
    score, wanted = slow_pass(kernel, x, grades, sizes, documents, 3)
    np.testing.assert_array_equal(thresholds, wanted)
    scores = np.empty(40)
    perceptron_scores(inputs, quadratic, weights, 0, 40, scores)
    np.testing.assert_allclose(scores, [score(z) for z in x], rtol=1e-9, atol=1e-9)
    if not weighted:
        assert (np.diff(thresholds) >= 0).all()
        assert np.ptp(thresholds) > 0


def test_the_thresholds_of_unit_steps_never_cross():
    random = np.random.default_rng(1)
    x, grades = random.normal(size=(300, 2)), random.integers(0, 5, 300)
    weights, thresholds = np.zeros(2), np.zeros(4)
    for document in range(300):
        prank_pass(x, grades, np.ones(300), np.array([document]), False, weights, thresholds)
        assert (np.diff(thresholds) >= 0).all()
