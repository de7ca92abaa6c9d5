"""Objectives that change while learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankforce.lambdas.base import LambdaFunction
from rankforce.measures.measure import Measure
from rankforce.objectives.objective import ALL_PAIRS, DEFAULT_LAMBDA_FUNCTION, Objective, Pairs, as_part
from rankforce.schedules import OfFunction, Schedule, as_schedule


@dataclass(frozen=True, init=False, repr=False)
class Scheduled(Objective):
    """λ_m = (1 − w_m)·λ(first) + w_m·λ(second) in iteration m = 0, 1, ... (a tree, or an epoch of a net).

    first, second : measures (also written), terms or objectives
    schedule : Linear, Exponential, any function of the iteration, or a list of the shares w_m
    """

    first: Objective
    second: Objective
    schedule: Schedule

    def __init__(self, first: Any, second: Any, schedule: Any) -> None:
        read = as_part(first), as_part(second)
        object.__setattr__(self, "first", read[0])
        object.__setattr__(self, "second", read[1])
        object.__setattr__(self, "schedule", as_schedule(schedule))
        object.__setattr__(self, "terms", read[0].terms + read[1].terms)

    @property
    def tier_measures(self) -> tuple[Measure, ...]:
        return self.first.tier_measures

    def shares(self, iteration: int) -> tuple[float, ...]:
        later = self.schedule(iteration)
        return tuple(
            weight * share
            for objective, weight in ((self.first, 1.0 - later), (self.second, later))
            for share in objective.shares(iteration)
        )

    def settled(
        self, iterations: int, lambda_function: LambdaFunction = DEFAULT_LAMBDA_FUNCTION, pairs: Pairs = ALL_PAIRS
    ) -> Scheduled:
        schedule = self.schedule
        if isinstance(schedule, OfFunction):
            schedule = schedule.tabulated(iterations)
        first, second = (part.settled(iterations, lambda_function, pairs) for part in (self.first, self.second))
        return Scheduled(first, second, schedule)

    def written(self) -> dict[str, Any]:
        return {"first": self.first.written(), "second": self.second.written(), "schedule": self.schedule.written()}

    def __str__(self) -> str:
        form = self.schedule.written()
        kind = form.get("kind", "values")
        numbers = ", ".join(f"{name} {form[name]:g}" for name in ("start", "rate") if name in form)
        return f"from {self.first} to {self.second} ({kind}{', ' + numbers if numbers else ''})"

    __repr__ = __str__
