"""Simultaneous perturbation: a gradient from two values of a function, whatever the number of weights (Spall, 1992)."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.data.random_streams import Stream
from rankforce.optimising.stochastic_approximation import Approximation, Function, Slope, approximate


def spsa(
    function: Function,
    start: Any,
    *,
    steps: int = 1000,
    maximise: bool = False,
    a: float | None = None,
    c: float = 0.1,
    A: float | None = None,
    first_move: float = 0.1,
    seed: int = 0,
    progress: bool = False,
) -> Approximation:
    """Optimise any function of a vector by simultaneous perturbation stochastic approximation.

    In step k = 1, 2, ... a vector Δ of random signs gives ĝ = (L(w + c_kΔ) − L(w − c_kΔ)) / (2 c_kΔ): two evaluations,
    whatever the dimension. w moves by a_kĝ, downhill, or uphill with ``maximise``; a_k = a/(A + k)^0.602 and
    c_k = c/k^0.101. The mean of ĝ over all Δ differs from the gradient by O(c²).

    Parameters
    ----------
    function : callable
        From a float64 vector to a finite number. It may be noisy, and need not be differentiable.
    start : sequence of numbers
    steps : int
    maximise : bool
    a : float, optional
        By default such that the first steps move a weight by ``first_move`` in the mean, judged by ten estimates of
        the first gradient.
    c : float
        How far from w the function is looked at: for a noisy function, where its values differ by more than the
        noise; for a ranking measure, where rankings change.
    A : float, optional
        Holds the first steps back; by default a tenth of ``steps``.
    first_move : float
    seed : int
        Of the signs.
    progress : bool
        Show a progress bar. Ctrl-C ends after the current step and keeps what was found.
    """

    def estimate(function: Function, x: np.ndarray, distance: float, step: int) -> Slope:
        return perturbed(function, x, distance, signs(len(x), step, seed))

    return approximate(
        "spsa", estimate, function, start, steps=steps, maximise=maximise, a=a, c=c, A=A, first_move=first_move,
        seed=seed, progress=progress,
    )  # fmt: skip


def perturbed(function: Function, x: np.ndarray, distance: float, delta: np.ndarray) -> Slope:
    """The gradient estimated along one vector of signs."""
    above, below = function(x + distance * delta), function(x - distance * delta)
    return Slope((above - below) / (2.0 * distance * delta), (above + below) / 2.0)


def signs(count: int, step: int, seed: int) -> np.ndarray:
    """±1 for each weight, by hash of seed, step and place: a run can go on from any step."""
    return np.where(Stream.PERTURBATIONS.words(seed, step, np.arange(count)) >> np.uint64(63), 1.0, -1.0)
