"""XGBoost's own model file, text (``.json``) or binary (``.ubj``): what ``Booster.load_model`` reads.

Elastic's own learning to rank takes it, too, by way of eland.
"""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

import numpy as np

from rankforce.data.categories import MOST_CATEGORIES
from rankforce.errors import ModelFileError, SettingsError
from rankforce.export.emulation import EmulatedTrees, less, truncated_codes
from rankforce.export.engines import Reader
from rankforce.export.format import Format, Prepared
from rankforce.export.forms import AdditiveTrees
from rankforce.export.xgboost_document import document_of, parsed_trees
from rankforce.files import ubjson
from rankforce.models.json_text import refuse_constant


class Xgboost(Format):
    NAME: ClassVar[str] = "xgboost"
    TITLE: ClassVar[str] = "XGBoost's model file, .json or .ubj"
    SUFFIX: ClassVar[str] = ".json"
    SETS: ClassVar[tuple[str, ...]] = ("xgboost", "treelite")

    def suffix(self, path: str) -> str:
        found = path[-4:].lower() if path.lower().endswith(".ubj") else path[-5:].lower()
        if found not in (".json", ".ubj"):
            raise SettingsError(f"{path}: XGBoost knows its files by their ending: .json or .ubj")
        return found

    def misreading(self, name: str, reader: Reader | None) -> str | None:
        if re.search(r"[\[\]<]", name):
            return "XGBoost refuses names with [, ] or <"
        if reader is not None and reader.engine == "elastic" and re.fullmatch("f[0-9]+", name):
            return f"eland takes this name for column {name[1:]}"
        return None

    def write(self, prepared: Prepared, suffix: str) -> bytes:
        assert isinstance(prepared.form, AdditiveTrees)
        trees = prepared.form.trees or prepared.form.with_constant_tree()
        start = prepared.form.constant if prepared.form.trees else 0.0
        types = ["float" if listed is None else "c" for listed in prepared.categories]
        document = document_of(trees, prepared.features, start, types)
        return ubjson.to_ubjson(document) if suffix == ".ubj" else in_json(document)

    def read(self, written: bytes, prepared: Prepared, suffix: str) -> EmulatedTrees:
        document = ubjson.parse(written) if suffix == ".ubj" else json.loads(written, parse_constant=refuse_constant)
        learner = document["learner"]
        if learner["learner_model_param"]["num_feature"] != str(len(learner["feature_names"])):
            raise ModelFileError("num_feature is not the number of features")
        start = float(np.float32(float(learner["learner_model_param"]["base_score"])))
        trees = parsed_trees(document, prepared.features, "split_conditions")
        return EmulatedTrees(trees, less, prepared.behaviour, np.float32, start, _codes)


def _codes(values: np.ndarray) -> np.ndarray:
    """The fraction is cut off; what is negative, or beyond 2^24, is no category."""
    return np.where((values >= 0) & (values < MOST_CATEGORIES), truncated_codes(values), -1)


def in_json(document: Any) -> bytes:
    """A document with arrays as JSON; float32 as the shortest text of the double."""
    return (json.dumps(document, default=_plain, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _plain(value: Any) -> Any:
    assert isinstance(value, np.ndarray)
    return value.tolist()
