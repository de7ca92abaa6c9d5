"""``model/xgboost+json+raw`` of the plugins: XGBoost's model file in JSON, of which they read less than XGBoost.

Leaves are base weights and the base score is not read, so that a constant is a tree. Some releases find features by
their names, others by their places in the feature set: with ``features`` given, both are the same.
"""

from __future__ import annotations

import json
from typing import ClassVar

import numpy as np

from rankforce.displayed_text import displayed
from rankforce.export.emulation import EmulatedTrees, less
from rankforce.export.format import Format, Prepared
from rankforce.export.formats.xgboost import in_json
from rankforce.export.forms import AdditiveTrees
from rankforce.export.xgboost_document import document_of, parsed_trees
from rankforce.models.json_text import refuse_constant


class LtrXgboostRaw(Format):
    NAME: ClassVar[str] = "ltr-xgboost-raw"
    TITLE: ClassVar[str] = "model/xgboost+json+raw of the OpenSearch and Elasticsearch plugins"
    SUFFIX: ClassVar[str] = ".json"

    def write(self, prepared: Prepared, suffix: str) -> bytes:
        assert isinstance(prepared.form, AdditiveTrees)
        return in_json(document_of(prepared.form.with_constant_tree(), prepared.features, 0.0))

    def read(self, written: bytes, prepared: Prepared, suffix: str) -> EmulatedTrees:
        document = json.loads(written, parse_constant=refuse_constant)
        trees = parsed_trees(document, prepared.features, "base_weights")
        return EmulatedTrees(trees, less, prepared.behaviour, np.float32)

    def notes(self, prepared: Prepared) -> list[str]:
        names = prepared.features.names
        listed = ", ".join(map(displayed, names[:3])) + (", ..." if len(names) > 3 else "")
        return [f"the feature set must have exactly these features in this order: {listed}: some releases go by it"]
