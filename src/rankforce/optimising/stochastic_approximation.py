"""Following an estimated gradient with steps that fall as Spall's sequences do.

    w_{k+1} = w_k ∓ a_k ĝ_k,   a_k = a/(A + k)^0.602,   c_k = c/k^0.101,   k = 1, 2, ...

(minus for a cost, plus for what is maximised). ĝ_k is estimated from values of the function at a distance of c_k; how,
is what ``spsa`` and ``finite_differences`` differ in.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rankforce.console.interruption import Interruption
from rankforce.console.progress import Progress
from rankforce.data.hashing import checked_seed
from rankforce.errors import DataError, SettingsError, warn
from rankforce.kinds import FunctionOf, check_number, check_switches, shown

ALPHA = 0.602
GAMMA = 0.101
STABILITY = 0.1  # A, as a share of the steps
TRIALS = 10  # estimates of the first gradient from which ``a`` is chosen

Function = Callable[[np.ndarray], float]


@dataclasses.dataclass(frozen=True)
class Gains:
    """Spall's sequences; k counts from 1."""

    a: float
    c: float
    A: float

    def rate(self, k: int) -> float:
        """a_k = a/(A + k)^0.602."""
        return self.a / (self.A + k) ** ALPHA

    def distance(self, k: int) -> float:
        """c_k = c/k^0.101."""
        return self.c / k**GAMMA


@dataclasses.dataclass(frozen=True)
class Slope:
    """An estimated gradient, and the mean value of the points it was found from."""

    gradient: np.ndarray
    value: float


# (function, at, distance, step) → slope; ``step`` decides what is random
Estimate = Callable[[Function, np.ndarray, float, int], Slope]


@dataclasses.dataclass(frozen=True, eq=False)
class Approximation:
    """What ``rf.optimising.spsa`` and ``rf.optimising.finite_differences`` found.

    ``x`` is the last point and ``value`` the function there; ``best_x`` and ``best_value`` belong to the best point at
    which the function was called. ``history`` has, for each step, ``value`` (the mean over the points that the gradient
    was estimated from), ``rate`` (a_k) and ``distance`` (c_k). ``gains`` are the constants a, c and A.
    """

    x: np.ndarray
    value: float
    best_x: np.ndarray
    best_value: float
    start_value: float
    maximise: bool
    steps: int
    evaluations: int
    gains: Gains
    history: dict[str, list[float]]
    interrupted: bool = False  # by Ctrl-C, before the last step

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, ready for JSON."""
        result = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return result | {
            "x": self.x.tolist(),
            "best_x": self.best_x.tolist(),
            "gains": dataclasses.asdict(self.gains),
        }

    def __repr__(self) -> str:
        verb = "maximised" if self.maximise else "minimised"
        return (
            f"<{verb} from {self.start_value:.6g} to {self.value:.6g} (best {self.best_value:.6g}) in {self.steps:,} "
            f"steps{', interrupted' if self.interrupted else ''}, {self.evaluations:,} evaluations>"
        )


def approximate(
    name: str,
    estimate: Estimate,
    function: Function,
    start: Any,
    *,
    steps: int,
    maximise: bool,
    a: float | None,
    c: float,
    A: float | None,
    first_move: float,
    seed: int,
    progress: bool,
) -> Approximation:
    """The loop that both methods share."""
    if not FunctionOf(1).holds(function):
        raise SettingsError(f"what is optimised must be a function of an array, not {shown(function)}")
    check_switches(maximise=maximise, progress=progress)
    check_number("steps", steps, 1, whole=True)
    check_number("a", a, 0.0, above=True, optional=True)
    check_number("c", c, 0.0, above=True)
    check_number("A", A, 0.0, optional=True)
    check_number("first_move", first_move, 0.0, above=True)
    checked_seed(seed)
    x = starting_point(start)
    counted = _CountedFunction(function, maximise)
    start_value = counted(x)
    stability = STABILITY * steps if A is None else float(A)
    if a is None:
        a = first_gain(estimate, counted, x, c, stability, first_move)
    gains = Gains(float(a), float(c), stability)
    history: dict[str, list[float]] = {"value": [], "rate": [], "distance": []}
    sign = 1.0 if maximise else -1.0
    with Interruption() as interruption, Progress(name, steps, "steps", progress) as bar:
        for k in range(1, steps + 1):
            rate, distance = gains.rate(k), gains.distance(k)
            counted.step = k
            slope = estimate(counted, x, distance, k)
            x = x + sign * rate * slope.gradient
            for column, value in (("value", slope.value), ("rate", rate), ("distance", distance)):
                history[column].append(value)
            bar.advance(k, {"value": slope.value})
            if interruption.wanted:
                break
    interrupted = len(history["value"]) < steps
    if interrupted:
        warn(
            f"{name} was interrupted after {len(history['value']):,} of {steps:,} steps: the point is where it was then"
        )
    value = counted(x)
    assert counted.best_x is not None
    return Approximation(
        x=x,
        value=value,
        best_x=counted.best_x,
        best_value=counted.best_value,
        start_value=start_value,
        maximise=maximise,
        steps=len(history["value"]),
        evaluations=counted.evaluations,
        gains=gains,
        history=history,
        interrupted=interrupted,
    )


def starting_point(start: Any) -> np.ndarray:
    """A copy of the start as a float64 vector, or an error."""
    try:
        x = np.array(start, dtype=np.float64)
    except Exception:  # also an error of an object's own
        raise SettingsError(f"start must be numbers, not {type(start).__name__}") from None
    if x.ndim != 1 or len(x) == 0 or not np.isfinite(x).all():
        raise SettingsError(f"start must be a vector of finite numbers, not one of shape {x.shape}")
    return x


def first_gain(
    estimate: Estimate, function: Function, x: np.ndarray, c: float, stability: float, first_move: float
) -> float:
    """The a with which the first steps move a coordinate by ``first_move`` in the mean."""
    sizes = [np.abs(estimate(function, x, c, -trial).gradient).mean() for trial in range(TRIALS)]
    size = float(np.mean(sizes))
    if size == 0.0:
        raise SettingsError(
            f"the function does not change at a distance of c={c:g} around the start: give a larger c, another start, "
            "or a"
        )
    return first_move * (stability + 1.0) ** ALPHA / size


class _CountedFunction:
    """The function, checked and counted, and the best point it has seen."""

    def __init__(self, function: Function, maximise: bool) -> None:
        self._function = function
        self._sign = 1.0 if maximise else -1.0
        self.evaluations = 0
        self.step = 0
        self.best_x: np.ndarray | None = None
        self.best_value = -self._sign * math.inf

    def __call__(self, x: np.ndarray) -> float:
        given = self._function(x.copy())
        self.evaluations += 1
        where = f"step {self.step}" if self.step else "the start"
        try:
            value = float(given)
        except (TypeError, ValueError):
            raise DataError(f"the function must give a number; at {where} it gave {given!r}") from None
        if not math.isfinite(value):
            raise DataError(
                f"the function gave {value} at {where}: give a smaller a or first_move, or a finite penalty there"
            )
        if self.best_x is None or self._sign * value > self._sign * self.best_value:
            self.best_x, self.best_value = x.copy(), value
        return value
