"""LightGBM's JSON, as ``Booster.dump_model()`` gives it, for programs that read such dumps.

They go left if x <= threshold, in double. Vespa reads it as x < threshold: for it there is the format "vespa".
"""

from __future__ import annotations

import json
from typing import ClassVar

import numpy as np

from rankforce.export.emulation import EmulatedTrees, less_or_equal, truncated_codes
from rankforce.export.engines import Reader
from rankforce.export.format import Format, Prepared
from rankforce.export.forms import AdditiveTrees, Form
from rankforce.export.lightgbm_trees import (
    MOST_LEVELS,
    json_document,
    read_document,
    refused_name,
    with_lightgbms_sets,
    without_start,
)
from rankforce.export.thresholds import for_less_or_equal_in_double
from rankforce.export.tree_text import refuse_depth
from rankforce.models.json_text import refuse_constant


class LightgbmJson(Format):
    NAME: ClassVar[str] = "lightgbm-json"
    TITLE: ClassVar[str] = "LightGBM's dump as JSON"
    SUFFIX: ClassVar[str] = ".json"
    DOUBLE: ClassVar[bool] = True
    SETS: ClassVar[tuple[str, ...]] = ("lightgbm",)

    def suited(self, form: Form) -> tuple[Form, tuple[str, ...]]:
        return with_lightgbms_sets(form)

    def refuse(self, form: Form) -> None:
        super().refuse(form)
        if isinstance(form, AdditiveTrees):
            refuse_depth(form, MOST_LEVELS, "most programs")

    def misreading(self, name: str, reader: Reader | None) -> str | None:
        return refused_name(name)

    def write(self, prepared: Prepared, suffix: str) -> bytes:
        return json_document(prepared, for_less_or_equal_in_double)

    def read(self, written: bytes, prepared: Prepared, suffix: str) -> EmulatedTrees:
        assert isinstance(prepared.form, AdditiveTrees)
        document = json.loads(written, parse_constant=refuse_constant)
        trees = read_document(document, prepared.features.columns(), np.float64)
        mine, start = without_start(trees, prepared.form)
        return EmulatedTrees(mine, less_or_equal, prepared.behaviour, np.float64, start, truncated_codes)
