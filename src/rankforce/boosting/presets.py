"""LambdaMART as two papers have it: what becomes of the settings that were left open.

Both split by least squares on the λ's, leaf after leaf, and know neither anchors nor bounds of a step. "2010" is the
algorithm of the overview (Burges, MSR-TR-2010-82, section 7), "2011" the gradient step of multiple objectives (Svore,
Volkovs and Burges, WWW 2011, section 5.3), whose Newton baseline is "2010".

How many trees, leaves and documents per leaf, and which learning rate, the papers leave to whoever trains.
"""

from __future__ import annotations

import dataclasses
import math

from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs


@dataclasses.dataclass(frozen=True)
class TreePreset:
    """How a paper boosts trees, in terms of LambdaMART's settings."""

    step: str
    normalise: str
    split: str = "least_squares"
    growth: str = "leafwise"
    anchor: float = 0.0
    max_step: float = math.inf

    def lambda_function(self, sigma: float) -> RankNetWeightPairs:
        """The λ-function of terms that name none: σρ|ΔZ|."""
        return RankNetWeightPairs(sigma)


TREE_PRESETS = {
    "2010": TreePreset(step="newton", normalise="none"),
    "2011": TreePreset(step="gradient", normalise="deviation"),
}
