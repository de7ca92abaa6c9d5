"""XGBoost's own format (``save_model``), JSON or UBJSON, of boosters gbtree and dart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.importing.foreign_trees import (
    ForeignLeaf,
    ForeignSplit,
    ForeignTree,
    as_float32,
    below,
    ensemble,
    member,
    number,
    own_names,
    read_tree,
    whole,
)
from rankforce.importing.xgboost_sets import categories_of, column_of, node_sets
from rankforce.models.tree_ensemble import TreeEnsemble

# how ``base_score`` becomes the number that trees are added to
_IDENTITY = (
    *("rank:", "reg:squarederror", "reg:linear", "reg:squaredlogerror", "reg:pseudohubererror"),
    *("reg:absoluteerror", "reg:quantileerror", "reg:expectileerror", "binary:hinge"),
)
_LOGIT = ("binary:logistic", "binary:logitraw", "reg:logistic")
_LOG = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:")
_COLUMNS = ("left_children", "right_children", "split_indices", "split_conditions", "default_left")


def read_xgboost_model(document: Mapping[str, Any], name: str, form: str) -> TreeEnsemble:
    learner = member(document, "learner", Mapping, name)
    shape = member(learner, "learner_model_param", Mapping, name)
    for key in ("num_class", "num_target"):
        if whole(shape.get(key, "1"), key, name) > 1:
            raise ModelFileError(
                f"{name}: the XGBoost model has several outputs ({key}={shape[key]}): ranking needs one"
            )
    objective = str(member(member(learner, "objective", Mapping, name), "name", str, name))
    features = whole(shape.get("num_feature"), "num_feature", name)
    booster = member(learner, "gradient_booster", Mapping, name)
    kind = booster.get("name")
    weights: Any = None
    if kind == "dart":
        weights = member(booster, "weight_drop", (list, np.ndarray), name)
        booster = member(booster, "gbtree", Mapping, name)
    elif kind != "gbtree":
        raise ModelFileError(f"{name}: the XGBoost model is of the kind {kind!r}: only gbtree and dart are trees")
    model = member(booster, "model", Mapping, name)
    given = member(model, "trees", list, name)
    announced = whole(member(model, "gbtree_model_param", Mapping, name).get("num_trees"), "num_trees", name)
    if len(given) != announced or (weights is not None and len(weights) != announced):
        raise ModelFileError(f"{name}: {announced} trees are announced, there are {len(given)}")
    kept, said = _kept_trees(learner, model, len(given), name)
    scales = [1.0] * kept if weights is None else [number(weight, "weight_drop", name) for weight in weights[:kept]]
    trees = [
        _tree(tree, features, scale, f"{name}: tree {place}")
        for place, (tree, scale) in enumerate(zip(given, scales, strict=False))
    ]
    names = _names(learner, features, name)
    return ensemble(
        trees,
        names,
        name=name,
        categories=categories_of(model, names, name),
        base_score=_base_score(shape.get("base_score", "0"), objective, name),
        source={
            "library": "XGBoost",
            "format": form,
            "version": _version(document.get("version")),
            "objective": objective,
            "trees": said,
            "scores": "the sum of the trees, before any link function",
        },
    )


def _version(parts: Any) -> str:
    return ".".join(str(part)[:10] for part in parts) if isinstance(parts, (list, np.ndarray)) else ""


def _kept_trees(learner: Mapping[str, Any], model: Mapping[str, Any], trees: int, name: str) -> tuple[int, str]:
    """How many trees count: where training stopped early, those up to the best iteration, as in XGBRanker.predict."""
    best = learner.get("attributes", {})
    best = best.get("best_iteration") if isinstance(best, Mapping) else None
    if best is None:
        return trees, f"all {trees}"
    iteration = whole(best, "best_iteration", name)
    given = member(model, "iteration_indptr", (list, np.ndarray), name) if "iteration_indptr" in model else ()
    starts = [whole(start, "iteration_indptr", name, most=trees) for start in given]
    count = starts[iteration + 1] if iteration + 1 < len(starts) else iteration + 1
    if count > trees:
        raise ModelFileError(f"{name}: the best iteration, {iteration}, is beyond the {trees} trees")
    return count, f"{count} of {trees}, up to the best iteration"


def _names(learner: Mapping[str, Any], features: int, name: str) -> tuple[str, ...]:
    names = learner.get("feature_names")
    if names is None or names == []:
        return tuple(str(place) for place in range(1, features + 1))
    if not isinstance(names, list) or len(names) != features or not all(isinstance(one, str) for one in names):
        raise ModelFileError(f"{name}: 'feature_names' must be a list of {features} names")
    return own_names(names, "f{}")


def _base_score(written: Any, objective: str, name: str) -> float:
    """The score before the first tree: XGBoost keeps it as the link function gives it."""
    text = str(written).strip().removeprefix("[").removesuffix("]")
    try:
        value = as_float32(text)
    except ValueError:
        raise ModelFileError(f"{name}: base_score {str(written)[:40]!r} is not one number") from None
    if objective.startswith(_IDENTITY):
        return number(value, "base_score", name)
    if objective in _LOGIT and 0.0 < value < 1.0:
        return -math.log(1.0 / value - 1.0)
    if objective.startswith(_LOG) and value > 0.0:
        return math.log(number(value, "base_score", name))
    raise ModelFileError(f"{name}: what base_score {value:g} means for the objective {objective[:60]!r} is not known")


def _tree(tree: Any, features: int, scale: float, where: str) -> ForeignTree:
    shape = member(tree, "tree_param", Mapping, where)
    nodes = whole(shape.get("num_nodes"), "num_nodes", where, least=1)
    if whole(shape.get("size_leaf_vector", "1"), "size_leaf_vector", where) > 1:
        raise ModelFileError(f"{where}: leaves with several values are not read: ranking needs one")
    sets = node_sets(tree, nodes, where)
    left, right, split_features, conditions, default_left = (column_of(tree, key, nodes, where) for key in _COLUMNS)
    covers = column_of(tree, "sum_hessian", nodes, where) if "sum_hessian" in tree else np.zeros(nodes)
    gains = column_of(tree, "loss_changes", nodes, where) if "loss_changes" in tree else np.zeros(nodes)
    for column in (left, right):
        if not ((column >= -1) & (column < nodes)).all():
            raise ModelFileError(f"{where}: a child outside the tree")
    seen: set[int] = set()

    def describe(place: int) -> ForeignLeaf | ForeignSplit:
        if place < 0 or place in seen:
            raise ModelFileError(f"{where}: a node has one child, or two parents")
        seen.add(place)
        if left[place] == -1 and right[place] == -1:
            return ForeignLeaf(number(conditions[place], "a leaf", where) * scale, float(covers[place]))
        if not 0 <= split_features[place] < features:
            raise ModelFileError(f"{where}: the model has {features} features only")
        if place in sets:  # what is listed goes right, all else left
            return ForeignSplit(
                feature=int(split_features[place]),
                threshold=np.float32(0),
                missing_left=not default_left[place],
                left=int(right[place]),
                right=int(left[place]),
                gain=float(gains[place]),
                words=sets[place],
            )
        return ForeignSplit(
            feature=int(split_features[place]),
            threshold=below(float(conditions[place]), f"{where}, node {place}"),
            missing_left=bool(default_left[place]),
            left=int(left[place]),
            right=int(right[place]),
            gain=float(gains[place]),
        )

    return read_tree(0, describe, most_places=nodes, where=where)
