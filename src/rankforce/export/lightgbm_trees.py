"""Trees as LightGBM describes them: what its text and its JSON share."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.export.emulation import EmulatedTree
from rankforce.export.format import Prepared
from rankforce.export.forms import AdditiveTrees, Form, ScaledTree
from rankforce.export.missing_right import with_missing_categories_right
from rankforce.export.thresholds import written
from rankforce.export.tree_text import nested

OBJECTIVE = "lambdarank"  # scores as they are: others are transformed by those who read the file
MOST_LEVELS = 900  # of JSON, of which parsers in Java allow a thousand
MOST_DOCUMENTS = 2**31 - 1  # of a tree, and so of a node
_REFUSED = re.compile(r'[",:\[\]{}\s]')  # names stand in a line, with spaces between them
_NODE = {
    "split_index", "split_feature", "split_gain", "threshold", "decision_type", "default_left", "missing_type",
    "internal_value", "internal_weight", "internal_count", "left_child", "right_child",
}  # fmt: skip
_LEAF = {"leaf_index", "leaf_value", "leaf_weight", "leaf_count"}


@dataclasses.dataclass(frozen=True, eq=False)
class LightgbmTree:
    """A tree with what LightGBM keeps of its training: documents and means of nodes, at least one document a leaf."""

    tree: ScaledTree
    places: np.ndarray  # of the nodes' features in the engine
    leaf_count: np.ndarray
    node_count: np.ndarray
    node_value: np.ndarray

    @classmethod
    def of(cls, tree: ScaledTree, prepared: Prepared) -> LightgbmTree:
        counts = _counts(tree.leaf_documents)
        documents, means = dataclasses.replace(tree, leaf_documents=counts).node_documents()
        return cls(tree, prepared.features.places[tree.feature], counts, documents, means)


def _counts(documents: np.ndarray) -> np.ndarray:
    """Documents of leaves, at least 1 each; scaled down where LightGBM, which has 32 bits for them, could not add them.

    Trees of XGBoost count sums of curvature in small units. SHAP values need the shares only.
    """
    counts = np.maximum(documents, 1)
    total = float(counts.sum(dtype=np.float64))  # beyond 64 bits, too
    if total <= MOST_DOCUMENTS:
        return counts
    return np.maximum(counts * ((MOST_DOCUMENTS - len(counts)) / total), 1).astype(np.int64)


def trees_with_start(form: AdditiveTrees) -> tuple[ScaledTree, ...]:
    """The trees, after one of a single leaf if scores do not start from 0: sums are then those of the model."""
    return (ScaledTree.of_leaf(form.constant), *form.trees) if form.constant or not form.trees else form.trees


def without_start(trees: list[EmulatedTree], form: AdditiveTrees) -> tuple[tuple[EmulatedTree, ...], float]:
    """(the model's trees, what scores start from) of trees that were read back."""
    if len(trees) == len(form.trees) + 1:
        return tuple(trees[1:]), float(trees[0].value[0])
    return tuple(trees), 0.0


def with_lightgbms_sets(form: Form) -> tuple[Form, tuple[str, ...]]:
    """Trees whose sets of categories send missing ones right, as LightGBM does, and what to say of them."""
    if not isinstance(form, AdditiveTrees):
        return form, ()
    rebuilt = with_missing_categories_right(form)
    before, after = (sum(tree.n_leaves for tree in one.trees) for one in (form, rebuilt))
    if after == before:
        return rebuilt, ()
    said = f"LightGBM sends every missing category right: trees ask for them, with {after:,} leaves for {before:,}"
    return rebuilt, (said,)


def set_codes(trees: tuple[ScaledTree, ...], prepared: Prepared) -> dict[int, list[int]]:
    """The categories of each of the engine's features that is asked for sets: all that are known, or those in sets."""
    found: dict[int, set[int]] = {}
    for tree in trees:
        for node, codes in enumerate(tree.listed):
            if codes is not None:
                place = int(prepared.features.places[tree.feature[node]])
                found.setdefault(place, set(range(len(prepared.categories[place] or ())))).update(codes.tolist())
    return {place: sorted(codes) for place, codes in found.items()}


def _categorical_codes(trees: tuple[ScaledTree, ...], prepared: Prepared) -> dict[int, list[int]]:
    """As ``set_codes``, with the features whose categories are known but that no tree asks for.

    Readers tell by these which features the lists of pandas categories belong to.
    """
    known = {place: list(range(len(listed))) for place, listed in enumerate(prepared.categories) if listed}
    return known | set_codes(trees, prepared)


def pandas_lists(prepared: Prepared) -> list[list[Any]]:
    """The names of categories for frames of pandas; none unless all of them are known."""
    lists = [list(listed) for listed in prepared.categories if listed is not None]
    return lists if all(lists) else []


def refused_name(name: str) -> str | None:
    """Why LightGBM does not take a name."""
    return 'LightGBM takes no names with white space or one of ",:[]{}' if _REFUSED.search(name) else None


def feature_ranges(trees: tuple[ScaledTree, ...], prepared: Prepared) -> list[tuple[float, float] | None]:
    """The lowest and the highest threshold of each feature of the engine; None where there is no split."""
    ranges: list[tuple[float, float] | None] = [None] * len(prepared.features.names)
    for tree in trees:
        for place, threshold in zip(
            prepared.features.places[tree.feature].tolist(), tree.threshold.tolist(), strict=True
        ):
            low, high = ranges[place] or (threshold, threshold)
            ranges[place] = (min(low, threshold), max(high, threshold))
    return ranges


def json_document(prepared: Prepared, thresholds: Any) -> bytes:
    """``Booster.dump_model()``; ``thresholds`` makes of a tree's float32 thresholds what is written."""
    form = prepared.form
    assert isinstance(form, AdditiveTrees)
    trees = trees_with_start(form)
    names = prepared.features.names
    head = {
        "name": "tree",
        "version": "v4",
        "num_class": 1,
        "num_tree_per_iteration": 1,
        "label_index": 0,
        "max_feature_idx": len(names) - 1,
        "objective": OBJECTIVE,
        "average_output": False,
        "feature_names": list(names),
        "monotone_constraints": [],
        "feature_infos": {
            name: {"min_value": ends[0], "max_value": ends[1], "values": []}
            for name, ends in zip(names, feature_ranges(trees, prepared), strict=True)
            if ends is not None
        }
        | {
            names[place]: {"min_value": -1, "max_value": codes[-1], "values": [-1, *codes]}
            for place, codes in _categorical_codes(trees, prepared).items()
        },
    }
    opening = json.dumps(head, ensure_ascii=False, allow_nan=False)[:-1]
    infos = ",\n".join(
        f'{{"tree_index":{number},"num_leaves":{tree.n_leaves},"num_cat":{int(tree.asks_set.sum())},'
        f'"shrinkage":1,"tree_structure":'
        f"{_structure(LightgbmTree.of(tree, prepared), thresholds(tree.threshold))}}}"
        for number, tree in enumerate(trees)
    )
    lists = json.dumps(pandas_lists(prepared), ensure_ascii=False)
    return f'{opening},\n"tree_info":[\n{infos}\n],"feature_importances":{{}},"pandas_categorical":{lists}}}\n'.encode()


def _structure(stated: LightgbmTree, thresholds: np.ndarray) -> str:
    tree = stated.tree

    def node(number: int, depth: int) -> tuple[str, str, str]:
        codes = tree.codes(number)
        asked = f'{written(thresholds[number])},"decision_type":"<="'
        if codes is not None:
            asked = f'"{"||".join(map(str, codes.tolist()))}","decision_type":"=="'
        return (
            f'{{"split_index":{number},"split_feature":{stated.places[number]},'
            f'"split_gain":{written(tree.gain[number])},"threshold":{asked},'
            f'"default_left":{"true" if tree.missing_left[number] else "false"},"missing_type":"NaN",'
            f'"internal_value":{written(stated.node_value[number])},"internal_weight":{stated.node_count[number]},'
            f'"internal_count":{stated.node_count[number]},"left_child":',
            ',"right_child":',
            "}",
        )

    def leaf(number: int, depth: int) -> str:
        return (
            f'{{"leaf_index":{number},"leaf_value":{written(tree.leaf_value[number])},'
            f'"leaf_weight":{stated.leaf_count[number]},"leaf_count":{stated.leaf_count[number]}}}'
        )

    return nested(tree, node, leaf)


def read_document(document: Any, columns: dict[str, int], dtype: type[np.floating]) -> list[EmulatedTree]:
    """The trees of a dump, strictly."""
    if document["objective"] != OBJECTIVE or not isinstance(document["pandas_categorical"], list):
        raise ModelFileError("the file is no dump of LightGBM for ranking")
    names = document["feature_names"]
    if document["max_feature_idx"] != len(names) - 1:
        raise ModelFileError("max_feature_idx is not the number of features less 1")
    return [_parsed(tree, names, columns, dtype) for tree in document["tree_info"]]


def _parsed(info: Any, names: list[str], columns: dict[str, int], dtype: type[np.floating]) -> EmulatedTree:
    nodes: list[list[Any]] = []
    listed: list[np.ndarray | None] = []
    values: list[float] = []
    waiting: list[tuple[Any, int, int]] = [(info["tree_structure"], -1, 0)]
    while waiting:
        entry, parent, side = waiting.pop()
        if entry.keys() == _LEAF:
            number = ~len(values)
            values.append(float(entry["leaf_value"]))
        elif entry.keys() == _NODE and entry["decision_type"] in ("<=", "==") and entry["missing_type"] == "NaN":
            name = names[entry["split_feature"]]
            if name not in columns:
                raise ModelFileError(f"there is no feature {name!r}")
            number = len(nodes)
            categorical = entry["decision_type"] == "=="
            if categorical != isinstance(entry["threshold"], str):
                raise ModelFileError(
                    f"a threshold cannot be {entry['threshold']!r} where {entry['decision_type']} is asked"
                )
            codes = [int(code) for code in entry["threshold"].split("||")] if categorical else None
            listed.append(None if codes is None else np.array(codes))
            missing_left = entry["default_left"] is True and not categorical
            nodes.append([columns[name], 0.0 if categorical else float(entry["threshold"]), missing_left, 0, 0])
            waiting += [(entry["right_child"], number, 4), (entry["left_child"], number, 3)]
        else:
            raise ModelFileError(f"neither a node nor a leaf: {', '.join(sorted(entry))}")
        if parent >= 0:
            nodes[parent][side] = number
    if len(values) != info["num_leaves"]:
        raise ModelFileError(f"tree {info['tree_index']} has {len(values)} leaves, and says {info['num_leaves']}")
    with np.errstate(over="ignore"):  # the largest double is infinite in float32: everything goes left
        return EmulatedTree.of([tuple(node) for node in nodes], values, dtype, listed=listed)
