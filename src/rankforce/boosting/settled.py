"""What settings that were left open became, once per fit: nobody asks the ranker again."""

from __future__ import annotations

import dataclasses
from typing import Any

from rankforce.boosting.leaf_counts import NAME, LeafCounts
from rankforce.lambdas.base import LambdaFunction
from rankforce.objectives.objective import Objective


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settled:
    """How trees are grown: ``growth`` is "leafwise" or "symmetric", ``split`` "newton" or "least_squares"; and with how
    many ``leaves``, tree by tree.
    """

    growth: str
    split: str
    leaves: LeafCounts

    def in_words(self) -> dict[str, Any]:
        """By setting, as users see it."""
        return {"growth": self.growth, "split": self.split}

    def written(self) -> dict[str, Any]:
        """What files keep in place of a setting that may be a function: its values."""
        return {NAME: self.leaves.written()}


@dataclasses.dataclass(frozen=True, kw_only=True)
class SettledLambdas(Settled):
    """And with what forces, of LambdaMART.

    objective : with the λ-function and the pairs of every term
    lambda_function : the λ-function of measures that name none
    step : "newton" or "gradient"; of at most ``max_step`` times 1/σ
    normalise, anchor : as ``LambdaMART`` has them
    """

    objective: Objective
    lambda_function: LambdaFunction
    step: str
    max_step: float
    normalise: str
    anchor: float

    def in_words(self) -> dict[str, Any]:
        return super().in_words() | {
            "step": self.step,
            "max_step": self.max_step,
            "normalise": self.normalise,
            "anchor": self.anchor,
            "lambda_function": str(self.lambda_function),
        }
