"""Finite differences: a gradient weight by weight, 2d values of a function of d weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.optimising.stochastic_approximation import Approximation, Function, Slope, approximate


def finite_differences(
    function: Function,
    start: Any,
    *,
    steps: int = 100,
    maximise: bool = False,
    a: float | None = None,
    c: float = 0.1,
    A: float | None = None,
    first_move: float = 0.1,
    progress: bool = False,
) -> Approximation:
    """Optimise any function of a vector along its central differences.

    ĝ_i = (L(w + c_k e_i) − L(w − c_k e_i)) / (2c_k) for each weight i: 2d evaluations per step, where ``spsa``
    needs two. Steps and all other arguments are those of ``spsa``.
    """

    def estimate(function: Function, x: np.ndarray, distance: float, step: int) -> Slope:
        return differences(function, x, distance)

    return approximate(
        "finite differences", estimate, function, start, steps=steps, maximise=maximise, a=a, c=c, A=A,
        first_move=first_move, seed=0, progress=progress,
    )  # fmt: skip


def differences(function: Function, x: np.ndarray, distance: float) -> Slope:
    """Central differences of all coordinates."""
    gradient = np.empty(len(x))
    total = 0.0
    for i in range(len(x)):
        shift = np.zeros(len(x))
        shift[i] = distance
        above, below = function(x + shift), function(x - shift)
        gradient[i] = (above - below) / (2.0 * distance)
        total += above + below
    return Slope(gradient, total / (2.0 * len(x)))
