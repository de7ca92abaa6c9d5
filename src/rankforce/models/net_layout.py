"""Where each weight of a net stands in its flat vector, what it is called, and where training starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from rankforce.data.random_streams import Stream


@dataclasses.dataclass(frozen=True)
class Layout:
    """The weights of a net of one layer (``hidden`` 0) or two, as one vector.

    One layer: score = v·x + c; the vector is [v, c].
    Two layers: score = v·tanh(Wx + b) + c; the vector is [W by rows (hidden, features), b, v, c].
    """

    features: int
    hidden: int

    @property
    def size(self) -> int:
        """How many weights there are."""
        return self.features + 1 if self.hidden == 0 else self.hidden * (self.features + 2) + 1

    @property
    def biases_start(self) -> int:
        """Where the hidden biases begin (two layers)."""
        return self.hidden * self.features

    @property
    def output_start(self) -> int:
        """Where the weights of the output begin; its bias stands at the end."""
        return 0 if self.hidden == 0 else self.hidden * (self.features + 1)

    def hidden_weights(self, weights: np.ndarray) -> np.ndarray:
        """W, a view (hidden, features)."""
        return weights[: self.biases_start].reshape(self.hidden, self.features)

    def hidden_biases(self, weights: np.ndarray) -> np.ndarray:
        """b, a view (hidden,)."""
        return weights[self.biases_start : self.output_start]

    def output_weights(self, weights: np.ndarray) -> np.ndarray:
        """v, a view: (features,) for one layer, (hidden,) for two."""
        return weights[self.output_start : -1]

    def names(self, feature_names: Sequence[str]) -> tuple[str, ...]:
        """What every weight is, in words; hidden units count from 1."""
        if self.hidden == 0:
            return (*(f"output × feature {name!r}" for name in feature_names), "output bias")
        units = range(1, self.hidden + 1)
        return (
            *(f"hidden {unit} × feature {name!r}" for unit in units for name in feature_names),
            *(f"hidden {unit} bias" for unit in units),
            *(f"output × hidden {unit}" for unit in units),
            "output bias",
        )

    def decisive(self, used: np.ndarray) -> np.ndarray:
        """A mask of the weights that can change a ranking: all but the output bias, which moves all documents alike,
        and the weights of features that are not ``used``."""
        mask = np.ones(self.size, dtype=bool)
        mask[-1] = False
        mask[: max(self.hidden, 1) * self.features] = np.tile(used, max(self.hidden, 1))
        return mask

    def start(self, seed: int, restart: int = 0) -> np.ndarray:
        """Random weights, uniform in ±1/√inputs of their layer; biases are 0."""
        draws = 2.0 * Stream.NET_WEIGHTS.uniform(seed, restart, np.arange(self.size)) - 1.0
        draws[: self.biases_start] /= np.sqrt(self.features)
        draws[self.biases_start : self.output_start] = 0.0
        draws[self.output_start :] /= np.sqrt(self.hidden or self.features)
        draws[-1] = 0.0
        return draws
