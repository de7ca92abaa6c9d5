"""Solr's models read back as Solr reads them, and scored in its float32."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.export.emulation import Emulated, EmulatedTree, EmulatedTrees, less_or_equal
from rankforce.export.engines import MissingAs
from rankforce.export.formats.ltr_linear import EmulatedLinear
from rankforce.export.thresholds import SOLR_SLACK

CLASSES = {
    "trees": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
    "linear": "org.apache.solr.ltr.model.LinearModel",
    "net": "org.apache.solr.ltr.model.NeuralNetworkModel",
}
NORMALISER = "org.apache.solr.ltr.norm.StandardNormalizer"


def emulated(document: Any, columns: dict[str, int]) -> Emulated:
    """A model document of Solr's; ``columns``: the model's feature of each name."""
    if document.keys() != {"class", "name", "features", "params"}:
        raise ModelFileError(f"Solr does not know all of {', '.join(document)}")
    places, divisors = _features(document["features"], columns)
    kind = next((kind for kind, name in CLASSES.items() if name == document["class"]), None)
    parameters = document["params"]
    if kind == "linear":
        if parameters.keys() != {"weights"} or list(parameters["weights"]) != list(places):
            raise ModelFileError("every feature needs a weight")
        weights = np.array(list(parameters["weights"].values()), dtype=np.float32)
        return EmulatedLinear(np.array(list(places.values()), dtype=np.int64), weights)
    if kind == "net":
        return EmulatedNet(np.array(list(places.values())), tuple(_layer(layer) for layer in parameters["layers"]))
    if kind != "trees" or not parameters.keys() <= {"isNullSameAsZero", "trees"}:
        raise ModelFileError(f"{document['class']} is not known, or has other parameters")
    as_zero = parameters.get("isNullSameAsZero", True)
    if not isinstance(as_zero, bool):
        raise ModelFileError("isNullSameAsZero must be true or false")
    trees = tuple(_tree(tree, places, as_zero) for tree in parameters["trees"])
    missing = MissingAs.ZERO if as_zero else MissingAs.SIDE
    return NormalisedTrees(trees, less_or_equal, missing, np.float32, divisors=divisors)


def _features(listed: Any, columns: dict[str, int]) -> tuple[dict[str, int], dict[int, float]]:
    """(the model's feature of each, by name; what Solr divides values of some by)."""
    places: dict[str, int] = {}
    divisors: dict[int, float] = {}
    for entry in listed:
        if not entry.keys() <= {"name", "norm"} or entry["name"] not in columns or entry["name"] in places:
            raise ModelFileError(f"a feature of the model is not right: {entry}")
        places[entry["name"]] = columns[entry["name"]]
        if "norm" in entry:
            if entry["norm"]["class"] != NORMALISER or entry["norm"]["params"]["avg"] != "0.0":
                raise ModelFileError(f"a normaliser is not right: {entry}")
            divisors[columns[entry["name"]]] = float(entry["norm"]["params"]["std"])
    return places, divisors


def _tree(tree: Any, places: dict[str, int], as_zero: bool) -> EmulatedTree:
    if tree.keys() != {"weight", "root"} or tree["weight"] != "1.0":
        raise ModelFileError("a tree has a weight and a root")
    wanted = {"feature", "threshold", "left", "right"} | (set() if as_zero else {"missing"})
    nodes: list[Any] = []
    values: list[float] = []
    waiting: list[tuple[Any, int, int]] = [(tree["root"], -1, 0)]
    while waiting:
        entry, parent, side = waiting.pop()
        if entry.keys() == {"value"}:
            number = ~len(values)
            values.append(_number(entry["value"]))
        elif entry.keys() == wanted:
            number = len(nodes)
            threshold = np.float32(_number(entry["threshold"])) + SOLR_SLACK
            nodes.append([places[entry["feature"]], threshold, entry.get("missing") == "left", 0, 0])
            waiting += [(entry["right"], number, 4), (entry["left"], number, 3)]
        else:
            raise ModelFileError(f"a node has {', '.join(sorted(entry))}, not {', '.join(sorted(wanted))}")
        if parent >= 0:
            nodes[parent][side] = number
    return EmulatedTree.of([tuple(node) for node in nodes], values, np.float32)


def _number(text: Any) -> float:
    if not isinstance(text, str):
        raise ModelFileError(f"numbers in trees are texts, not {text!r}")
    return float(text)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class NormalisedTrees(EmulatedTrees):
    """Trees on values that Solr has divided."""

    divisors: dict[int, float]

    def leaves(self, number: int, rows: np.ndarray) -> np.ndarray:
        return super().leaves(number, self._divided(rows))

    def scores(self, rows: np.ndarray) -> np.ndarray:
        plain = dataclasses.replace(self, divisors={})
        return super(NormalisedTrees, plain).scores(self._divided(rows))

    def _divided(self, rows: np.ndarray) -> np.ndarray:
        if not self.divisors:
            return rows
        divided = rows.astype(np.float32)
        with np.errstate(over="ignore"):
            for feature, divisor in self.divisors.items():
                divided[:, feature] /= np.float32(divisor)
        return divided


@dataclasses.dataclass(frozen=True, eq=False)
class EmulatedNet(Emulated):
    """Layers in float32: a bias, plus products one after the other; a missing value is 0."""

    features: np.ndarray
    layers: tuple[tuple[np.ndarray, np.ndarray, str], ...]

    def scores(self, rows: np.ndarray) -> np.ndarray:
        values = np.nan_to_num(rows[:, self.features].astype(np.float32), nan=0.0)
        for matrix, bias, activation in self.layers:
            total = np.tile(bias, (len(rows), 1))
            for column in range(matrix.shape[1]):
                total += matrix[:, column] * values[:, column : column + 1]
            values = np.tanh(total.astype(np.float64)).astype(np.float32) if activation == "tanh" else total
        return values[:, 0].astype(np.float64)


def _layer(layer: Any) -> tuple[np.ndarray, np.ndarray, str]:
    if layer.keys() != {"matrix", "bias", "activation"} or layer["activation"] not in ("tanh", "identity"):
        raise ModelFileError("a layer has a matrix, a bias and an activation")
    numbers = [number for row in [*layer["matrix"], layer["bias"]] for number in row]
    if not all(type(number) is float for number in numbers):
        raise ModelFileError("Solr reads weights of nets as doubles: 1.0, not 1")
    return np.array(layer["matrix"], dtype=np.float32), np.array(layer["bias"], dtype=np.float32), layer["activation"]
