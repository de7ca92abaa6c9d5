"""LightGBM's JSON (``dump_model``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankforce.data.categories import Categories
from rankforce.errors import ModelFileError
from rankforce.importing.foreign_categories import named_categories, pandas_features, set_of_codes
from rankforce.importing.foreign_trees import (
    ForeignLeaf,
    ForeignSplit,
    ForeignTree,
    member,
    number,
    own_names,
    read_tree,
    whole,
)
from rankforce.importing.lightgbm_splits import MISSING_TYPES, LightGBMSetSplit, LightGBMSplit, Within
from rankforce.importing.lightgbm_text import lightgbm_ensemble, refuse_outputs
from rankforce.models.tree_ensemble import TreeEnsemble

MOST_PLACES = 1 << 22


def read_lightgbm_json(document: Mapping[str, Any], name: str) -> TreeEnsemble:
    refuse_outputs({key: document.get(key, 1) for key in ("num_class", "num_tree_per_iteration")}, None, name)
    names = member(document, "feature_names", list, name)
    features = whole(document.get("max_feature_idx"), "max_feature_idx", name) + 1
    if len(names) != features or not all(isinstance(one, str) for one in names):
        raise ModelFileError(f"{name}: {len(names)} feature names for {features} features")
    trees = [
        _tree(info, features, f"{name}: tree {place}")
        for place, info in enumerate(member(document, "tree_info", list, name))
    ]
    names = list(own_names(names, "Column_{}"))
    return lightgbm_ensemble(
        trees,
        names,
        name,
        "JSON",
        str(document.get("version", "")),
        str(document.get("objective", "")),
        document.get("average_output") is True,
        _categories(document, names, name),
    )


def _categories(document: Mapping[str, Any], names: list[str], name: str) -> Categories:
    """The categories that pandas had, where the file says of which features they are."""
    infos = document.get("feature_infos", {})
    given = document.get("feature_names", [])
    if not isinstance(infos, Mapping) or document.get("pandas_categorical") is None:
        return {}
    found: dict[int, list[int]] = {}
    from_zero: list[Any] = []
    for place, feature in enumerate(given):
        info = infos.get(feature, {})
        codes = info.get("values") if isinstance(info, Mapping) else None
        if isinstance(codes, list) and codes:
            found[place] = [whole(code, "feature_infos", name, least=-1) for code in codes]
        elif isinstance(info, Mapping) and info.get("min_value") == 0:
            from_zero.append(info.get("max_value"))
    features = pandas_features(document["pandas_categorical"], None, found, from_zero, name)
    if features is None:
        return {}
    return named_categories(document["pandas_categorical"], [names[place] for place in features], name)


def _tree(info: Any, features: int, where: str) -> ForeignTree:
    root = member(info, "tree_structure", Mapping, where)
    leaves_seen: set[int] = set()

    def describe(place: Any) -> ForeignLeaf | ForeignSplit:
        if isinstance(place, Within):
            return place.split.inside(place.stage)
        if not isinstance(place, Mapping):
            raise ModelFileError(f"{where}: a node must be an object")
        if "split_feature" in place:
            return _split(place, features, where).as_ours()
        if "leaf_coeff" in place or "leaf_features" in place:
            raise ModelFileError(f"{where}: its leaves are linear functions, which are not read")
        leaf = whole(place.get("leaf_index", 0), "leaf_index", where)
        again = leaf in leaves_seen
        leaves_seen.add(leaf)
        weight = 0.0 if again else number(place.get("leaf_count", 0), "leaf_count", where)
        return ForeignLeaf(number(place.get("leaf_value"), "leaf_value", where), weight, None if again else leaf)

    tree = read_tree(root, describe, most_places=MOST_PLACES, where=where)
    announced = whole(info.get("num_leaves", len(leaves_seen)), "num_leaves", where)
    if announced != len(leaves_seen):
        raise ModelFileError(f"{where}: {announced} leaves are announced, there are {len(leaves_seen)}")
    return tree


def _split(node: Mapping[str, Any], features: int, where: str) -> LightGBMSplit | LightGBMSetSplit:
    where = f"{where}, node {node.get('split_index')}"
    if node.get("decision_type") == "==":
        return LightGBMSetSplit(
            feature=whole(node.get("split_feature"), "split_feature", where, most=features - 1),
            words=set_of_codes(member(node, "threshold", str, where).split("||"), where),
            left=node.get("left_child"),
            right=node.get("right_child"),
            gain=number(node.get("split_gain", 0.0), "split_gain", where),
        )
    if node.get("decision_type") != "<=":
        raise ModelFileError(
            f"{where}: splits by {node.get('decision_type')!r} are not read, only those by '<=' and '=='"
        )
    missing = node.get("missing_type")
    if missing not in MISSING_TYPES:
        raise ModelFileError(f"{where}: there is no missing type {missing!r}")
    return LightGBMSplit(
        feature=whole(node.get("split_feature"), "split_feature", where, most=features - 1),
        threshold=number(node.get("threshold"), "threshold", where),
        missing_type=MISSING_TYPES[missing],
        default_left=member(node, "default_left", bool, where),
        left=node.get("left_child"),
        right=node.get("right_child"),
        gain=number(node.get("split_gain", 0.0), "split_gain", where),
        where=where,
    )
