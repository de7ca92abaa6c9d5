"""Models of Solr's module ltr: MultipleAdditiveTreesModel, LinearModel, NeuralNetworkModel.

Trees: left if x <= threshold + 1e-6f, in float32; every number is a text. Where no threshold undoes the slack, the
feature is multiplied by a power of two (a StandardNormalizer, exact in float32) that makes the slack count for nothing.
"""

from __future__ import annotations

import json
import math
from typing import Any, ClassVar

import numpy as np

from rankforce.export.emulation import Emulated
from rankforce.export.engines import MissingAs
from rankforce.export.folded_nets import folded
from rankforce.export.format import Format, Prepared
from rankforce.export.formats.ltr_linear import named_weights, offset_notes
from rankforce.export.forms import AdditiveTrees, Form, LinearForm, NetForm, ScaledTree, used_features
from rankforce.export.solr_reading import CLASSES, NORMALISER, emulated
from rankforce.export.thresholds import LARGEST, WITHOUT_SLACK, for_solr, written
from rankforce.export.tree_text import nested, refuse_depth

MOST_LEVELS = 900
MOST_SHIFT = 126  # powers of two that float32 can divide by


class Solr(Format):
    NAME: ClassVar[str] = "solr"
    TITLE: ClassVar[str] = "a model of Solr's module ltr"
    SUFFIX: ClassVar[str] = ".json"
    FORMS = (AdditiveTrees, LinearForm, NetForm)

    def refuse(self, form: Form) -> None:
        super().refuse(form)
        if isinstance(form, AdditiveTrees):
            refuse_depth(form, MOST_LEVELS, "Solr")
        elif isinstance(form, NetForm):
            folded(form, self.NAME)

    def keeps_constant(self, form: Form) -> bool:
        return not isinstance(form, LinearForm)

    def write(self, prepared: Prepared, suffix: str) -> bytes:
        form = prepared.form
        if isinstance(form, LinearForm):
            weights = named_weights(prepared)
            return _model("linear", prepared, [{"name": name} for name in weights], json.dumps({"weights": weights}))
        if isinstance(form, NetForm):
            return _net(form, prepared)
        assert isinstance(form, AdditiveTrees)
        return _trees(form, prepared)

    def read(self, written: bytes, prepared: Prepared, suffix: str) -> Emulated:
        return emulated(json.loads(written), prepared.features.columns())

    def notes(self, prepared: Prepared) -> list[str]:
        form = prepared.form
        notes = offset_notes(prepared) if isinstance(form, LinearForm) else []
        if isinstance(form, AdditiveTrees):
            _, lost = _shifts(form)
            if lost:
                notes.append(f"{lost} thresholds cannot be written for Solr's slack of 1e-6: documents beside them err")
            if _says_sides(prepared):
                notes.append('every feature needs "defaultValue": "NaN" in the feature store, and Solr 9.2 or newer')
        return notes


def _model(kind: str, prepared: Prepared, features: list[dict[str, Any]], parameters: str) -> bytes:
    """The document around parameters that are JSON already."""
    head = json.dumps({"class": CLASSES[kind], "name": prepared.name, "features": features}, ensure_ascii=False)
    return f'{head[:-1]}, "params": {parameters}}}\n'.encode()


def _net(form: NetForm, prepared: Prepared) -> bytes:
    net = folded(form, Solr.NAME)
    layers = [
        {
            "matrix": net.hidden_weights.astype(np.float32).tolist(),
            "bias": net.hidden_biases.astype(np.float32).tolist(),
            "activation": "tanh",
        },
        {
            "matrix": [net.output_weights.astype(np.float32).tolist()],
            "bias": [float(np.float32(net.output_bias))],
            "activation": "identity",
        },
    ]
    features = [{"name": prepared.features.name(int(feature))} for feature in net.places]
    return _model("net", prepared, features, json.dumps({"layers": layers}, allow_nan=False))


def _trees(form: AdditiveTrees, prepared: Prepared) -> bytes:
    shifts, _ = _shifts(form)
    features = []
    for feature in used_features(form).tolist() or [int(np.argmax(prepared.features.places >= 0))]:
        entry: dict[str, Any] = {"name": prepared.features.name(feature)}
        if shifts.get(feature):
            entry["norm"] = {"class": NORMALISER, "params": {"avg": "0.0", "std": written(2.0 ** -shifts[feature])}}
        features.append(entry)
    trees = ",\n".join(
        f'{{"weight": "1.0", "root": {_text(tree, prepared, shifts)}}}' for tree in form.with_constant_tree()
    )
    null = '"isNullSameAsZero": false, ' if _says_sides(prepared) else ""
    return _model("trees", prepared, features, f'{{{null}"trees": [\n{trees}\n]}}')


def _says_sides(prepared: Prepared) -> bool:
    """Whether nodes say where a missing value goes: not where it is 0, nor to releases that do not know the words."""
    return prepared.missing == "nan" and prepared.behaviour is MissingAs.SIDE


def _text(tree: ScaledTree, prepared: Prepared, shifts: dict[int, int]) -> str:
    powers = np.array([shifts[feature] for feature in tree.feature.tolist()], dtype=np.int64)
    thresholds, _ = for_solr(_scaled(tree.threshold, powers))
    says_sides = _says_sides(prepared)

    def node(number: int, depth: int) -> tuple[str, str, str]:
        name = json.dumps(prepared.features.name(int(tree.feature[number])), ensure_ascii=False)
        side = f'"missing": "{"left" if tree.missing_left[number] else "right"}", ' if says_sides else ""
        threshold = written(thresholds[number]) if np.isfinite(thresholds[number]) else "Infinity"
        return f'{{"feature": {name}, "threshold": "{threshold}", {side}"left": ', ', "right": ', "}"

    def leaf(number: int, depth: int) -> str:
        return f'{{"value": "{written(np.float32(tree.leaf_value[number]))}"}}'

    return nested(tree, node, leaf)


def _scaled(thresholds: np.ndarray, powers: np.ndarray) -> np.ndarray:
    """Thresholds times powers of two; the largest number, which sends all known values left, becomes infinity."""
    with np.errstate(over="ignore"):
        scaled = np.ldexp(thresholds, powers).astype(np.float32)
    return np.where((thresholds == LARGEST) & (powers > 0), np.float32(np.inf), scaled)


def _shifts(form: AdditiveTrees) -> tuple[dict[int, int], int]:
    """(by feature the power of two to multiply it by, how many thresholds stay inexact)."""
    features = np.concatenate([np.empty(0, dtype=np.int32), *(tree.feature for tree in form.trees)])
    thresholds = np.concatenate([np.empty(0, dtype=np.float32), *(tree.threshold for tree in form.trees)])
    shifts, lost = {}, 0
    for feature in np.unique(features).tolist():
        mine = thresholds[features == feature]
        shifts[feature] = 0
        if for_solr(mine)[1].all():
            continue
        size = np.abs(mine[(mine != 0) & (mine != LARGEST)]).astype(np.float64)
        wanted = math.ceil(math.log2(WITHOUT_SLACK / size.min()))
        room = math.floor(math.log2(float(LARGEST) / size.max())) - 1
        shifts[feature] = max(0, min(wanted, room, MOST_SHIFT))
        lost += int(np.count_nonzero(~for_solr(_scaled(mine, np.full(len(mine), shifts[feature])))[1]))
    return shifts, lost
