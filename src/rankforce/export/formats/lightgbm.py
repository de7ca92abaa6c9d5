"""LightGBM's model text: what ``lightgbm.Booster(model_file=...)`` reads, and Treelite.

Left if x <= threshold, in double; leaves summed in double, tree after tree: scores are those of the model, bit by bit.
Values up to 1e-35 are 0 to LightGBM; the check does not mind, or it would find fault with every threshold at 0.

A set of categories is words of bits. A missing category goes right whatever the file says, and a fraction is cut off.
"""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

import numpy as np

from rankforce.data.category_sets import categories_of, joined, words_of
from rankforce.errors import ModelFileError
from rankforce.export.emulation import EmulatedTree, EmulatedTrees, less_or_equal, truncated_codes
from rankforce.export.engines import Reader
from rankforce.export.format import Format, Prepared
from rankforce.export.forms import AdditiveTrees, Form, ScaledTree
from rankforce.export.lightgbm_trees import (
    OBJECTIVE,
    LightgbmTree,
    feature_ranges,
    pandas_lists,
    refused_name,
    set_codes,
    trees_with_start,
    with_lightgbms_sets,
    without_start,
)
from rankforce.export.thresholds import for_less_or_equal_in_double, written

CATEGORICAL = 1
DEFAULT_LEFT = 2
MISSING_IS_NAN = 8
_OF_NODES = ("split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child")
_OF_TREES = (
    *("num_leaves", "num_cat", *_OF_NODES, "leaf_value", "leaf_weight", "leaf_count"),
    *("internal_value", "internal_weight", "internal_count", "is_linear", "shrinkage"),
)
_WITH_SETS = (*_OF_TREES[:-2], "cat_boundaries", "cat_threshold", *_OF_TREES[-2:])


class Lightgbm(Format):
    NAME: ClassVar[str] = "lightgbm"
    TITLE: ClassVar[str] = "LightGBM's model text"
    SUFFIX: ClassVar[str] = ".txt"
    DOUBLE: ClassVar[bool] = True
    SETS: ClassVar[tuple[str, ...]] = ("lightgbm", "treelite")

    def suited(self, form: Form) -> tuple[Form, tuple[str, ...]]:
        return with_lightgbms_sets(form)

    def misreading(self, name: str, reader: Reader | None) -> str | None:
        return refused_name(name)

    def write(self, prepared: Prepared, suffix: str) -> bytes:
        assert isinstance(prepared.form, AdditiveTrees)
        trees = trees_with_start(prepared.form)
        texts = [f"Tree={number}\n{_text(tree, prepared)}\n\n" for number, tree in enumerate(trees)]
        ranges = feature_ranges(trees, prepared)
        infos = ["none" if ends is None else f"[{written(ends[0])}:{written(ends[1])}]" for ends in ranges]
        for place, codes in set_codes(trees, prepared).items():
            infos[place] = ":".join(map(str, [-1, *codes]))
        names = [re.sub(r"\s", "_", name) for name in prepared.features.names]  # those that are not used
        head = [
            "tree",
            "version=v4",
            "num_class=1",
            "num_tree_per_iteration=1",
            "label_index=0",
            f"max_feature_idx={len(names) - 1}",
            f"objective={OBJECTIVE}",
            f"feature_names={' '.join(names)}",
            f"feature_infos={' '.join(infos)}",
            f"tree_sizes={' '.join(str(len(text.encode())) for text in texts)}",
            "\n",
        ]
        lists = pandas_lists(prepared)
        declared = [place for place, listed in enumerate(prepared.categories) if listed is not None] if lists else []
        said = f"[categorical_feature: {','.join(map(str, declared))}]\n" if lists else ""
        named = json.dumps(lists) if lists else "null"
        tail = "end of trees\n\nfeature_importances:\n\nparameters:\n"
        tail = f"{tail}{said}\nend of parameters\n\npandas_categorical:{named}\n"
        return ("\n".join(head) + "".join(texts) + tail).encode()

    def read(self, written: bytes, prepared: Prepared, suffix: str) -> EmulatedTrees:
        assert isinstance(prepared.form, AdditiveTrees)
        head, _, rest = written.decode().partition("\n\n")
        header = dict(line.partition("=")[::2] for line in head.splitlines())
        names = header["feature_names"].split(" ")
        if not head.startswith("tree\n") or len(names) != int(header["max_feature_idx"]) + 1:
            raise ModelFileError("the text does not begin as LightGBM's does")
        body, end, _ = rest.partition("end of trees\n")
        sizes = [int(size) for size in header["tree_sizes"].split(" ")]
        if not end or sum(sizes) != len(body.encode()):
            raise ModelFileError("tree_sizes are not the sizes of the trees")
        columns = prepared.features.columns()
        trees, begin = [], 0
        for number, size in enumerate(sizes):
            trees.append(_parsed(body.encode()[begin : begin + size].decode(), number, names, columns))
            begin += size
        mine, start = without_start(trees, prepared.form)
        return EmulatedTrees(mine, less_or_equal, prepared.behaviour, np.float64, start, truncated_codes)


def _text(tree: ScaledTree, prepared: Prepared) -> str:
    stated = LightgbmTree.of(tree, prepared)
    asks_set = tree.asks_set
    decisions = MISSING_IS_NAN + DEFAULT_LEFT * tree.missing_left.astype(int) + CATEGORICAL * asks_set
    starts, words = joined([words_of(codes.tolist()) for codes in tree.listed if codes is not None])
    thresholds = for_less_or_equal_in_double(tree.threshold)
    thresholds[asks_set] = np.arange(asks_set.sum())
    fields: dict[str, Any] = {
        "num_leaves": tree.n_leaves,
        "num_cat": len(starts) - 1,
        "split_feature": stated.places,
        "split_gain": tree.gain,
        "threshold": thresholds,
        "decision_type": decisions,
        "left_child": tree.left,
        "right_child": tree.right,
        "leaf_value": tree.leaf_value,
        "leaf_weight": stated.leaf_count,
        "leaf_count": stated.leaf_count,
        "internal_value": stated.node_value,
        "internal_weight": stated.node_count,
        "internal_count": stated.node_count,
        **({"cat_boundaries": starts, "cat_threshold": words} if asks_set.any() else {}),
        "is_linear": 0,
        "shrinkage": 1,
    }
    return "".join(f"{name}={_values(value)}\n" for name, value in fields.items())


def _values(value: Any) -> str:
    return " ".join(map(repr, value.tolist())) if isinstance(value, np.ndarray) else str(value)


def _parsed(text: str, number: int, names: list[str], columns: dict[str, int]) -> EmulatedTree:
    first, *lines = text.strip("\n").split("\n")
    fields = dict(line.partition("=")[::2] for line in lines)
    if first != f"Tree={number}" or tuple(fields) != (_OF_TREES if fields.get("num_cat") == "0" else _WITH_SETS):
        raise ModelFileError(f"tree {number} is not written as LightGBM writes trees")
    leaves = int(fields["num_leaves"])
    columns_of = {name: [float(word) for word in fields[name].split()] for name in (*_OF_NODES, "leaf_value")}
    sizes = {name: len(values) for name, values in columns_of.items()}
    if sizes.pop("leaf_value") != leaves or set(sizes.values()) != {leaves - 1}:
        raise ModelFileError(f"tree {number} says that it has {leaves} leaves")
    starts = [int(word) for word in fields.get("cat_boundaries", "0").split()]
    words = np.array([int(word) for word in fields.get("cat_threshold", "").split()], dtype=np.uint32)
    if len(starts) != int(fields["num_cat"]) + 1 or starts[-1] != len(words):
        raise ModelFileError(f"tree {number}: the sets of categories do not fit each other")
    nodes, listed = [], []
    for place, threshold, decision, left, right in zip(
        *(columns_of[name] for name in ("split_feature", "threshold", "decision_type", "left_child", "right_child")),
        strict=True,
    ):
        if int(decision) & ~DEFAULT_LEFT & ~CATEGORICAL != MISSING_IS_NAN:
            raise ModelFileError(f"tree {number} has a decision of type {decision}")
        categorical = bool(int(decision) & CATEGORICAL)
        span = starts[int(threshold) : int(threshold) + 2] if categorical else []
        listed.append(categories_of(words[slice(*span)]) if categorical else None)
        if names[int(place)] not in columns:
            raise ModelFileError(f"there is no feature {names[int(place)]!r}")
        missing_left = bool(int(decision) & DEFAULT_LEFT) and not categorical
        nodes.append((columns[names[int(place)]], threshold, missing_left, int(left), int(right)))
    return EmulatedTree.of(nodes, columns_of["leaf_value"], np.float64, listed=listed)
