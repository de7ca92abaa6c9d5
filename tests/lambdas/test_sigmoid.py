"""The sigmoid cost: its force by definition, and both ways of computing it."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.objectives.objective import Objective, Term


@pytest.mark.parametrize(("sigma", "mu"), [(1.0, 0.0), (2.0, 1.5), (0.5, -3.0)])
def test_force_by_definition(sigma, mu):
    lambda_function = rf.lambdas.SigmoidCost(sigma, mu=mu).kernel_tuple()
    for gap in (-4.0, -mu, 0.0, 0.3, 5.0):
        e = np.exp(sigma * (gap + mu))
        wanted = 0.7 * sigma * e / (1 + e) ** 2
        assert lambda_function.pair_of_gap(gap, 0.7, 1.0) == (pytest.approx(wanted, rel=1e-12), 0.0)
        better, worse = (lambda_function.coordinate(score, 6.0) for score in (1.0 + gap, 1.0))
        assert lambda_function.pair(better, worse, gap, 0.7, 1.0)[0] == pytest.approx(wanted, rel=1e-10)


def test_it_lets_go_on_both_sides_of_its_centre():
    lambda_function = rf.lambdas.SigmoidCost(1.0, mu=2.0).kernel_tuple()
    forces = [lambda_function.pair_of_gap(gap, 1.0, 1.0)[0] for gap in np.linspace(-10, 6, 17)]
    assert np.argmax(forces) == 8
    assert np.all(np.diff(forces[:9]) > 0)
    assert np.all(np.diff(forces[8:]) < 0)


def test_scores_too_far_apart_for_coordinates():
    data = rf.Dataset(np.zeros((4, 1)), [0, 1, 2, 0], group=[4])
    scores = np.array([500.0, 499.0, 0.0, -500.0])
    term = Term(rf.NDCG(), rf.lambdas.SigmoidCost(mu=100.0))
    forces, _ = Forces(data, Objective((term,)), 0).at(scores, RunningOrder(data, 0).update(scores))
    assert np.all(np.isfinite(forces))
    assert forces.sum() == pytest.approx(0.0, abs=1e-15)


def test_no_newton_step():
    assert not rf.lambdas.SigmoidCost.HAS_CURVATURE
    data = rf.make_artificial(queries=5, documents=5, features=2)
    with pytest.raises(rf.SettingsError, match="step='gradient'"):
        rf.LambdaMART(lambda_function=rf.lambdas.SigmoidCost(), step="newton").fit(data)


def test_impossible_centres_are_refused():
    with pytest.raises(rf.SettingsError, match="between −300 and 300"):
        rf.lambdas.SigmoidCost(mu=301.0)
