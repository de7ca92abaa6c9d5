"""λ-functions of a user's own that give no numbers, or curve the wrong way: the error names them."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf

DATA = rf.make_artificial(queries=20, documents=8, features=3, seed=1)
SCORES = np.zeros(DATA.n_documents)


class NoForce(rf.lambdas.PairwiseLambdaFunction):
    def pair_of_gap(self, gap, change, normaliser):
        return np.nan * change, change


class Hollow(rf.lambdas.PairwiseLambdaFunction):
    """A curvature below 0."""

    def pair_of_gap(self, gap, change, normaliser):
        return change, -change


class Endless(rf.lambdas.PairwiseLambdaFunction):
    def pair_of_gap(self, gap, change, normaliser):
        return np.inf * (1.0 + change), 1.0


class Strong(rf.lambdas.PairwiseLambdaFunction):
    """Finite, and beyond all numbers once the learning rate has multiplied it."""

    def pair_of_gap(self, gap, change, normaliser):
        return 1e290 * change, 1.0


@pytest.mark.compiled_only  # NumPy's scalars warn of infinity
@pytest.mark.parametrize("function", [NoForce(), Endless()], ids=str)
def test_forces_that_are_no_numbers_are_not_handed_out(function):
    words = rf"^NDCG@5 \({type(function).__name__}\(\)\): forces on query \S+ are not finite at these scores; check"
    with pytest.raises(rf.DataError, match=words):
        rf.forces_at(DATA, SCORES, "NDCG@5", lambda_function=function)


@pytest.mark.parametrize("update", ["query", "pair", "batch"])
def test_a_net_blames_the_forces_and_not_the_learning_rate(update):
    words = r"^NDCG \(NoForce\(\)\): forces on query \S+ are not finite before the first epoch; check"
    with pytest.raises(rf.DataError, match=words) as told:
        rf.LambdaRank(lambda_function=NoForce(), update=update, epochs=2, progress=False).fit(DATA)
    assert "learning_rate" not in str(told.value)


@pytest.mark.compiled_only
def test_a_learning_rate_that_is_too_high_is_still_blamed():
    with pytest.raises(rf.SettingsError, match=r"weights grew without bound at learning_rate=1e\+100"):
        rf.LambdaRank(
            lambda_function=Strong(), learning_rate=1e100, optimiser="gradient", epochs=3, progress=False
        ).fit(DATA)


def test_negative_curvatures_name_the_function():
    words = r"^NDCG \(Hollow\(\)\): curvatures on query \S+ are negative at tree 1, and Newton's step .* λ-function"
    with pytest.raises(rf.DataError, match=words):
        rf.LambdaMART(
            lambda_function=Hollow(), split="newton", anchor=0.0, n_trees=1, min_documents=2, progress=False
        ).fit(DATA)
