"""Shares that change with the iteration: how much of the second of two objectives each tree (or epoch) sees."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankforce.errors import SettingsError
from rankforce.kinds import FunctionOf, Number
from rankforce.written_forms import name_of

__all__ = ["Exponential", "Linear", "Schedule"]


def __dir__() -> list[str]:
    return __all__


class Schedule(abc.ABC):
    """A share from 0 to 1 for every iteration m = 0, 1, ..."""

    @abc.abstractmethod
    def __call__(self, iteration: int) -> float:
        """The share of the second objective in this iteration."""

    @abc.abstractmethod
    def written(self) -> dict[str, Any]:
        """The schedule as a file holds it."""


@dataclass(frozen=True)
class Linear(Schedule):
    """w_0 = start, w_m = w_{m−1} + rate, kept between 0 and 1. The paper: start 0.1 to 0.5, rate 0.1 to 0.001."""

    start: float
    rate: float

    def __post_init__(self) -> None:
        _check_share(self.start)
        if not _is_finite(self.rate):
            raise SettingsError(f"the rate of a schedule must be a number, not {self.rate!r}")

    def __call__(self, iteration: int) -> float:
        return min(max(self.start + self.rate * iteration, 0.0), 1.0)

    def written(self) -> dict[str, Any]:
        return {"kind": "linear", "start": self.start, "rate": self.rate}


@dataclass(frozen=True)
class Exponential(Schedule):
    """w_0 = start, w_m = w_{m−1} + exp(−rate/m), at most 1: it stays near the start at first and then rises fast.

    The paper: start 0.1 to 0.5, rate 100 or 250.
    """

    start: float
    rate: float

    def __post_init__(self) -> None:
        _check_share(self.start)
        if not (_is_finite(self.rate) and self.rate >= 0):
            raise SettingsError(f"the rate of an exponential schedule must be at least 0, not {self.rate!r}")

    def __call__(self, iteration: int) -> float:
        share = self.start
        for m in range(1, iteration + 1):
            share += math.exp(-self.rate / m)
            if share >= 1.0:
                return 1.0
        return share

    def written(self) -> dict[str, Any]:
        return {"kind": "exponential", "start": self.start, "rate": self.rate}


@dataclass(frozen=True)
class Values(Schedule):
    """A share for each iteration; the last one serves for those after it."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise SettingsError("a schedule needs at least one value")
        for iteration, value in enumerate(self.values):
            _check_share(value, f" in iteration {iteration}")

    def __call__(self, iteration: int) -> float:
        return self.values[min(iteration, len(self.values) - 1)]

    def written(self) -> dict[str, Any]:
        return {"kind": "values", "values": list(self.values)}


@dataclass(frozen=True)
class OfFunction(Schedule):
    """Any Python function of the iteration. Training replaces it by its values, and these are what a file keeps."""

    function: Callable[[int], float]

    def __call__(self, iteration: int) -> float:
        share = self.function(iteration)
        if isinstance(share, np.generic):
            share = share.item()
        _check_share(share, f" in iteration {iteration}")
        return float(share)

    def tabulated(self, iterations: int) -> Values:
        """The function's values in the first ``iterations`` iterations."""
        return Values(tuple(self(m) for m in range(max(iterations, 1))))

    def written(self) -> dict[str, Any]:
        return {"kind": "function", "name": name_of(self.function)}


def as_schedule(given: Any) -> Schedule:
    """A schedule, from one, from a function of the iteration, from a list of values, or from its written form."""
    if isinstance(given, Schedule):
        return given
    if isinstance(given, Mapping):
        return _read(dict(given))
    if FunctionOf(1).holds(given):
        return OfFunction(given)
    if isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str):
        return _values(given)
    raise SettingsError(
        "a schedule is rf.schedules.Linear(start, rate), rf.schedules.Exponential(start, rate), a function of the "
        f"iteration (from 0) or a list of shares, not {given!r}"
    )


def _read(form: dict[str, Any]) -> Schedule:
    kind = form.pop("kind", "values" if "values" in form else None)
    parts = {"linear": ("start", "rate"), "exponential": ("start", "rate")}.get(str(kind), ())
    if kind == "values" and list(form) == ["values"]:
        return _values(form["values"])
    if parts and set(form) == set(parts):
        numbers_given = {name: _number(form[name]) for name in parts}
        return Linear(**numbers_given) if kind == "linear" else Exponential(**numbers_given)
    raise SettingsError(
        "a schedule is written kind = 'linear' or 'exponential' with start and rate, or values = [...]; "
        f"this one has kind {kind!r} and {', '.join(sorted(map(str, form))) or 'nothing else'}"
    )


def _values(given: Any) -> Values:
    listed = (isinstance(given, Sequence) and not isinstance(given, str)) or getattr(given, "ndim", 0) == 1
    if not listed:
        raise SettingsError(f"the values of a schedule are a list of shares, one per iteration, not {given!r}")
    return Values(tuple(_number(value) for value in given))


def _number(given: Any) -> float:
    if not _is_finite(given):
        raise SettingsError(f"a schedule is made of numbers, not of {given!r}")
    return float(given)


def _is_finite(given: Any) -> bool:
    """Whether this is a number that a float can hold, and neither infinite nor NaN."""
    return Number().holds(given)


def _check_share(share: Any, where: str = "") -> None:
    if not _is_finite(share) or not 0.0 <= share <= 1.0:
        raise SettingsError(f"the share of a schedule must be a number from 0 to 1, not {share!r}{where}")
