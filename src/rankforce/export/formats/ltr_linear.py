"""``model/linear`` of the plugins: a weight per feature. There is no constant: it would change no order."""

from __future__ import annotations

import dataclasses
import json
from typing import ClassVar

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.export.emulation import Emulated
from rankforce.export.format import Format, Prepared
from rankforce.export.forms import Form, LinearForm
from rankforce.models.json_text import refuse_constant


class LtrLinear(Format):
    NAME: ClassVar[str] = "ltr-linear"
    TITLE: ClassVar[str] = "model/linear of the OpenSearch and Elasticsearch plugins"
    SUFFIX: ClassVar[str] = ".json"
    FORMS = (LinearForm,)

    def keeps_constant(self, form: Form) -> bool:
        return False

    def write(self, prepared: Prepared, suffix: str) -> bytes:
        return (json.dumps(named_weights(prepared), ensure_ascii=False, allow_nan=False) + "\n").encode()

    def read(self, written: bytes, prepared: Prepared, suffix: str) -> EmulatedLinear:
        weights = json.loads(written, parse_constant=refuse_constant)
        place_of = {name: place for place, name in enumerate(prepared.features.names)}
        if not isinstance(weights, dict) or not weights.keys() <= place_of.keys():
            raise ModelFileError("the plugins read an object of features that they know")
        columns = prepared.features.columns()
        in_order = sorted(weights, key=place_of.__getitem__)
        return EmulatedLinear(
            np.array([columns[name] for name in in_order], dtype=np.int64),
            np.array([weights[name] for name in in_order], dtype=np.float32),
        )

    def notes(self, prepared: Prepared) -> list[str]:
        return offset_notes(prepared)


def offset_notes(prepared: Prepared) -> list[str]:
    """That scores differ from the model's by a constant, if they do."""
    if not prepared.offset:
        return []
    return [f"scores are the model's {prepared.offset:+.6g}, in every document: the format has no constant"]


def named_weights(prepared: Prepared) -> dict[str, float]:
    """Weights that are not 0, as float32, by the engine's names and in its order."""
    assert isinstance(prepared.form, LinearForm)
    weights = prepared.form.weights.astype(np.float32)
    features = sorted(np.flatnonzero(weights).tolist(), key=prepared.features.ordinal)
    return {prepared.features.name(feature): float(weights[feature]) for feature in features}


@dataclasses.dataclass(frozen=True, eq=False)
class EmulatedLinear(Emulated):
    """Σ weight·x in float32, feature after feature; a missing value is 0."""

    features: np.ndarray
    weights: np.ndarray

    def scores(self, rows: np.ndarray) -> np.ndarray:
        total = np.zeros(len(rows), dtype=np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for feature, weight in zip(self.features, self.weights, strict=True):
                total += weight * np.nan_to_num(rows[:, feature].astype(np.float32), nan=0.0)
        return total.astype(np.float64)
