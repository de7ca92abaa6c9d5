"""LightGBM's text format (``save_model``, ``model_to_string``)."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import numpy as np

from rankforce.data.categories import Categories
from rankforce.errors import ModelFileError
from rankforce.importing.foreign_categories import checked_words, named_categories, pandas_features
from rankforce.importing.foreign_trees import (
    FlatTrees,
    ForeignLeaf,
    ForeignSplit,
    ForeignTree,
    ensemble,
    flat_ensemble,
    own_names,
    read_tree,
    whole,
)
from rankforce.importing.lightgbm_columns import compiled_columns, flat_trees, kernel, plain_columns
from rankforce.importing.lightgbm_splits import (
    CATEGORICAL,
    DEFAULT_LEFT,
    MISSING_SHIFT,
    LightGBMSetSplit,
    LightGBMSplit,
    Within,
)
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.models.tree_lines import worth_it

BEGIN = b"tree\nversion="
_COPIES = 64  # how many times larger a tree may become where zeros are missing values
_FROM_ZERO = re.compile(r"\[0:([0-9]{1,9})\]")  # of a numerical feature, 0 and its highest value, if that is whole
_DECLARED = re.compile(r"\n\[categorical_feature: ([0-9]{1,9}(?:,[0-9]{1,9})*)\]\n")


def read_lightgbm_text(data: bytes, name: str) -> TreeEnsemble:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ModelFileError(f"{name}: the LightGBM model is damaged: it is not text") from None
    if "\r" in text:  # seen at once, where looking for two characters takes as long as reading the numbers
        text = text.replace("\r\n", "\n")
    body, ended, after = text.partition("\nend of trees")
    if not ended:
        raise ModelFileError(f"{name}: the LightGBM model is truncated: it has no 'end of trees'; save it again")
    head, begun, rest = body.partition("\nTree=")
    count = rest.count("\nTree=") + bool(begun)
    header = _entries(head)
    sizes = header.get("tree_sizes", "").split()
    if "tree_sizes" in header and len(sizes) != count:
        raise ModelFileError(f"{name}: the LightGBM model is damaged: {len(sizes)} trees are announced, not {count}")
    refuse_outputs(
        {key: header.get(key, "1") for key in ("num_class", "num_tree_per_iteration")}, header.get("linear_tree"), name
    )
    features = whole(header.get("max_feature_idx"), "max_feature_idx", name) + 1
    names = header.get("feature_names", "").split(" ")
    if len(names) != features:
        raise ModelFileError(f"{name}: {len(names)} feature names for {features} features")
    trees: FlatTrees | list[ForeignTree] | None = _compiled_trees(data, count, features)
    if trees is None:
        blocks = rest.split("\nTree=") if begun else []
        trees = _simple_trees(blocks, features)
    if trees is None:
        trees = [_tree(block, features, f"{name}: tree {number}") for number, block in enumerate(blocks)]
    names = list(own_names(names, "Column_{}"))
    return lightgbm_ensemble(
        trees, names, name, "text", header.get("version", ""), header.get("objective", ""), "average_output" in header,
        _categories(header.get("feature_infos", ""), after, names, name),
    )  # fmt: skip


def lightgbm_ensemble(
    trees: FlatTrees | list[ForeignTree],
    names: list[str],
    name: str,
    form: str,
    version: str,
    objective: str,
    average: bool,
    categories: Categories,
) -> TreeEnsemble:
    """The model of LightGBM's trees: their sum, or in random forests their mean."""
    described: dict[str, Any] = {
        "name": name,
        "categories": categories,
        "source": {
            "library": "LightGBM",
            "format": form,
            "version": version,
            "objective": objective,
            "scores": "the mean of the trees" if average else "the sum of the trees, before any link function",
        },
    }
    if isinstance(trees, FlatTrees):
        return flat_ensemble(trees, names, scale=1.0 / max(1, len(trees.nodes)) if average else 1.0, **described)
    return ensemble(trees, names, scale=1.0 / max(1, len(trees)) if average else 1.0, **described)


def _categories(infos: str, rest: str, names: list[str], name: str) -> Categories:
    """The categories that pandas had, where the file says of which features they are.

    ``infos`` has for each feature its range, ``[0:1]``, or its categories, ``-1:3:2:0``; ``rest`` is what follows the
    trees, among it the features that were declared, and the lists.
    """
    found = {
        place: [whole(code, "feature_infos", name, least=-1) for code in info.split(":")]
        for place, info in enumerate(infos.split())
        if ":" in info and not info.startswith("[")
    }
    _, listed, line = rest.partition("\npandas_categorical:")
    if not listed:
        return {}
    try:
        lists = json.loads(line)
    except ValueError:
        raise ModelFileError(f"{name}: the lists of pandas categories are damaged") from None
    declared = _DECLARED.search(rest)
    places = [int(place) for place in declared[1].split(",")] if declared else None
    from_zero = [int(highest) for highest in _FROM_ZERO.findall(infos)]
    features = pandas_features(lists, places, found, from_zero, name)
    if features is None or max(features) >= len(names):
        return {}
    return named_categories(lists, [names[place] for place in features], name)


def refuse_outputs(counts: dict[str, Any], linear: Any, name: str) -> None:
    """Refuse models of several outputs, and those whose leaves are linear functions."""
    for key, value in counts.items():
        if whole(value, key, name) > 1:
            raise ModelFileError(f"{name}: the LightGBM model has several outputs ({key}={value}): ranking needs one")
    if linear not in (None, "0", 0, False):
        raise ModelFileError(f"{name}: the leaves of the LightGBM model are linear functions, which are not read")


def _entries(block: str) -> dict[str, str]:
    """The lines ``key=value`` of a block; a line without = is a key alone."""
    found: dict[str, str] = {}
    for line in block.split("\n"):
        key, _, value = line.strip().partition("=")
        found[key] = value
    return found


def _compiled_trees(data: bytes, count: int, features: int) -> FlatTrees | None:
    """All trees at once, by the kernel, unless one of them is special or wrong, or it is not worth it."""
    read = compiled_columns(data) if worth_it(len(data), kernel) else None
    return None if read is None or len(read[0]) != count else flat_trees(*read, features)


def _simple_trees(blocks: list[str], features: int) -> FlatTrees | None:
    """All trees at once, unless one of them is special or wrong."""
    read = plain_columns([_entries("number=" + block) for block in blocks])
    return None if read is None else flat_trees(*read, features)


def _tree(block: str, features: int, where: str) -> ForeignTree:
    entries = _entries("number=" + block)
    leaves = whole(entries.get("num_leaves"), "num_leaves", where, least=1)
    refuse_outputs({}, entries.get("is_linear"), where)
    sets = _sets(entries, where)
    values = _numbers(entries, "leaf_value", leaves, where)
    counts = _numbers(entries, "leaf_count", leaves, where) if entries.get("leaf_count") else np.zeros(leaves)
    inner = leaves - 1
    columns = {
        key: _numbers(entries, key, inner, where) if inner else np.empty(0)
        for key in ("split_feature", "threshold", "decision_type", "left_child", "right_child", "split_gain")
    }
    for key, least, most in (
        ("split_feature", 0, features - 1),
        ("decision_type", 0, 15),
        ("left_child", -leaves, inner - 1),
        ("right_child", -leaves, inner - 1),
    ):
        column = columns[key]
        if not ((column >= least) & (column <= most) & (column == np.floor(column))).all():
            raise ModelFileError(f"{where}: {key} must be whole numbers from {least} to {most}")
    splits = [_split(columns, sets, node, where) for node in range(inner)]
    copied = any(split.copies for split in splits)
    seen: set[int] = set()

    def describe(place: Any) -> ForeignLeaf | ForeignSplit:
        if isinstance(place, Within):
            return place.split.inside(place.stage)
        again = place in seen
        if again and not copied:
            raise ModelFileError(f"{where}: a node or leaf has two parents")
        seen.add(place)
        if place < 0:
            return ForeignLeaf(
                float(values[~place]), 0.0 if again else float(counts[~place]), None if again else ~place
            )
        return splits[place].as_ours()

    root = 0 if inner else -1
    tree = read_tree(root, describe, most_places=2 * leaves * (_COPIES if copied else 1), where=where)
    if len(seen) != inner + leaves:
        raise ModelFileError(f"{where}: {inner + leaves - len(seen)} nodes or leaves hang nowhere")
    return tree


def _sets(entries: dict[str, str], where: str) -> list[np.ndarray]:
    """The words of the sets of categories that nodes refer to."""
    count = whole(entries.get("num_cat", "0"), "num_cat", where)
    if not count:
        return []
    starts = _numbers(entries, "cat_boundaries", count + 1, where)
    words = _numbers(entries, "cat_threshold", None, where)
    for key, column, most in (("cat_boundaries", starts, len(words)), ("cat_threshold", words, 2**32 - 1)):
        if not ((column >= 0) & (column <= most) & (column == np.floor(column))).all():
            raise ModelFileError(f"{where}: {key} must be whole numbers from 0 to {most}")
    if starts[0] != 0 or starts[-1] != len(words) or (np.diff(starts) < 0).any():
        raise ModelFileError(f"{where}: cat_boundaries must begin with 0, not fall, and end with cat_threshold")
    edges = starts.astype(np.int64)
    return [words[first:last].astype(np.uint32) for first, last in itertools.pairwise(edges)]


def _split(
    columns: dict[str, np.ndarray], sets: list[np.ndarray], node: int, where: str
) -> LightGBMSplit | LightGBMSetSplit:
    kind = int(columns["decision_type"][node])
    where = f"{where}, node {node}"
    if kind & CATEGORICAL:
        number = columns["threshold"][node]
        if not (0 <= number < len(sets) and number == np.floor(number)):
            raise ModelFileError(f"{where}: there is no set of categories {number:g}")
        return LightGBMSetSplit(
            feature=int(columns["split_feature"][node]),
            words=checked_words(sets[int(number)], where),
            left=int(columns["left_child"][node]),
            right=int(columns["right_child"][node]),
            gain=float(columns["split_gain"][node]),
        )
    return LightGBMSplit(
        feature=int(columns["split_feature"][node]),
        threshold=float(columns["threshold"][node]),
        missing_type=kind >> MISSING_SHIFT,
        default_left=bool(kind & DEFAULT_LEFT),
        left=int(columns["left_child"][node]),
        right=int(columns["right_child"][node]),
        gain=float(columns["split_gain"][node]),
        where=where,
    )


def _numbers(entries: dict[str, str], key: str, count: int | None, where: str) -> np.ndarray:
    try:
        values = np.array(entries.get(key, "").split(), dtype=np.float64)
    except ValueError:
        raise ModelFileError(f"{where}: {key} holds something that is not a number") from None
    if count is not None and len(values) != count:
        raise ModelFileError(f"{where}: {key} has {len(values)} entries, not {count}")
    return values
