"""SPSA and finite differences: Spall's lemma, Spall's sequences, and functions they must find the bottom of."""

from __future__ import annotations

import itertools
import json
import math
import signal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import DataError, RankforceError, SettingsError
from rankforce.optimising.differences import differences
from rankforce.optimising.perturbations import perturbed, signs

METHODS: list[Callable[..., Any]] = [rf.optimising.spsa, rf.optimising.finite_differences]


def mean_estimate(function: Callable[[np.ndarray], float], at: np.ndarray, distance: float) -> np.ndarray:
    """ĝ averaged over all vectors of signs."""
    every = [np.array(delta) for delta in itertools.product((-1.0, 1.0), repeat=len(at))]
    return np.mean([perturbed(function, at, distance, delta).gradient for delta in every], axis=0)


def quadratic(seed: int) -> tuple[Callable[[np.ndarray], float], Callable[[np.ndarray], np.ndarray]]:
    rng = np.random.default_rng(seed)
    b, H = rng.normal(size=4), rng.normal(size=(4, 4))
    H = H + H.T
    return lambda w: float(b @ w + w @ H @ w / 2.0), lambda w: b + H @ w


def cubic(seed: int) -> tuple[Callable[[np.ndarray], float], Callable[[np.ndarray], np.ndarray]]:
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(4, 4, 4))
    T = sum(np.transpose(T, order) for order in itertools.permutations(range(3)))  # type: ignore[assignment]
    return lambda w: float(np.einsum("ijk,i,j,k", T, w, w, w) / 6.0), lambda w: np.einsum("ijk,j,k", T, w, w) / 2.0


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_estimate_is_the_gradient_of_a_quadratic(seed: int) -> None:
    function, gradient = quadratic(seed)
    at = np.random.default_rng(seed + 10).normal(size=4)
    for distance in (0.01, 1.0, 30.0):
        assert mean_estimate(function, at, distance) == pytest.approx(gradient(at), rel=1e-8)
        assert differences(function, at, distance).gradient == pytest.approx(gradient(at), rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_bias_on_a_cubic_falls_fourfold_when_the_distance_is_halved(seed: int) -> None:
    function, gradient = cubic(seed)
    at = np.random.default_rng(seed + 10).normal(size=4)
    for estimate in (mean_estimate, lambda *given: differences(*given).gradient):
        bias = [estimate(function, at, distance) - gradient(at) for distance in (0.8, 0.4, 0.2)]
        assert np.abs(bias[0]).min() > 1e-3
        assert bias[0] == pytest.approx(4.0 * bias[1], rel=1e-6)
        assert bias[1] == pytest.approx(4.0 * bias[2], rel=1e-6)


def test_signs_are_fair_and_independent() -> None:
    drawn = np.array([signs(50, step, seed=3) for step in range(1, 401)])
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    assert abs(drawn.mean()) < 0.03
    correlation = drawn.T @ drawn / 400 - np.eye(50)
    assert np.abs(correlation).max() < 0.25
    assert not np.array_equal(drawn[0], signs(50, 1, seed=4))


@pytest.mark.parametrize("method", METHODS)
def test_the_sequences_are_spalls(method: Callable[..., Any]) -> None:
    found = method(lambda w: float(w @ w), [1.0, 2.0], steps=50, a=0.3, c=0.2)
    assert found.gains.A == 5.0
    k = np.arange(1, 51)
    assert found.history["rate"] == pytest.approx(0.3 / (5.0 + k) ** 0.602)
    assert found.history["distance"] == pytest.approx(0.2 / k**0.101)
    assert method(lambda w: float(w @ w), [1.0], steps=5, a=0.3, A=7).gains.A == 7.0


def test_one_step_by_hand() -> None:
    found = rf.optimising.spsa(lambda w: float(w @ [1.0, -3.0]), [0.0, 0.0], steps=1, a=2.0, c=0.5, A=0.0, seed=9)
    delta = signs(2, 1, seed=9)
    slope = (delta @ [1.0, -3.0]) / delta
    assert found.x == pytest.approx(-2.0 * slope)
    assert found.evaluations == 4  # at the start, twice for the step, at the end
    upwards = rf.optimising.spsa(
        lambda w: float(w @ [1.0, -3.0]), [0.0, 0.0], steps=1, a=2.0, c=0.5, A=0.0, seed=9, maximise=True
    )
    assert upwards.x == pytest.approx(2.0 * slope)


@pytest.mark.parametrize("method", METHODS)
def test_the_bottom_is_found(method: Callable[..., Any]) -> None:
    target = np.linspace(-1.0, 1.0, 8)

    def cost(w: np.ndarray) -> float:
        return float(((w - target) ** 2 * np.linspace(1.0, 3.0, 8)).sum())

    found = method(cost, np.full(8, 2.0), steps=400)
    assert found.value < 0.01 * found.start_value
    assert found.best_value <= min(found.value, found.start_value)
    assert found.best_value == cost(found.best_x)
    mirrored = method(lambda w: -cost(w), np.full(8, 2.0), steps=400, maximise=True)
    assert mirrored.x == pytest.approx(found.x)
    assert mirrored.value == pytest.approx(-found.value)


def test_evaluations_per_step() -> None:
    for d in (1, 10, 100):
        assert rf.optimising.spsa(lambda w: float(w @ w), np.ones(d), steps=7, a=0.01).evaluations == 2 + 2 * 7
        assert (
            rf.optimising.finite_differences(lambda w: float(w @ w), np.ones(d), steps=7, a=0.01).evaluations
            == 2 + 14 * d
        )


def test_a_noisy_function() -> None:
    rng = np.random.default_rng(0)
    found = rf.optimising.spsa(lambda w: float(w @ w) + 0.1 * rng.normal(), np.full(5, 3.0), steps=2000, c=0.5)
    assert found.x @ found.x < 0.5


def test_the_same_seed_gives_the_same_run() -> None:
    runs = [rf.optimising.spsa(lambda w: float(w @ w), np.ones(6), steps=20, seed=seed) for seed in (1, 1, 2)]
    assert runs[0].x.tobytes() == runs[1].x.tobytes()
    assert runs[0].x.tobytes() != runs[2].x.tobytes()
    json.dumps(runs[0].to_dict(), allow_nan=False)
    assert repr(runs[0]).startswith("<minimised from 6 to ")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"steps": 0}, "steps must be a whole number"),
        ({"a": -1.0}, "a must be a number above 0"),
        ({"c": 0.0}, "c must be a number above 0"),
        ({"A": -1.0}, "A must be a number"),
        ({"start": [[1.0]]}, "a vector of finite numbers"),
        ({"start": [math.nan]}, "a vector of finite numbers"),
        ({"start": "abc"}, "start must be numbers"),
        ({"start": []}, "a vector of finite numbers"),
        ({"function": 3}, "must be a function"),
        ({"function": lambda w: 1.0}, "does not change at a distance of c=0.1"),
        ({"function": lambda w: math.nan}, "gave nan at the start"),
        ({"function": lambda w: "x"}, "must give a number; at the start it gave 'x'"),
    ],
)
def test_mistakes(method: Callable[..., Any], wrong: dict[str, Any], message: str) -> None:
    arguments = {"function": lambda w: float(w @ w), "start": [1.0, 2.0]} | wrong
    with pytest.raises(RankforceError, match=message):
        method(arguments.pop("function"), arguments.pop("start"), **arguments)
    with pytest.raises(SettingsError, match="seed"):
        rf.optimising.spsa(lambda w: 0.0, [1.0], seed=-1)


def test_a_function_that_breaks_off_names_the_step() -> None:
    with pytest.raises(DataError, match="gave inf at step 4"):
        rf.optimising.spsa(lambda w: float(w[0]) if w[0] > -2.5 else math.inf, [0.0], steps=10, a=1.0, c=0.5, A=0.0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_ends_after_the_step_and_is_told(method: Callable[..., Any]) -> None:
    calls: list[float] = []

    def function(w: np.ndarray) -> float:
        calls.append(1.0)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return float(w @ w)

    with pytest.warns(rf.RankforceWarning, match="interrupted after 1 of 50 steps"):
        found = method(function, [1.0, 2.0], steps=50, a=0.1, progress=False)
    assert found.interrupted
    assert found.steps == 1
    assert "1 steps, interrupted" in repr(found)
