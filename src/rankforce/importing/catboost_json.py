"""CatBoost's JSON (``save_model(..., format="json")``) of numeric features: symmetric trees and others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankforce.errors import ModelFileError
from rankforce.importing.foreign_trees import (
    ForeignLeaf,
    ForeignSplit,
    ForeignTree,
    as_float32,
    at_most,
    ensemble,
    member,
    number,
    read_tree,
    whole,
)
from rankforce.importing.lightgbm_json import MOST_PLACES
from rankforce.models.tree_ensemble import TreeEnsemble

_MISSING_LEFT = {"AsFalse": True, "AsIs": True, "AsTrue": False}  # NaN > border is false
_DEEPEST = 16  # CatBoost's limit


class FloatFeatures:
    """The features of a file: CatBoost counts numeric ones on their own, and among all."""

    def __init__(self, info: Mapping[str, Any], name: str) -> None:
        if info.get("categorical_features") or info.get("text_features") or info.get("embedding_features"):
            raise ModelFileError(
                f"{name}: the CatBoost model has features that are not numeric: encode them as numbers"
            )
        given = member(info, "float_features", list, name)
        self.places: list[int] = []
        self.missing_left: list[bool] = []
        names: dict[int, str] = {}
        for feature in given:
            place = whole(member(feature, "flat_feature_index", int, name), "flat_feature_index", name)
            treatment = feature.get("nan_value_treatment", "AsIs")
            if not isinstance(treatment, str) or treatment not in _MISSING_LEFT or place in names:
                raise ModelFileError(f"{name}: a feature is described twice, or treats missing values by {treatment!r}")
            self.places.append(place)
            self.missing_left.append(_MISSING_LEFT[treatment])
            names[place] = str(feature.get("feature_id") or "")
        if sorted(names) != list(range(len(names))):
            raise ModelFileError(
                f"{name}: the CatBoost model has features that are not numeric: encode them as numbers"
            )
        known = [names[place] for place in range(len(names))]
        numbered = not all(known) or known == [str(place) for place in range(len(known))]
        self.names = [str(place) for place in range(1, len(known) + 1)] if numbered else known

    def split(self, split: Any, left: Any, right: Any, where: str) -> ForeignSplit:
        """``x > border`` goes right."""
        kind = member(split, "split_type", str, where)
        if kind != "FloatFeature":
            raise ModelFileError(f"{where}: splits of the type {kind!r} are not read: encode categories as numbers")
        place = whole(split.get("float_feature_index"), "float_feature_index", where, most=len(self.places) - 1)
        # borders are float32 numbers, written with the digits of a float64
        border = as_float32(number(split.get("border"), "border", where))
        return ForeignSplit(self.places[place], at_most(border, where), self.missing_left[place], left, right)


def read_catboost_json(document: Mapping[str, Any], name: str) -> TreeEnsemble:
    features = FloatFeatures(member(document, "features_info", Mapping, name), name)
    key = "oblivious_trees" if "oblivious_trees" in document else "trees"
    read = _symmetric_tree if key == "oblivious_trees" else _tree
    trees = [
        read(tree, features, f"{name}: tree {place}") for place, tree in enumerate(member(document, key, list, name))
    ]
    scale, bias = _scale_and_bias(document.get("scale_and_bias", [1, [0]]), name)
    return ensemble(
        trees,
        features.names,
        name=name,
        scale=scale,
        base_score=bias,
        source={
            "library": "CatBoost",
            "format": "JSON",
            "trees": "symmetric" if key == "oblivious_trees" else "not symmetric",
            "scores": "the sum of the trees, before any link function",
        },
    )


def _scale_and_bias(given: Any, name: str) -> tuple[float, float]:
    if not isinstance(given, list) or len(given) != 2:
        raise ModelFileError(f"{name}: 'scale_and_bias' must be two entries")
    biases = given[1] if isinstance(given[1], list) else [given[1]]
    if len(biases) > 1:
        raise ModelFileError(f"{name}: the CatBoost model has {len(biases)} outputs: ranking needs one")
    return number(given[0], "the scale", name), number(biases[0], "the bias", name) if biases else 0.0


def _symmetric_tree(tree: Any, features: FloatFeatures, where: str) -> ForeignTree:
    """One test per level: test k decides bit k of the leaf."""
    splits = member(tree, "splits", (list, type(None)), where) or []
    values = member(tree, "leaf_values", list, where)
    weights = tree.get("leaf_weights") or [0] * len(values)
    if (
        not isinstance(weights, list)
        or len(splits) > _DEEPEST
        or len(values) != 2 ** len(splits)
        or len(weights) != len(values)
    ):
        raise ModelFileError(f"{where}: {len(values)} leaf values do not fit {len(splits)} splits of one output")

    def describe(place: tuple[int, int]) -> ForeignLeaf | ForeignSplit:
        level, leaf = place
        if level == 0:
            value, weight = number(values[leaf], "a leaf", where), number(weights[leaf], "a weight", where)
            return ForeignLeaf(value, weight, leaf)
        return features.split(splits[level - 1], (level - 1, leaf), (level - 1, leaf | 1 << (level - 1)), where)

    return read_tree((len(splits), 0), describe, most_places=2 * len(values), where=where)


def _tree(root: Any, features: FloatFeatures, where: str) -> ForeignTree:
    def describe(place: Any) -> ForeignLeaf | ForeignSplit:
        if not isinstance(place, Mapping):
            raise ModelFileError(f"{where}: a node must be an object")
        if "split" in place:
            return features.split(place["split"], place.get("left"), place.get("right"), where)
        weight = number(place.get("weight", 0.0), "a weight", where)
        return ForeignLeaf(number(place.get("value"), "a leaf value (one output)", where), weight)

    return read_tree(root, describe, most_places=MOST_PLACES, where=where)
