"""How fast a net learns: the learning rate from epoch to epoch, and when training starts anew.

Two papers' ways are kept as presets: "2006" (LambdaRank as it was introduced) and "2009" (its local optimality).
"""

from __future__ import annotations

import dataclasses
import math

SHRINKING = 0.8
PATIENCE = 50  # epochs without news before a restart


@dataclasses.dataclass(frozen=True)
class Preset:
    """How a paper trained its nets, by plain gradient steps.

    After an epoch whose training cost is above that of the epoch before, the rate is multiplied by 0.8 with
    probability ``chance``. Training starts anew from other random weights, with the first rate, after 50 epochs
    without a new lowest training cost (``restart="cost"``) or with an unchanged validation measure ("validation").

    The training cost of RankNet is its cross entropy; that of LambdaRank is minus NDCG at ``cost_cutoff`` whatever it
    is trained for, or without such a cut-off minus the measure that it is trained for.
    """

    epochs: int
    rates: tuple[float, ...]
    chance: float
    restart: str
    cost_cutoff: int | None


PRESETS = {
    "2006": Preset(300, (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2), chance=1.0, restart="cost", cost_cutoff=10),
    "2009": Preset(700, (1e-7, 1e-6, 1e-5, 1e-4, 1e-3), chance=0.3, restart="validation", cost_cutoff=None),
}


@dataclasses.dataclass
class Pace:
    """The rate now, and what decides the next."""

    first_rate: float
    rate: float
    cost: float = math.inf  # after the last epoch
    lowest_cost: float = math.inf
    validation: float = math.inf
    without_news: int = 0

    @classmethod
    def of(cls, rate: float) -> Pace:
        return cls(rate, rate)

    def after(self, preset: Preset, cost: float, validation: float, draw: float) -> bool:
        """Take note of an epoch; ``draw`` is a random number in [0, 1). Returns whether to start anew."""
        if cost > self.cost and draw < preset.chance:
            self.rate *= SHRINKING
        news = cost < self.lowest_cost if preset.restart == "cost" else validation != self.validation
        self.without_news = 0 if news else self.without_news + 1
        self.cost, self.lowest_cost, self.validation = cost, min(cost, self.lowest_cost), validation
        if self.without_news < PATIENCE:
            return False
        self.rate = self.first_rate
        self.cost = self.lowest_cost = self.validation = math.inf
        self.without_news = 0
        return True
