"""XGBoost's dump as JSON (``dump_model(..., dump_format="json")``): an array of trees, without ``base_score``.

It names the features that it splits by, and no others. ``f0``, ``f1``, ... are columns of a matrix.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.importing.foreign_categories import set_of_codes
from rankforce.importing.foreign_trees import (
    ForeignLeaf,
    ForeignSplit,
    as_float32,
    below,
    ensemble,
    member,
    number,
    read_tree,
    whole,
)
from rankforce.importing.lightgbm_json import MOST_PLACES
from rankforce.models.tree_ensemble import TreeEnsemble

_COLUMN = re.compile(r"f(0|[1-9][0-9]{0,5})")


def looks_like_dump(document: Any) -> bool:
    return (
        isinstance(document, list)
        and bool(document)
        and all(isinstance(tree, Mapping) and "nodeid" in tree for tree in document)
    )


def read_xgboost_dump(document: list[Any], name: str) -> TreeEnsemble:
    place_of: dict[str, int] = {}
    trees = []
    for place, root in enumerate(document):
        where = f"{name}: tree {place}"

        def describe(node: Any, where: str = where) -> ForeignLeaf | ForeignSplit:
            if not isinstance(node, Mapping):
                raise ModelFileError(f"{where}: a node must be an object")
            weight = number(node.get("cover", 0.0), "cover", where)
            if "leaf" in node:
                return ForeignLeaf(as_float32(number(node["leaf"], "a leaf", where)), weight)
            return _split(node, place_of, where)

        trees.append(read_tree(root, describe, most_places=MOST_PLACES, where=where))
    names = list(place_of)
    if names and all(_COLUMN.fullmatch(one) for one in names):  # columns of a matrix, of which some may be unused
        columns = {one: int(one[1:]) for one in names}
        for tree in trees:
            for place, split in enumerate(tree.splits):
                tree.splits[place] = dataclasses.replace(split, feature=columns[names[split.feature]])
        names = [str(place) for place in range(1, max(columns.values()) + 2)]
    return ensemble(
        trees,
        names,
        name=name,
        source={
            "library": "XGBoost",
            "format": "dump",
            "scores": "the sum of the trees, without base_score, which a dump does not hold",
        },
    )


def _split(node: Mapping[str, Any], place_of: dict[str, int], where: str) -> ForeignSplit:
    where = f"{where}, node {node.get('nodeid')}"
    feature = member(node, "split", str, where)
    if "split_condition" not in node:
        raise ModelFileError(f"{where}: only splits by 'split_condition' are read")
    children = {}
    for child in member(node, "children", list, where):
        if not isinstance(child, Mapping) or not isinstance(child.get("nodeid"), int):
            raise ModelFileError(f"{where}: a child must be an object with a 'nodeid'")
        children[child["nodeid"]] = child
    yes, no, missing = (whole(node.get(key), key, where) for key in ("yes", "no", "missing"))
    if children.keys() != {yes, no} or len(node["children"]) != 2 or missing not in (yes, no):
        raise ModelFileError(f"{where}: 'yes', 'no' and 'missing' must name its two children")
    condition, words = node["split_condition"], None
    if isinstance(condition, list):  # what is listed goes to "yes", as everywhere
        words = set_of_codes(condition, where)
    return ForeignSplit(
        feature=place_of.setdefault(feature, len(place_of)),
        threshold=np.float32(0) if words is not None else below(number(condition, "split_condition", where), where),
        missing_left=missing == yes,
        left=children[yes],
        right=children[no],
        gain=number(node.get("gain", 0.0), "gain", where),
        words=words,
    )
