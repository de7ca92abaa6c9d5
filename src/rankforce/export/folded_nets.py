"""Nets whose scaling is folded into their weights: layers on plain features, as engines compute them."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce.errors import SettingsError
from rankforce.export.forms import NetForm
from rankforce.models.net_scaling import NO_VARIATION
from rankforce.remedies import Setting


@dataclasses.dataclass(frozen=True, eq=False)
class FoldedNet:
    """score = v·tanh(Wx + b) + c.

    places : int64, the model's feature of each column of W
    """

    places: np.ndarray
    hidden_weights: np.ndarray  # W, float64 (hidden, features)
    hidden_biases: np.ndarray  # b
    output_weights: np.ndarray  # v
    output_bias: float  # c

    @property
    def reach(self) -> float:
        """How far a score can lie from c: tanh stays within ±1."""
        return float(np.abs(self.output_weights).sum())


def folded(form: NetForm, target: str) -> FoldedNet:
    """z = (x − centre)/scale folded into W and b; logarithms cannot be."""
    net = form.net
    if net.scaling.kind == "log1p":
        raise SettingsError(
            f"the net takes logarithms of its features, and {target!r} has none: export as 'onnx', take the logarithms "
            "in the engine's features, or train with ",
            Setting("scaling", "standard"),
        )
    layout, weights = net.layout, net.weights
    scale = net.scaling.scale
    inner = np.where(scale == NO_VARIATION, 0.0, layout.hidden_weights(weights) / scale)
    biases = layout.hidden_biases(weights) - inner @ net.scaling.centre
    return FoldedNet(form.places, inner, biases, layout.output_weights(weights), float(weights[-1]))
