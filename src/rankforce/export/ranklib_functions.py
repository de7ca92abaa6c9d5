"""Linear functions and nets in RankLib's text, and both read back: summed in double, missing values 0.

The plugins round the result to float32, and so is it here.

A RankNet of RankLib is made of logistic units, the output too: tanh(u) = 2σ(2u) − 1, and the score becomes σ(a·s + b)
with a and b so that it lies between σ(−12) and σ(0), where float32 tells scores apart best. The order is the model's.
"""

from __future__ import annotations

import dataclasses
import re

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.export.emulation import Emulated
from rankforce.export.feature_sets import FeatureSet
from rankforce.export.folded_nets import FoldedNet
from rankforce.export.forms import LinearForm
from rankforce.export.thresholds import written
from rankforce.models.expected_grade import logistic

LINEAR = "## Linear Regression"
NET = "## RankNet"
LOWEST_INPUT = -12.0  # of the output unit; the highest is 0


def linear_text(form: LinearForm, features: FeatureSet) -> str:
    """The constant has the number 0."""
    used = sorted(np.flatnonzero(form.weights).tolist(), key=features.ordinal)
    pairs = [f"0:{written(form.constant)}"]
    pairs += [f"{features.ordinal(feature)}:{written(form.weights[feature])}" for feature in used]
    return f"{LINEAR}\n{' '.join(pairs)}\n"


def squeeze(net: FoldedNet) -> tuple[float, float]:
    """(a, b): the output unit's input is a·score + b."""
    slope = -LOWEST_INPUT / (2.0 * net.reach) if net.reach > 0 else 1.0
    return slope, -slope * (net.output_bias + net.reach)


def net_text(net: FoldedNet, features: FeatureSet) -> str:
    """Weights by the unit that they come from: inputs and the bias, then hidden units."""
    slope, start = squeeze(net)
    hidden = len(net.hidden_biases)
    outputs = 2.0 * slope * net.output_weights
    constant = slope * (net.output_bias - float(net.output_weights.sum())) + start
    lines = [NET, " ".join(str(features.ordinal(int(feature))) for feature in net.places), "1", str(hidden)]
    for number, column in enumerate(2.0 * net.hidden_weights.T):
        lines.append(" ".join(["0", str(number), *map(written, column)]))
    lines.append(" ".join(["0", str(len(net.places)), *map(written, 2.0 * net.hidden_biases), written(constant)]))
    lines += [f"1 {number} {written(weight)}" for number, weight in enumerate(outputs)]
    return "\n".join(lines) + "\n"


@dataclasses.dataclass(frozen=True, eq=False)
class RanklibLinear(Emulated):
    """constant + Σ weight·x."""

    constant: float
    features: list[int]
    weights: list[float]

    def scores(self, rows: np.ndarray) -> np.ndarray:
        total = np.full(len(rows), self.constant)
        for feature, weight in zip(self.features, self.weights, strict=True):
            total += weight * _known(rows[:, feature])
        return total.astype(np.float32).astype(np.float64)


@dataclasses.dataclass(frozen=True, eq=False)
class RanklibNet(Emulated):
    """Logistic units; sums in the order of their links, the bias last."""

    features: list[int]
    hidden: np.ndarray  # (inputs and bias, hidden)
    output: np.ndarray  # (hidden and bias,)

    def scores(self, rows: np.ndarray) -> np.ndarray:
        units = [_known(rows[:, feature]) for feature in self.features] + [np.ones(len(rows))]
        inner = []
        for column in self.hidden.T:
            total = np.zeros(len(rows))
            for weight, unit in zip(column, units, strict=True):
                total += unit * weight
            inner.append(logistic(total))
        total = np.zeros(len(rows))
        for weight, unit in zip(self.output, [*inner, np.ones(len(rows))], strict=True):
            total += unit * weight
        return logistic(total).astype(np.float32).astype(np.float64)


def _known(column: np.ndarray) -> np.ndarray:
    return np.nan_to_num(column.astype(np.float32), nan=0.0).astype(np.float64)


def parsed_linear(text: str, feature_of: dict[int, int]) -> RanklibLinear:
    match = re.fullmatch(rf"{LINEAR}\n0:(\S+)((?: [0-9]+:\S+)*)\n", text)
    if match is None:
        raise ModelFileError("this is not RankLib's Linear Regression")
    pairs = [pair.split(":") for pair in match[2].split()]
    return RanklibLinear(
        float(match[1]), [_feature(number, feature_of) for number, _ in pairs], [float(weight) for _, weight in pairs]
    )


def parsed_net(text: str, feature_of: dict[int, int]) -> RanklibNet:
    header, features, layers, hidden, *rest = text.removesuffix("\n").split("\n")
    columns = [_feature(number, feature_of) for number in features.split(" ")]
    units, inputs = int(hidden), len(columns) + 1
    if header != NET or layers != "1" or len(rest) != inputs + units:
        raise ModelFileError("this is not RankLib's RankNet with one hidden layer")
    rows = [line.split(" ") for line in rest]
    named = [("0", str(number)) for number in range(inputs)] + [("1", str(number)) for number in range(units)]
    widths = [units] * (inputs - 1) + [units + 1] + [1] * units
    if [(row[0], row[1]) for row in rows] != named or [len(row) - 2 for row in rows] != widths:
        raise ModelFileError("the weights of the net are not in RankLib's order")
    numbers = [[float(weight) for weight in row[2:]] for row in rows]
    output = [row[0] for row in numbers[inputs:]] + [numbers[inputs - 1][-1]]
    return RanklibNet(columns, np.array([row[:units] for row in numbers[:inputs]]), np.array(output))


def _feature(number: str, feature_of: dict[int, int]) -> int:
    if int(number) not in feature_of:
        raise ModelFileError(f"there is no feature {number}")
    return feature_of[int(number)]
